//! Requests that no route sees: a body that is too long, and what a page of another origin makes a browser send. The library
//! answers them with a text or with nothing; here they get the form of all refusals.

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tower_http::csrf::ProtectionError;

use crate::api::{Problem, is_api};
use crate::app::App;
use crate::cloud::Rest;
use crate::pages;
use crate::text::Language;
use crate::theme::Theme;

/// The mark of an answer to a request of another origin.
#[derive(Debug, Clone, Copy)]
struct ForeignOrigin;

/// The answer of the layer that compares origins.
pub(crate) fn foreign_origin(_why: ProtectionError) -> Response {
    (StatusCode::FORBIDDEN, Extension(ForeignOrigin)).into_response()
}

fn problem_of(response: &Response) -> Option<Problem> {
    let is_text =
        || response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/plain"));
    match response.status() {
        StatusCode::FORBIDDEN if response.extensions().get::<ForeignOrigin>().is_some() => {
            Some(Problem::foreign_origin())
        }
        // Routes of the API say it themselves.
        StatusCode::PAYLOAD_TOO_LARGE if is_text() => Some(Problem::too_large()),
        _ => None,
    }
}

pub(crate) async fn in_own_form(State(app): State<App>, request: Request, next: Next) -> Response {
    let (is_api, is_of_scheduler) = (is_api(request.uri().path()), Rest::has(&app, &request));
    let (language, theme) =
        (Language::of_request(request.headers(), app.options.language), Theme::of_request(request.headers()));
    let response = next.run(request).await;
    match problem_of(&response) {
        None => response,
        // Its routes have a router of their own.
        Some(_) if is_api && is_of_scheduler => Rest::no_such_route(),
        Some(problem) if is_api => problem.into_response(),
        Some(problem) => pages::error::turned_away(&app, language, theme, &problem),
    }
}
