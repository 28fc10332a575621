//! The pages, one file each. They work without script.

pub(crate) mod error;
pub(crate) mod jobs;
mod layout;
pub(crate) mod login;
pub(crate) mod start;

use askama::Template;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};

use crate::access::{Permission, Role};
use crate::routes::Routes;

pub(crate) use layout::Layout;

/// Adds the routes of the pages.
pub(crate) fn declare(routes: Routes) -> Routes {
    let viewer = Permission::Has(Role::Viewer);
    routes
        .get("/login", Permission::Public, login::show)
        .post("/login", Permission::Public, login::log_in)
        .post("/logout", Permission::Public, login::log_out)
        .post("/language", Permission::Public, login::choose_language)
        .get("/", Permission::Known, start::show)
        .get("/r/{registry}/jobs", viewer, jobs::show)
}

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
