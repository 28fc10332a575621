//! The answer to a scrape.

use axum::http::HeaderMap;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

use crate::classic::classic;

/// The content type of [`text`](crate::text).
pub const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The content type of the older format.
const CLASSIC: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The answer with a page: in the format of OpenMetrics, and in the older one of Prometheus where the client that sent these
/// headers accepts `text/plain` only.
pub fn answer(headers: &HeaderMap, text: String) -> Response {
    match wants_classic(headers) {
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
