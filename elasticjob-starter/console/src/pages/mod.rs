//! The pages, one file each. They work without script.

pub(crate) mod error;
pub(crate) mod jobs;
mod layout;
pub(crate) mod login;
pub(crate) mod start;

use askama::Template;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};

pub(crate) use layout::Layout;

/// The answer with a page.
pub(crate) fn page(template: &impl Template) -> Response {
    with_status(StatusCode::OK, template)
}

/// The answer with a page and a status.
pub(crate) fn with_status(status: StatusCode, template: &impl Template) -> Response {
    match template.render() {
        Ok(text) => (status, Html(text)).into_response(),
        Err(error) => {
            tracing::error!("a page of the console cannot be written: {error}");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}
