//! `/api/job`: registrations, triggers and switches of jobs.

use axum::Json;
use axum::extract::{Path, Query};
use elasticjob::ident::JobName;
use elasticjob::operations::Target;
use elasticjob_console::Role;
use serde_json::Value;

use super::answer::Refusal;
use super::guard::{Parameters, Visitor};
use super::{apps, audit};
use crate::model::CarriedJob;
use crate::model::mask;
use crate::scheduler::{Registrations, Running};
use crate::texts;

type Done = Result<Json<bool>, Refusal>;

/// The JSON of a body. The manual's `curl` commands send it without a fitting content type.
pub(super) fn json_of(body: &str) -> Result<Value, Refusal> {
    serde_json::from_str(body).map_err(|error| Refusal::bad(texts::body_no_json(error.to_string())))
}

/// The name in a body that is nothing but a name, with or without quotes.
fn name_of(body: &str) -> Result<JobName, Refusal> {
    job_name(body.trim().trim_matches('"'))
}

pub(super) fn job_name(name: &str) -> Result<JobName, Refusal> {
    JobName::new(name).map_err(|error| Refusal::bad(error.message().clone()))
}

/// The name of the job that a registration is for. What is wrong with it is told with the other fields.
fn named(job: &Value) -> &str {
    job.get("jobName").and_then(Value::as_str).unwrap_or_default()
}

pub(super) async fn register(visitor: Visitor, body: String) -> Done {
    let job = json_of(&body)?;
    visitor.needs(Role::Admin, named(&job))?;
    apps::needs_use(&visitor, &job).await?;
    let (name, parts) = (named(&job).to_owned(), audit::fields(&job).collect());
    let ended = visitor.api.scheduler.store().add_job(job).await;
    visitor.record("register-carried-job", &name, parts, ended)?;
    Ok(Json(true))
}

/// What `?running=` says of what runs when a registration is changed.
pub(super) fn running(parameters: &Parameters) -> Result<Running, Refusal> {
    match parameters.get("running").map(String::as_str) {
        None | Some("finish") => Ok(Running::GoesOn),
        Some("stop") => Ok(Running::IsStopped),
        Some(other) => Err(Refusal::bad(texts::running_of_change(other))),
    }
}

/// Whether `?running=` says what a switch and a removal do in any case.
pub(super) fn is_stopped(parameters: &Parameters) -> Result<(), Refusal> {
    match parameters.get("running").map(String::as_str) {
        None | Some("stop") => Ok(()),
        Some(other) => Err(Refusal::bad(texts::running_of_stop(other))),
    }
}

/// What is recorded of `?running=`, where it is given.
pub(super) fn said(parameters: &Parameters) -> impl Iterator<Item = String> {
    parameters.get("running").map(|running| format!("running {running}")).into_iter()
}

pub(super) async fn update(visitor: Visitor, Query(parameters): Query<Parameters>, body: String) -> Done {
    let running = running(&parameters)?;
    let job = json_of(&body)?;
    visitor.needs(Role::Admin, named(&job))?;
    apps::needs_use(&visitor, &job).await?;
    let (name, parts) = (named(&job).to_owned(), audit::fields(&job).chain(said(&parameters)).collect());
    let ended = visitor.api.scheduler.store().change_job_and(job, running).await;
    visitor.record("change-carried-job", &name, parts, ended)?;
    Ok(Json(true))
}

pub(super) async fn deregister_named(visitor: Visitor, Query(parameters): Query<Parameters>, body: String) -> Done {
    is_stopped(&parameters)?;
    deregister_job(&visitor, &name_of(&body)?).await
}

pub(super) async fn deregister(
    visitor: Visitor,
    Path(name): Path<String>,
    Query(parameters): Query<Parameters>,
) -> Done {
    is_stopped(&parameters)?;
    deregister_job(&visitor, &job_name(&name)?).await
}

async fn deregister_job(visitor: &Visitor, name: &JobName) -> Done {
    visitor.needs(Role::Admin, name.as_str())?;
    let ended = visitor.api.scheduler.store().remove_job(name).await;
    visitor.record("remove-carried-job", name.as_str(), Vec::new(), ended)?;
    Ok(Json(true))
}

pub(super) async fn trigger(visitor: Visitor, body: String) -> Done {
    let name = name_of(&body)?;
    visitor.needs(Role::Operator, name.as_str())?;
    let all = visitor.api.scheduler.registrations_now().await?;
    let job = all.jobs.get(&name).ok_or_else(|| Refusal::not_found(texts::no_such_job(name.as_str())))?;
    if all.is_disabled(job) {
        return Err(Refusal::conflict(texts::job_is_disabled(name.as_str())));
    }
    visitor.api.scheduler.follow(&name, &all).await;
    let outcome = visitor.operations().trigger(&Target::Job(name.clone())).await?;
    // Items that it leaves out are in the decision log of the instances that were asked.
    if outcome.instances.changed.is_empty() {
        return Err(Refusal::conflict(texts::triggered_before(name.as_str())));
    }
    Ok(Json(true))
}

pub(super) async fn is_disabled(visitor: Visitor, Path(name): Path<String>) -> Result<Json<bool>, Refusal> {
    let (name, all) = (job_name(&name)?, visitor.api.scheduler.registrations_now().await?);
    match all.jobs.contains_key(&name) {
        true => Ok(Json(all.disabled_jobs.contains(&name))),
        false => Err(Refusal::not_found(texts::no_such_job(name.as_str()))),
    }
}

pub(super) async fn disable(visitor: Visitor, Path(name): Path<String>, Query(parameters): Query<Parameters>) -> Done {
    is_stopped(&parameters)?;
    switch(&visitor, &job_name(&name)?, false).await
}

pub(super) async fn enable(visitor: Visitor, Path(name): Path<String>) -> Done {
    switch(&visitor, &job_name(&name)?, true).await
}

async fn switch(visitor: &Visitor, name: &JobName, enabled: bool) -> Done {
    let ended = visitor.api.scheduler.store().switch_job(name, enabled).await;
    let action = if enabled { "enable-carried-job" } else { "disable-carried-job" };
    visitor.record(action, name.as_str(), Vec::new(), ended)?;
    Ok(Json(true))
}

pub(super) async fn list(visitor: Visitor) -> Result<Json<Vec<CarriedJob>>, Refusal> {
    let all = visitor.api.scheduler.registrations_now().await?;
    let seen = all.jobs.values().filter(|job| visitor.may(Role::Viewer, job.job_name.as_str()));
    Ok(Json(seen.map(|job| shown(job, &all)).collect()))
}

pub(super) async fn one(visitor: Visitor, Path(name): Path<String>) -> Result<Json<CarriedJob>, Refusal> {
    let all = visitor.api.scheduler.registrations_now().await?;
    let job = all.jobs.get(&job_name(&name)?);
    let job = job.ok_or_else(|| Refusal::not_found(texts::no_such_job(&name)))?;
    Ok(Json(shown(job, &all)))
}

/// A job as answers have it: whether it is disabled now, in place of how it began, and without the values of properties and variables
/// whose names mean a secret.
fn shown(job: &CarriedJob, all: &Registrations) -> CarriedJob {
    let mut job = job.clone();
    job.disabled = all.disabled_jobs.contains(&job.job_name);
    mask(&mut job.props);
    mask(&mut job.env);
    job
}
