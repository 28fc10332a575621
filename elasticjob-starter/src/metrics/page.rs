//! Serves the metrics.

use axum::Router;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use super::classic::classic;
use super::{Metrics, OPENMETRICS};

/// The content type of the older format.
const CLASSIC: &str = "text/plain; version=0.0.4; charset=utf-8";

pub(super) fn router(metrics: Metrics) -> Router {
    Router::new().route("/metrics", get(metrics_page)).with_state(metrics)
}

async fn metrics_page(State(metrics): State<Metrics>, headers: HeaderMap) -> Response {
    let text = metrics.text();
    match wants_classic(&headers) {
        true => ([(CONTENT_TYPE, CLASSIC)], classic(&text)).into_response(),
        false => ([(CONTENT_TYPE, OPENMETRICS)], text).into_response(),
    }
}

/// Whether the client names the older format and not OpenMetrics.
fn wants_classic(headers: &HeaderMap) -> bool {
    let accepts = |kind: &str| {
        let mut all = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
        all.any(|value| value.contains(kind))
    };
    accepts("text/plain") && !accepts("application/openmetrics-text")
}
