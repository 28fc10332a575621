//! The body of a request, as JSON. What is wrong with it is a problem like all others.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::ToSchema;

use super::Problem;
use crate::access::{LONGEST_REASON, given};
use crate::app::App;
use crate::texts;

/// A body of JSON. An empty one has the defaults.
#[derive(Debug, Clone)]
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<App> for Body<T> {
    type Rejection = Response;

    async fn from_request(request: Request, app: &App) -> Result<Self, Response> {
        let (_, bytes) = read(request, app).await.map_err(IntoResponse::into_response)?;
        parsed(&bytes).map(Self).map_err(IntoResponse::into_response)
    }
}

/// A body of JSON. An empty one is an object without members.
pub(crate) fn parsed<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    let text: &[u8] = if body.iter().all(u8::is_ascii_whitespace) { b"{}" } else { body };
    serde_json::from_slice(text)
        .map_err(|wrong| Problem::bad_request(format!("the body is not the JSON that is expected: {wrong}")))
}

/// The whole body of a request, with the rest of the request.
pub(crate) async fn read(request: Request, app: &App) -> Result<(Parts, Bytes), Problem> {
    let (parts, body) = request.into_parts();
    let bytes = Bytes::from_request(Request::from_parts(parts.clone(), body), app).await;
    let bytes = bytes.map_err(|refused| match refused.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Problem::too_large(),
        _ => Problem::bad_request(refused.body_text()),
    })?;
    Ok((parts, bytes))
}

/// The most jobs of one bulk operation.
const MOST_JOBS: usize = 200;

/// Why something is done.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Reason {
    /// For the decision log.
    pub(crate) reason: String,
}

/// Whether jobs, servers or an item may run.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    pub(crate) enabled: bool,
    /// For the decision log.
    #[serde(default)]
    pub(crate) reason: String,
}

/// One action on many jobs.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bulk {
    pub(crate) action: BulkAction,
    /// At most 200.
    pub(crate) jobs: Vec<String>,
    /// For the decision log.
    #[serde(default)]
    pub(crate) reason: String,
}

/// What can be done to many jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum BulkAction {
    Trigger,
    Enable,
    Disable,
}

/// The reason, where it is short enough; empty for none.
pub(crate) fn checked(reason: &str) -> Result<&str, Problem> {
    match reason.chars().count() {
        0..=LONGEST_REASON => Ok(given(reason)),
        count => Err(Problem::bad_request(texts::reason_too_long(count, LONGEST_REASON))),
    }
}

/// Whether so many jobs may be in one bulk operation.
pub(crate) fn checked_count(jobs: usize) -> Result<(), Problem> {
    match jobs > MOST_JOBS {
        true => Err(Problem::bad_request(texts::too_many_jobs(jobs, MOST_JOBS))),
        false => Ok(()),
    }
}
