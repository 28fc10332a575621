//! Changes the state of jobs, servers and items.

use axum::Json;
use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::http::{HeaderMap, StatusCode};
use elasticjob::ident::{JobName, ShardingItem};
use elasticjob::operations::{
    Force, InstanceOfJob, ItemOfJob, Operations, Outcome, Removed, ServerOfJob, Target, TriggerOutcome,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::Problem;
use super::body::{Body, Bulk, BulkAction, Reason, Wanted, checked, checked_count};
use super::jobs::parameters;
use super::named::{Names, OfJob};
use crate::access::Role;
use crate::here::Here;
use crate::service::fires::FireId;
use crate::service::many_jobs;
use crate::service::rerun::run_again;

/// The parts that were changed, and those that needed no change.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Done {
    #[schema(value_type = Vec<Object>)]
    changed: Value,
    #[schema(value_type = Vec<Object>)]
    unchanged: Value,
    /// Of a fire that is run again: the jobs after this one that follow, as far as the caller may see them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<String>>)]
    follow: Option<Value>,
    /// Of a job that is run: the items that do not run, as no instance has them that is online and enabled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Option<Vec<Object>>)]
    without_instance: Vec<Value>,
}

impl Done {
    fn of<T: Serialize>(outcome: &Outcome<T>) -> Self {
        let value = |parts: &[T]| serde_json::to_value(parts).unwrap_or_default();
        let (changed, unchanged) = (value(&outcome.changed), value(&outcome.unchanged));
        Self { changed, unchanged, ..Self::default() }
    }

    fn of_trigger(outcome: &TriggerOutcome) -> Self {
        Self { without_instance: without_instance(&outcome.without_instance), ..Self::of(&outcome.instances) }
    }
}

fn without_instance(items: &[ItemOfJob]) -> Vec<Value> {
    items.iter().filter_map(|item| serde_json::to_value(item).ok()).collect()
}

/// The description of the header `traceparent`.
const TRACE_HEADER: &str = "The trace of the caller, as W3C Trace Context has it: the spans of the runs are linked to it. One that is not understood is ignored";

type Asked = Outcome<InstanceOfJob>;
type Switched = Outcome<ServerOfJob>;
type SwitchedItem = Outcome<ItemOfJob>;
type Gone = Outcome<Removed>;

/// Run a job now, on all its enabled instances
///
/// Where items are not assigned, as an instance came or went a moment ago, the answer waits for that, for at most 5 seconds. An item that no instance has by then does not run, and is named in the answer.
#[utoipa::path(post, path = "/api/v1/registries/{registry}/jobs/{job}/triggers", tag = "actions", request_body = Reason,
    params(("Idempotency-Key" = Option<String>, Header, description = "The same key gives the same answer, and runs the job once"),
        ("traceparent" = Option<String>, Header, description = TRACE_HEADER)),
    responses((status = 202, body = Done), (status = "default", body = Problem)))]
pub(crate) async fn trigger(
    of: OfJob,
    headers: HeaderMap,
    Body(body): Body<Reason>,
) -> Result<(StatusCode, Json<Done>), Problem> {
    let route = format!("{}/triggers", of.job);
    run_now(&of.here, &headers, &route, Target::Job(of.job), &body).await
}

/// Run a job now, on its enabled instances on a server
///
/// Where items are not assigned, as an instance came or went a moment ago, the answer waits for that, for at most 5 seconds. An item that no instance has by then does not run, and is named in the answer.
#[utoipa::path(post, path = "/api/v1/registries/{registry}/jobs/{job}/servers/{server}/triggers", tag = "actions", request_body = Reason,
    params(("Idempotency-Key" = Option<String>, Header, description = "The same key gives the same answer, and runs the job once"),
        ("traceparent" = Option<String>, Header, description = TRACE_HEADER)),
    responses((status = 202, body = Done), (status = "default", body = Problem)))]
pub(crate) async fn trigger_on_server(
    of: OfJob,
    Names((_, _, server)): Names<(String, String, String)>,
    headers: HeaderMap,
    Body(body): Body<Reason>,
) -> Result<(StatusCode, Json<Done>), Problem> {
    let route = format!("{}/servers/{server}/triggers", of.job);
    run_now(&of.here, &headers, &route, Target::ServerOfJob(of.job, server), &body).await
}

/// Run all jobs of a server now, on their enabled instances there
///
/// Where items are not assigned, as an instance came or went a moment ago, the answer waits for that, for at most 5 seconds. An item that no instance has by then does not run, and is named in the answer.
#[utoipa::path(post, path = "/api/v1/registries/{registry}/servers/{server}/triggers", tag = "actions", request_body = Reason,
    params(("Idempotency-Key" = Option<String>, Header, description = "The same key gives the same answer, and runs the jobs once"),
        ("traceparent" = Option<String>, Header, description = TRACE_HEADER)),
    responses((status = 202, body = Done), (status = "default", body = Problem)))]
pub(crate) async fn trigger_server(
    here: Here,
    Names((_, server)): Names<(String, String)>,
    headers: HeaderMap,
    Body(body): Body<Reason>,
) -> Result<(StatusCode, Json<Done>), Problem> {
    let route = format!("/servers/{server}/triggers");
    run_now(&here, &headers, &route, Target::Server(server), &body).await
}

/// Runs what the target names. A request that is repeated at the same route runs it once.
async fn run_now(
    here: &Here,
    headers: &HeaderMap,
    route: &str,
    target: Target,
    body: &Reason,
) -> Result<(StatusCode, Json<Done>), Problem> {
    let reason = checked(&body.reason)?;
    let route = format!("{}/{route}", here.registry.name());
    let act = async { Ok(Done::of_trigger(&here.operations(reason).trigger(&target).await?)) };
    let done = here.app.answers.once(headers, here.identity.name(), &route, reason, act).await?;
    Ok((StatusCode::ACCEPTED, Json(done)))
}

/// Run a past fire of a job again
///
/// The jobs that run after this one follow, so the role operator is needed for each of them. The fire is named by its scheduled time, which the job sees as its own.
#[utoipa::path(post, path = "/api/v1/registries/{registry}/jobs/{job}/fires/{fire}/reruns", tag = "actions", request_body = Reason,
    params(("Idempotency-Key" = Option<String>, Header, description = "The same key gives the same answer, and runs the fire once"),
        ("traceparent" = Option<String>, Header, description = TRACE_HEADER)),
    responses((status = 202, body = Done), (status = "default", body = Problem)))]
pub(crate) async fn rerun(
    of: OfJob,
    Names((_, _, fire)): Names<(String, String, String)>,
    headers: HeaderMap,
    Body(body): Body<Reason>,
) -> Result<(StatusCode, Json<Done>), Problem> {
    let OfJob { here, job } = of;
    let reason = checked(&body.reason)?;
    let at = scheduled(&fire)?;
    let route = format!("{}/{job}/fires/{at}/reruns", here.registry.name());
    let act = async {
        let asked = run_again(&here, &job, at, reason).await?;
        let changed = serde_json::to_value(&asked.instances).unwrap_or_default();
        let follow: Vec<&JobName> = asked.follow.iter().filter(|job| here.sees(job)).collect();
        let follow = serde_json::to_value(follow).ok();
        let without_instance = without_instance(&asked.without_instance);
        Ok(Done { changed, unchanged: Value::Array(Vec::new()), follow, without_instance })
    };
    let done = here.app.answers.once(&headers, here.identity.name(), &route, reason, act).await?;
    Ok((StatusCode::ACCEPTED, Json(done)))
}

/// The scheduled time that names a fire.
pub(crate) fn scheduled(fire: &str) -> Result<i64, Problem> {
    let id: FireId = fire.parse().map_err(Problem::bad_request)?;
    let wrong = "what was triggered by hand has no scheduled time, and is no fire to run again: trigger the job";
    id.scheduled().ok_or_else(|| Problem::bad_request(wrong))
}

async fn cancel(of: OfJob, item: Option<ShardingItem>, body: &Reason) -> Result<(StatusCode, Json<Done>), Problem> {
    let reason = checked(&body.reason)?;
    let outcome: SwitchedItem =
        of.here.operations(reason).cancel(&of.job, item, &of.here.cancel_request(reason)).await?;
    Ok((StatusCode::ACCEPTED, Json(Done::of(&outcome))))
}

/// Cancel all runs of a job that go on
#[utoipa::path(post, path = "/api/v1/registries/{registry}/jobs/{job}/cancellations", tag = "actions",
    request_body = Reason, responses((status = 202, body = Done), (status = "default", body = Problem)))]
pub(crate) async fn cancel_job(of: OfJob, Body(body): Body<Reason>) -> Result<(StatusCode, Json<Done>), Problem> {
    cancel(of, None, &body).await
}

/// Cancel the run of an item
#[utoipa::path(post, path = "/api/v1/registries/{registry}/jobs/{job}/items/{item}/cancellations", tag = "actions",
    request_body = Reason, responses((status = 202, body = Done), (status = "default", body = Problem)))]
pub(crate) async fn cancel_item(
    of: OfJob,
    Names((_, _, item)): Names<(String, String, ShardingItem)>,
    Body(body): Body<Reason>,
) -> Result<(StatusCode, Json<Done>), Problem> {
    cancel(of, Some(item), &body).await
}

async fn switch(here: &Here, target: Target, state: &Wanted) -> Result<Json<Done>, Problem> {
    let operations = here.operations(checked(&state.reason)?);
    let outcome: Switched = match state.enabled {
        true => operations.enable_servers(&target).await?,
        false => operations.disable_servers(&target).await?,
    };
    Ok(Json(Done::of(&outcome)))
}

/// Enable or disable a job on all its servers
#[utoipa::path(put, path = "/api/v1/registries/{registry}/jobs/{job}/state", tag = "actions", request_body = Wanted,
    responses((status = 200, body = Done), (status = "default", body = Problem)))]
pub(crate) async fn switch_job(of: OfJob, Body(state): Body<Wanted>) -> Result<Json<Done>, Problem> {
    switch(&of.here, Target::Job(of.job), &state).await
}

/// Enable or disable a server, in all its jobs
#[utoipa::path(put, path = "/api/v1/registries/{registry}/servers/{server}/state", tag = "actions", request_body = Wanted,
    responses((status = 200, body = Done), (status = "default", body = Problem)))]
pub(crate) async fn switch_server(
    here: Here,
    Names((_, server)): Names<(String, String)>,
    Body(state): Body<Wanted>,
) -> Result<Json<Done>, Problem> {
    switch(&here, Target::Server(server), &state).await
}

/// Enable or disable a server of a job
#[utoipa::path(put, path = "/api/v1/registries/{registry}/jobs/{job}/servers/{server}/state", tag = "actions",
    request_body = Wanted, responses((status = 200, body = Done), (status = "default", body = Problem)))]
pub(crate) async fn switch_server_of_job(
    of: OfJob,
    Names((_, _, server)): Names<(String, String, String)>,
    Body(state): Body<Wanted>,
) -> Result<Json<Done>, Problem> {
    switch(&of.here, Target::ServerOfJob(of.job, server), &state).await
}

/// Enable or disable an item
#[utoipa::path(put, path = "/api/v1/registries/{registry}/jobs/{job}/items/{item}/state", tag = "actions",
    request_body = Wanted, responses((status = 200, body = Done), (status = "default", body = Problem)))]
pub(crate) async fn switch_item(
    of: OfJob,
    Names((_, _, item)): Names<(String, String, ShardingItem)>,
    Body(state): Body<Wanted>,
) -> Result<Json<Done>, Problem> {
    let operations = of.here.operations(checked(&state.reason)?);
    let outcome: SwitchedItem = match state.enabled {
        true => operations.enable_item(&of.job, item).await?,
        false => operations.disable_item(&of.job, item).await?,
    };
    Ok(Json(Done::of(&outcome)))
}

async fn leave(here: &Here, target: Target, body: &Reason) -> Result<(StatusCode, Json<Done>), Problem> {
    let outcome: Asked = here.operations(checked(&body.reason)?).shut_down(&target).await?;
    Ok((StatusCode::ACCEPTED, Json(Done::of(&outcome))))
}

/// Make the instances of a job leave
#[utoipa::path(post, path = "/api/v1/registries/{registry}/jobs/{job}/shutdowns", tag = "actions", request_body = Reason,
    responses((status = 202, body = Done), (status = "default", body = Problem)))]
pub(crate) async fn shut_down_job(of: OfJob, Body(body): Body<Reason>) -> Result<(StatusCode, Json<Done>), Problem> {
    leave(&of.here, Target::Job(of.job), &body).await
}

/// Make the instances of a server leave
#[utoipa::path(post, path = "/api/v1/registries/{registry}/servers/{server}/shutdowns", tag = "actions",
    request_body = Reason, responses((status = 202, body = Done), (status = "default", body = Problem)))]
pub(crate) async fn shut_down_server(
    here: Here,
    Names((_, server)): Names<(String, String)>,
    Body(body): Body<Reason>,
) -> Result<(StatusCode, Json<Done>), Problem> {
    leave(&here, Target::Server(server), &body).await
}

/// Make the instances of a job on a server leave
#[utoipa::path(post, path = "/api/v1/registries/{registry}/jobs/{job}/servers/{server}/shutdowns", tag = "actions",
    request_body = Reason, responses((status = 202, body = Done), (status = "default", body = Problem)))]
pub(crate) async fn shut_down_server_of_job(
    of: OfJob,
    Names((_, _, server)): Names<(String, String, String)>,
    Body(body): Body<Reason>,
) -> Result<(StatusCode, Json<Done>), Problem> {
    leave(&of.here, Target::ServerOfJob(of.job, server), &body).await
}

/// Why something is removed, and whether instances that are online leave.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Removal {
    /// Make the instances leave that are online; else the removal is refused.
    force: bool,
    /// For the decision log.
    reason: String,
}

/// Remove a job
#[utoipa::path(delete, path = "/api/v1/registries/{registry}/jobs/{job}", tag = "actions", params(Removal),
    responses((status = 204), (status = "default", body = Problem)))]
pub(crate) async fn remove_job(
    of: OfJob,
    query: Result<Query<Removal>, QueryRejection>,
) -> Result<StatusCode, Problem> {
    let Removal { force, reason } = parameters(query)?;
    let force = if force { Force::Yes } else { Force::No };
    of.here.operations(checked(&reason)?).remove_job(&of.job, force).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Why something is removed.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Because {
    /// For the decision log.
    reason: String,
}

/// Remove a server from all its jobs
#[utoipa::path(delete, path = "/api/v1/registries/{registry}/servers/{server}", tag = "actions", params(Because),
    responses((status = 200, body = Done), (status = "default", body = Problem)))]
pub(crate) async fn remove_server(
    here: Here,
    Names((_, server)): Names<(String, String)>,
    query: Result<Query<Because>, QueryRejection>,
) -> Result<Json<Done>, Problem> {
    let reason = parameters(query)?.reason;
    let outcome: Gone = here.operations(checked(&reason)?).remove_servers(&Target::Server(server), Force::No).await?;
    Ok(Json(Done::of(&outcome)))
}

/// Remove a server from a job
#[utoipa::path(delete, path = "/api/v1/registries/{registry}/jobs/{job}/servers/{server}", tag = "actions",
    params(Because), responses((status = 200, body = Done), (status = "default", body = Problem)))]
pub(crate) async fn remove_server_of_job(
    of: OfJob,
    Names((_, _, server)): Names<(String, String, String)>,
    query: Result<Query<Because>, QueryRejection>,
) -> Result<Json<Done>, Problem> {
    let reason = parameters(query)?.reason;
    let target = Target::ServerOfJob(of.job, server);
    let outcome: Gone = of.here.operations(checked(&reason)?).remove_servers(&target, Force::No).await?;
    Ok(Json(Done::of(&outcome)))
}

/// The result of one job of a bulk operation.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct BulkResult {
    job: String,
    done: Option<Done>,
    problem: Option<Problem>,
}

/// Trigger, enable or disable many jobs; each ends by itself
#[utoipa::path(post, path = "/api/v1/registries/{registry}/operations", tag = "actions", request_body = Bulk,
    params(("traceparent" = Option<String>, Header, description = TRACE_HEADER)),
    responses((status = 200, body = Vec<BulkResult>), (status = "default", body = Problem)))]
pub(crate) async fn bulk(here: Here, Body(body): Body<Bulk>) -> Result<Json<Vec<BulkResult>>, Problem> {
    checked_count(body.jobs.len())?;
    let operations = here.operations(checked(&body.reason)?).on_many_jobs();
    let actions = body.jobs.into_iter().map(async |job| {
        let (done, problem) = match one_of(&here, &operations, &job, body.action).await {
            Ok(done) => (Some(done), None),
            Err(problem) => (None, Some(problem.below(&here.app.options.base_path))),
        };
        BulkResult { job, done, problem }
    });
    Ok(Json(many_jobs::ends(actions).await))
}

async fn one_of(here: &Here, operations: &Operations, name: &str, action: BulkAction) -> Result<Done, Problem> {
    let job = JobName::new(name).map_err(|wrong| Problem::bad_request(wrong.message().clone()))?;
    if !here.may(Role::Operator, &job) {
        return Err(Problem::forbidden(crate::access::Permission::Has(Role::Operator), false));
    }
    let target = Target::Job(job);
    Ok(match action {
        BulkAction::Trigger => Done::of_trigger(&operations.trigger(&target).await?),
        BulkAction::Enable => Done::of(&operations.enable_servers(&target).await?),
        BulkAction::Disable => Done::of(&operations.disable_servers(&target).await?),
    })
}
