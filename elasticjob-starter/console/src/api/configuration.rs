//! The configuration of a job. A change names the version that it is a change of, so that none is lost.

use axum::Json;
use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::http::header::{ETAG, IF_MATCH};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use elasticjob::operations::StoredConfiguration;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

use super::Problem;
use super::body::{Body, checked};
use super::jobs::parameters;
use super::named::OfJob;
use crate::service::configuration::{ChangeView, changed};

/// The settings of a job.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Settings {
    job: String,
    /// As in settings files, with secrets masked.
    #[schema(value_type = Object)]
    settings: Value,
    /// Parts of the stored text that have no effect.
    ignored: Vec<String>,
}

fn etag(version: i32) -> Option<HeaderValue> {
    HeaderValue::from_str(&format!("\"{version}\"")).ok()
}

fn with_etag(version: i32, body: impl IntoResponse) -> Response {
    let mut response = body.into_response();
    if let Some(etag) = etag(version) {
        response.headers_mut().insert(ETAG, etag);
    }
    response
}

/// The configuration of a job; its version is the ETag
#[utoipa::path(get, path = "/api/v1/registries/{registry}/jobs/{job}/configuration", tag = "configuration",
    responses((status = 200, body = Settings), (status = "default", body = Problem)))]
pub(crate) async fn get(of: OfJob) -> Result<Response, Problem> {
    let stored = of.here.views().configuration(&of.job).await?;
    let settings = serde_json::to_value(stored.masked_settings()).unwrap_or_default();
    let ignored = stored.ignored.iter().map(ToString::to_string).collect();
    Ok(with_etag(stored.version(), Json(Settings { job: of.job.to_string(), settings, ignored })))
}

/// How a configuration is changed.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
#[into_params(rename_all = "camelCase")]
pub(crate) struct How {
    /// Say what would be changed, and write nothing.
    dry_run: bool,
    /// For the decision log; at most 200 characters.
    reason: String,
}

type Change = Body<Map<String, Value>>;

/// Replace all settings; needs If-Match with the ETag of the version that is changed
#[utoipa::path(put, path = "/api/v1/registries/{registry}/jobs/{job}/configuration", tag = "configuration",
    params(How), request_body = Object, responses((status = 200, body = ChangeView), (status = "default", body = Problem)))]
pub(crate) async fn put(
    of: OfJob,
    headers: HeaderMap,
    query: Result<Query<How>, QueryRejection>,
    Body(change): Change,
) -> Result<Response, Problem> {
    update(of, &headers, parameters(query)?, change, false).await
}

/// Change some settings (a JSON merge patch); needs If-Match with the ETag of the version that is changed
#[utoipa::path(patch, path = "/api/v1/registries/{registry}/jobs/{job}/configuration", tag = "configuration",
    params(How), request_body = Object, responses((status = 200, body = ChangeView), (status = "default", body = Problem)))]
pub(crate) async fn patch(
    of: OfJob,
    headers: HeaderMap,
    query: Result<Query<How>, QueryRejection>,
    Body(change): Change,
) -> Result<Response, Problem> {
    update(of, &headers, parameters(query)?, change, true).await
}

async fn update(
    of: OfJob,
    headers: &HeaderMap,
    how: How,
    change: Map<String, Value>,
    is_patch: bool,
) -> Result<Response, Problem> {
    let operations = of.here.operations(checked(&how.reason)?);
    let stored = operations.configuration(&of.job).await?;
    is_of_version(headers, &stored)?;
    let settings = changed(&stored, change, is_patch)?;
    let checked = operations.check_configuration(&stored, &settings);
    if !how.dry_run {
        // It records what it does, and what it refuses.
        operations.update_configuration(&stored, &settings).await?;
    }
    let (after, difference) = checked?;
    let is_written = !how.dry_run && after != stored.configuration;
    let version = stored.version() + i32::from(is_written);
    Ok(with_etag(version, Json(ChangeView::of(&stored.configuration, &after, difference))))
}

fn is_of_version(headers: &HeaderMap, stored: &StoredConfiguration) -> Result<(), Problem> {
    let Some(expected) = headers.get(IF_MATCH) else { return Err(Problem::no_version()) };
    match etag(stored.version()).as_ref() == Some(expected) || expected.as_bytes() == b"*" {
        true => Ok(()),
        false => Err(elasticjob::operations::OperationError::ChangedMeanwhile {
            job: stored.configuration.job_name().clone(),
        }
        .into()),
    }
}
