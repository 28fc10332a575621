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
use super::named::{Names, OfJob};
use super::openapi;
use crate::service::configuration::{ChangeView, changed, put_back, record_refusal};
use crate::service::time::Time;
use crate::service::versions::{self, Changed};

/// The settings of a job.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Settings {
    job: String,
    /// As in settings files, with secrets masked.
    #[schema(schema_with = openapi::settings_of_job)]
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
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(crate) struct How {
    /// Say what would be changed, and write nothing.
    dry_run: bool,
    /// For the decision log.
    reason: String,
}

type Change = Body<Map<String, Value>>;

/// Replace all settings; needs If-Match with the ETag of the version that is changed
#[utoipa::path(put, path = "/api/v1/registries/{registry}/jobs/{job}/configuration", tag = "configuration",
    params(How), request_body(content = ref("#/components/schemas/JobSettings")), responses((status = 200, body = ChangeView), (status = "default", body = Problem)))]
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
    params(How), request_body(content = ref("#/components/schemas/JobSettings")), responses((status = 200, body = ChangeView), (status = "default", body = Problem)))]
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
    let (version, change) = updated(&of, headers, how, change, is_patch).await?;
    Ok(with_etag(version, Json(change)))
}

/// Makes a change, or says what it would do. Returns the version that follows.
async fn updated(
    of: &OfJob,
    headers: &HeaderMap,
    how: How,
    change: Map<String, Value>,
    is_patch: bool,
) -> Result<(i32, ChangeView), Problem> {
    let operations = of.here.operations(checked(&how.reason)?);
    let stored = operations.configuration(&of.job).await?;
    if let Err(refused) = is_of_version(headers, &stored) {
        if !how.dry_run {
            record_refusal(&operations, &stored, refused.detail());
        }
        return Err(refused);
    }
    let settings = changed(&stored, change, is_patch).inspect_err(|wrong| {
        if !how.dry_run {
            record_refusal(&operations, &stored, &wrong.message());
        }
    })?;
    let checked = match how.dry_run {
        true => operations.try_configuration(&stored, &settings).await,
        false => operations.check_configuration(&stored, &settings),
    };
    let snapshot = of.here.views().snapshot(&of.job).await?;
    if !how.dry_run {
        // It records what it does, and what it refuses.
        operations.update_configuration(&stored, &settings).await?;
    }
    let (after, difference) = checked?;
    if !how.dry_run && after != stored.configuration {
        versions::note_change(&of.here, &of.job, &stored, how.reason.trim()).await;
    }
    let is_written = !how.dry_run && after != stored.configuration;
    let version = stored.version() + i32::from(is_written);
    Ok((version, ChangeView::of(&snapshot, &stored.configuration, &after, difference)))
}

/// A change of a configuration.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VersionView {
    /// Names the version below `versions/`; `null` where only the decision log tells of the change.
    id: Option<i64>,
    /// The version of the node in the registry center.
    version: Option<i32>,
    #[schema(value_type = String, format = DateTime)]
    time: Time,
    /// The operator that changed it; `null` where it was changed outside of this console, and no decision log names the operator.
    actor: Option<String>,
    reason: String,
    /// The differences from the version before, with secrets masked; `null` for the first version that is known.
    changes: Option<Vec<String>>,
    /// The settings of the version, with secrets masked.
    #[schema(value_type = Option<Object>)]
    settings: Option<Map<String, Value>>,
}

impl From<Changed> for VersionView {
    fn from(it: Changed) -> Self {
        let (id, version) = (it.version.as_ref().map(|it| it.id), it.version.as_ref().map(|it| it.number));
        let actor = Some(it.actor).filter(|actor| !actor.is_empty());
        let settings = it.version.map(|version| version.settings);
        Self { id, version, time: Time(it.at), actor, reason: it.reason, changes: it.changes, settings }
    }
}

/// The changes of the configuration of a job, the last one first
///
/// The versions that the console saw, and the changes that the decision log tells of; at most 200 of each.
#[utoipa::path(get, path = "/api/v1/registries/{registry}/jobs/{job}/configuration/versions", tag = "configuration",
    responses((status = 200, body = Vec<VersionView>), (status = "default", body = Problem)))]
pub(crate) async fn history(of: OfJob) -> Result<Json<Vec<VersionView>>, Problem> {
    let history = versions::history(&of.here, &of.job).await?;
    Ok(Json(history.into_iter().map(VersionView::from).collect()))
}

/// One version of the configuration of a job, with the change that made it
#[utoipa::path(get, path = "/api/v1/registries/{registry}/jobs/{job}/configuration/versions/{version}", tag = "configuration",
    responses((status = 200, body = VersionView), (status = "default", body = Problem)))]
pub(crate) async fn version(
    of: OfJob,
    Names(VersionId { version }): Names<VersionId>,
) -> Result<Json<VersionView>, Problem> {
    let history = versions::history(&of.here, &of.job).await?;
    let is_that = |changed: &Changed| changed.version.as_ref().is_some_and(|it| it.id == version);
    let found = history.into_iter().find(is_that).ok_or_else(|| Problem::no_such_version(&of.job, version))?;
    Ok(Json(VersionView::from(found)))
}

#[derive(Deserialize)]
pub(crate) struct VersionId {
    version: i64,
}

/// What putting a version back does.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PutBack {
    #[serde(flatten)]
    change: ChangeView,
    /// Settings that stay as they are stored, as their secrets were not kept.
    stays: Vec<String>,
}

/// Put an old version of the configuration back; needs If-Match with the ETag of the version that is replaced
///
/// All of its settings but those with a secret, which stay as they are.
#[utoipa::path(post, path = "/api/v1/registries/{registry}/jobs/{job}/configuration/versions/{version}/restorations",
    tag = "configuration", params(How), responses((status = 200, body = PutBack), (status = "default", body = Problem)))]
pub(crate) async fn restore(
    of: OfJob,
    Names(VersionId { version }): Names<VersionId>,
    headers: HeaderMap,
    query: Result<Query<How>, QueryRejection>,
) -> Result<Response, Problem> {
    let how = parameters(query)?;
    let operations = of.here.operations(checked(&how.reason)?);
    let stored = operations.configuration(&of.job).await?;
    let version = versions::version(&of.here, &of.job, version).await;
    let change = version.and_then(|version| Ok(put_back(&stored, &version.settings)?));
    let (change, stays) = change.inspect_err(|why| {
        // Where versions cannot be read, nothing was refused.
        if !how.dry_run && why.status().is_client_error() {
            record_refusal(&operations, &stored, why.detail());
        }
    })?;
    let (version, change) = updated(&of, &headers, how, change, true).await?;
    Ok(with_etag(version, Json(PutBack { change, stays })))
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
