//! Metrics of the jobs of a program, for Prometheus: see `docs/guide/metrics.md`.

mod job;
mod observed_center;
mod series;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

pub(crate) use observed_center::ObservedCenter;
pub(crate) use series::Series;

/// The version of [`Router`] is that of this crate.
pub use axum;

/// The content type of [`Metrics::text`].
pub use elasticjob_openmetrics::OPENMETRICS;

use axum::Router;
use axum::http::HeaderMap;
use axum::routing::get;

/// The metrics of the jobs of an application on this instance. Cheap to clone: clones show the same.
///
/// Give it to [`ElasticJobAppBuilder::metrics`](crate::ElasticJobAppBuilder::metrics) to serve it with pages of your own.
/// For a port of its own the setting `elasticjob.metrics.port` is enough.
///
/// ```no_run
/// use elasticjob_starter::metrics::{Metrics, axum};
/// use elasticjob_starter::prelude::*;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let metrics = Metrics::new();
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
/// let pages = axum::Router::new().merge(metrics.router());
/// tokio::spawn(async move { axum::serve(listener, pages).await });
/// ElasticJobApp::builder().metrics(metrics).run().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Metrics(Arc<RwLock<Arc<Series>>>);

impl Metrics {
    /// Metrics of an application that is not started yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The metrics as they are now, in the text format of OpenMetrics.
    pub fn text(&self) -> String {
        let series = self.series();
        elasticjob_openmetrics::text(move |page| series.write(page))
    }

    /// A router that serves `/metrics`: in the format of OpenMetrics, and in the older one of Prometheus where the client
    /// accepts `text/plain` only. It asks for no password.
    pub fn router(&self) -> Router {
        let metrics = self.clone();
        let page = async move |headers: HeaderMap| elasticjob_openmetrics::answer(&headers, metrics.text());
        Router::new().route("/metrics", get(page))
    }

    /// Shows these series from now on.
    pub(crate) fn show(&self, series: Arc<Series>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = series;
    }

    fn series(&self) -> Arc<Series> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

/// The content of a mutex: a panic leaves no number half written.
fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
