//! `/registries/{registry}/executions`, `/states` and `/decisions`.

use axum::Json;
use axum::http::header::ACCEPT;
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};
use chrono::DateTime;
use elasticjob::schedule::TimeZone;
use elasticjob::trace::{DecisionRecord, ExecutionRecord, StateRecord};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::Problem;
use super::named::Names;
use crate::here::Here;
use crate::service::audit::ActionRecord;
use crate::service::history::{Found, HistoryQuery, ParametersOf, Traced, asked, execution_of, find};
use crate::service::time::Time;
use crate::service::{history_file, now};

/// A page of records.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RecordPage<R> {
    records: Vec<R>,
    /// The cursor of the next page; a page that has one may have fewer records than were asked for, and even none.
    next: Option<String>,
}

/// The run of an item.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Execution {
    id: String,
    job: String,
    item: u32,
    instance: Option<String>,
    ip: String,
    hostname: String,
    source: String,
    #[schema(value_type = Option<String>, format = DateTime)]
    scheduled_at: Option<Time>,
    #[schema(value_type = String, format = DateTime)]
    start_time: Time,
    #[schema(value_type = Option<String>, format = DateTime)]
    complete_time: Option<Time>,
    duration_ms: Option<i64>,
    outcome: &'static str,
    failure_cause: Option<String>,
    run_id: Option<String>,
    attempt: Option<String>,
    task_id: String,
}

/// A change of state of a run.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct State {
    id: String,
    job: String,
    #[schema(value_type = String, format = DateTime)]
    time: Time,
    state: String,
    items: String,
    execution_type: String,
    instance: Option<String>,
    ip: String,
    message: String,
    #[schema(value_type = Option<String>, format = DateTime)]
    scheduled_at: Option<Time>,
    run_id: Option<String>,
    attempt: Option<String>,
    task_id: String,
}

/// A decision, or an action of an operator.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Decision {
    id: String,
    job: String,
    #[schema(value_type = String, format = DateTime)]
    time: Time,
    kind: String,
    items: Vec<u32>,
    #[schema(value_type = Option<String>, format = DateTime)]
    scheduled_at: Option<Time>,
    #[schema(value_type = Option<String>, format = DateTime)]
    scheduled_until: Option<Time>,
    instance: Option<String>,
    related_instance: Option<String>,
    reason: String,
    detail: Map<String, Value>,
}

impl From<ExecutionRecord> for Execution {
    fn from(it: ExecutionRecord) -> Self {
        Self {
            scheduled_at: it.scheduled_at.map(Time::of),
            start_time: Time::of(it.start_time),
            complete_time: it.complete_time.map(Time::of),
            duration_ms: it.complete_time.map(|end| (end - it.start_time).num_milliseconds()),
            outcome: it.outcome.as_str(),
            id: it.id,
            job: it.job_name,
            item: it.sharding_item,
            instance: it.instance,
            ip: it.ip,
            hostname: it.hostname,
            source: it.source,
            failure_cause: it.failure_cause,
            run_id: it.run_id,
            attempt: it.attempt,
            task_id: it.task_id,
        }
    }
}

impl From<StateRecord> for State {
    fn from(it: StateRecord) -> Self {
        Self {
            time: Time::of(it.creation_time),
            scheduled_at: it.scheduled_at.map(Time::of),
            id: it.id,
            job: it.job_name,
            state: it.state,
            items: it.sharding_items,
            execution_type: it.execution_type,
            instance: it.instance,
            ip: it.ip,
            message: it.message,
            run_id: it.run_id,
            attempt: it.attempt,
            task_id: it.task_id,
        }
    }
}

impl From<DecisionRecord> for Decision {
    fn from(it: DecisionRecord) -> Self {
        Self {
            time: Time::of(it.at),
            scheduled_at: it.scheduled_at.map(Time::of),
            scheduled_until: it.scheduled_until.map(Time::of),
            id: it.id,
            job: it.job_name,
            kind: it.kind,
            items: it.sharding_items,
            instance: it.instance,
            related_instance: it.related_instance,
            reason: it.reason,
            detail: it.detail,
        }
    }
}

/// An action of an operator.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OperatorAction {
    id: String,
    #[schema(value_type = String, format = DateTime)]
    time: Time,
    /// The operator that did it, or tried to: a user, `token:NAME`, or the account that used the command line.
    who: String,
    action: String,
    job: String,
    items: Vec<u32>,
    /// `done`, `unchanged`, `refused`, `failed`, or `unknown` where the answer of the registry center was lost.
    outcome: String,
    /// The parts that were changed, and the differences of a configuration with secrets masked.
    parts: Vec<String>,
    before: Option<String>,
    after: Option<String>,
    reason: String,
    error: Option<String>,
    /// What the operator used: `page`, `rest` or `cli`; `null` where an older release wrote the record.
    surface: Option<String>,
    /// The address that the operator acted from; `null` where it was not recorded, as for the command line.
    address: Option<String>,
    /// The id of the request: that of the header `X-Request-Id` of its answer, and of the log of the console.
    request_id: Option<String>,
}

impl From<ActionRecord> for OperatorAction {
    fn from(it: ActionRecord) -> Self {
        let (action, owned) = (it.action(), |text: &str| text.to_owned());
        Self {
            time: Time::of(it.0.at),
            who: owned(action.actor()),
            action: owned(action.name()),
            outcome: owned(action.outcome()),
            parts: action.parts().into_iter().map(owned).collect(),
            before: action.states().map(|(before, _)| owned(before)),
            after: action.states().map(|(_, after)| owned(after)),
            error: action.error().map(owned),
            surface: action.surface().map(owned),
            address: action.address().map(owned),
            request_id: action.request().map(owned),
            id: it.0.id,
            job: it.0.job_name,
            items: it.0.sharding_items,
            reason: it.0.reason,
        }
    }
}

async fn page<T, R>(here: &Here, headers: &HeaderMap, query: &HistoryQuery) -> Result<Response, Problem>
where
    T: Traced + history_file::Row + 'static,
    R: Serialize + From<T>,
{
    let zone = TimeZone::local().unwrap_or(TimeZone::UTC);
    let range = query.range(DateTime::from_timestamp_millis(now()).unwrap_or_default(), zone)?;
    let wants_file = headers.get(ACCEPT).and_then(|accepted| accepted.to_str().ok()).is_some_and(|accepted| {
        let first = accepted.split([',', ';']).next().unwrap_or_default();
        first.trim().eq_ignore_ascii_case("text/csv")
    });
    if wants_file || query.format == "csv" {
        return history_file::answer::<T>(here, query, range).await;
    }
    let Found { records, next } = find::<T>(here, query, range).await?;
    Ok(Json(RecordPage { records: records.into_iter().map(R::from).collect(), next }).into_response())
}

/// The runs of items
///
/// With the header `Accept: text/csv` they come as a file.
#[utoipa::path(get, path = "/api/v1/registries/{registry}/executions", tag = "history", params(ParametersOf<ExecutionRecord>),
    responses((status = 200, body = RecordPage<Execution>), (status = "default", body = Problem)))]
pub(crate) async fn executions(here: Here, headers: HeaderMap, uri: Uri) -> Result<Response, Problem> {
    page::<ExecutionRecord, Execution>(&here, &headers, &asked::<ExecutionRecord>(&uri)?).await
}

/// The run of an item, with the id that lists of runs have
#[utoipa::path(get, path = "/api/v1/registries/{registry}/executions/{run}", tag = "history",
    responses((status = 200, body = Execution), (status = "default", body = Problem)))]
pub(crate) async fn execution(
    here: Here,
    Names((_, run)): Names<(String, String)>,
) -> Result<Json<Execution>, Problem> {
    Ok(Json(execution_of(&here, &run).await?.into()))
}

/// The changes of state of runs
///
/// With the header `Accept: text/csv` they come as a file.
#[utoipa::path(get, path = "/api/v1/registries/{registry}/states", tag = "history", params(ParametersOf<StateRecord>),
    responses((status = 200, body = RecordPage<State>), (status = "default", body = Problem)))]
pub(crate) async fn states(here: Here, headers: HeaderMap, uri: Uri) -> Result<Response, Problem> {
    page::<StateRecord, State>(&here, &headers, &asked::<StateRecord>(&uri)?).await
}

/// Decisions, and actions of operators
///
/// With the header `Accept: text/csv` they come as a file.
#[utoipa::path(get, path = "/api/v1/registries/{registry}/decisions", tag = "history", params(ParametersOf<DecisionRecord>),
    responses((status = 200, body = RecordPage<Decision>), (status = "default", body = Problem)))]
pub(crate) async fn decisions(here: Here, headers: HeaderMap, uri: Uri) -> Result<Response, Problem> {
    page::<DecisionRecord, Decision>(&here, &headers, &asked::<DecisionRecord>(&uri)?).await
}

/// Actions of operators
///
/// With the header `Accept: text/csv` they come as a file.
#[utoipa::path(get, path = "/api/v1/registries/{registry}/audit", tag = "history", params(ParametersOf<ActionRecord>),
    responses((status = 200, body = RecordPage<OperatorAction>), (status = "default", body = Problem)))]
pub(crate) async fn audit(here: Here, headers: HeaderMap, uri: Uri) -> Result<Response, Problem> {
    page::<ActionRecord, OperatorAction>(&here, &headers, &asked::<ActionRecord>(&uri)?).await
}
