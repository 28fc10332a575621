//! Metrics where they are compiled in.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use elasticjob::__private::log::{apart, info};
use elasticjob::ident::JobName;
use elasticjob::registry::RegistryCenter;
use elasticjob::runtime::{JobEnvironment, JobStatus};
use elasticjob::trace::Tracing;
use elasticjob_ports::Port;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::AppError;
use crate::app::ElasticJobAppBuilder;
use crate::metrics::{Metrics, ObservedCenter, Series};
use crate::plan::Plan;
use crate::settings::{DEFAULT, MetricsSettings, SettingError};

/// Counts what the jobs of an application do.
pub(in super::super) struct Counting {
    metrics: Metrics,
    series: Arc<Series>,
}

/// A port that serves metrics.
pub(in super::super) struct MetricsPort {
    address: SocketAddr,
    end: CancellationToken,
    served: JoinHandle<()>,
}

impl MetricsPort {
    pub(in super::super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(in super::super) async fn close(self) {
        self.end.cancel();
        // A task that panicked has ended, too.
        let _ = self.served.await;
    }
}

pub(in super::super) fn problems(_: &MetricsSettings) -> Vec<SettingError> {
    Vec::new()
}

/// Begins to count where the program asks for metrics, or a port is set.
pub(in super::super) fn begin(
    builder: &ElasticJobAppBuilder,
    settings: &MetricsSettings,
    plan: &Plan,
) -> Option<Counting> {
    let metrics = builder.metrics.clone().or_else(|| settings.port.map(|_| Metrics::new()))?;
    let jobs = plan.jobs.iter();
    let named = jobs.map(|job| (job.configuration.job_name(), job.registry_center.as_deref().unwrap_or(DEFAULT)));
    let series = Arc::new(Series::of(named, settings.max_jobs));
    metrics.show(Arc::clone(&series));
    Some(Counting { metrics, series })
}

impl Counting {
    /// The environment for jobs that are counted.
    pub(in super::super) fn observing(&self, environment: JobEnvironment) -> JobEnvironment {
        environment.with_observer(self.series.clone())
    }

    /// A registry center whose requests are counted.
    pub(in super::super) fn center(&self, name: &str, center: Arc<dyn RegistryCenter>) -> Arc<dyn RegistryCenter> {
        let (center, series) = ObservedCenter::new(name, center);
        self.series.registry(series);
        Arc::new(center)
    }

    pub(in super::super) fn follow(
        &self,
        jobs: impl Iterator<Item = (JobName, watch::Receiver<JobStatus>)>,
        tracings: &BTreeMap<String, Tracing>,
    ) {
        jobs.for_each(|(job, status)| self.series.follow(&job, status));
        tracings.iter().for_each(|(name, tracing)| self.series.tracing(name, tracing.clone()));
    }

    /// Opens the port where one is set.
    ///
    /// # Errors
    /// [`AppError::Metrics`] when the operating system refuses address or port.
    pub(in super::super) async fn open(&self, settings: &MetricsSettings) -> Result<Option<MetricsPort>, AppError> {
        let Some(port) = settings.port else { return Ok(None) };
        let wanted = SocketAddr::new(settings.address, port);
        let refused = |error| AppError::Metrics {
            origin: settings.origin.clone(),
            reason: format!(
                "cannot listen at {wanted}: {error}; another program may have it, or another copy of this one: set another \
                 port, or 0 for any that is free, for example with ELASTICJOB_METRICS_PORT=0"
            ),
        };
        let port = Port::listen(wanted, "the metrics port").await.map_err(refused)?;
        let address = port.address().map_err(refused)?;
        apart(move || info!("metrics are at http://{address}/metrics"));
        let end = CancellationToken::new();
        let ended = end.clone();
        let router = self.metrics.router();
        let served = tokio::spawn(async move {
            // A scraper that keeps its connection open must not keep the program from its end.
            ended.run_until_cancelled_owned(port.serve(router, std::future::pending())).await;
        });
        Ok(Some(MetricsPort { address, end, served }))
    }
}
