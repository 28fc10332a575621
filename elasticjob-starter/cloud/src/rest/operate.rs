//! `/api/operate`.

use axum::Json;
use axum::extract::Query;
use elasticjob_console::Role;
use serde_json::{Value, json};

use super::answer::Refusal;
use super::guard::{Parameters, Visitor};
use crate::texts;

/// Asks the carrier again for everything that this scheduler waits for. ElasticJob-Cloud has two ways to ask Mesos; a carrier
/// has one.
pub(super) async fn reconcile(visitor: Visitor) -> Result<Json<bool>, Refusal> {
    visitor.needs_for_all(Role::Operator)?;
    visitor.api.scheduler.reconcile().await?;
    Ok(Json(true))
}

/// The names of the applications and jobs that are disabled.
pub(super) async fn disabled(visitor: Visitor) -> Result<Json<Value>, Refusal> {
    let all = visitor.api.scheduler.registrations_now().await?;
    let jobs: Vec<_> = all.disabled_jobs.iter().filter(|job| visitor.may(Role::Viewer, job.as_str())).collect();
    let apps: Vec<_> = all.disabled_apps.iter().filter(|app| visitor.may_with_app(Role::Viewer, app, &all)).collect();
    Ok(Json(json!({ "apps": apps, "jobs": jobs })))
}

/// Where the logs of an application's launches are.
pub(super) async fn sandbox(
    visitor: Visitor,
    Query(parameters): Query<Parameters>,
) -> Result<Json<Vec<Value>>, Refusal> {
    let name = parameters.get("appName").ok_or_else(|| Refusal::bad(texts::app_name_missing()))?;
    let all = visitor.api.scheduler.registrations_now().await?;
    visitor.needs_with_app(Role::Viewer, name, &all)?;
    if !all.apps.contains_key(name) {
        return Err(Refusal::not_found(texts::no_such_app(name)));
    }
    let carrier = visitor.api.scheduler.carrier();
    let place = carrier.place();
    let is_of_app = |job: &elasticjob::ident::JobName| {
        all.jobs.get(job).is_some_and(|job| job.app_name == *name) && visitor.may(Role::Viewer, job.as_str())
    };
    let launches = carrier.launches().await?.into_iter().filter(|id| is_of_app(&id.job));
    let row = |id: crate::carrier::LaunchId| {
        let log = format!("/api/job/{}/log?launch={id}", id.job);
        json!({ "hostname": place, "path": log, "jobName": id.job, "launch": id.to_string() })
    };
    Ok(Json(launches.map(row).collect()))
}
