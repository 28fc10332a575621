//! `/api/job/tasks`: what runs, what waits, and what was lost. Read from the records of the jobs and from the carrier.

use std::sync::Arc;

use axum::Json;
use axum::extract::Query;
use elasticjob::fire::ExecutionSource;
use elasticjob::ident::{JobName, ShardingItem};
use elasticjob::operations::JobSnapshot;
use elasticjob_console::Role;
use futures_util::stream::{StreamExt, iter};
use serde_json::{Value, json};

use super::answer::Refusal;
use super::guard::{Parameters, Visitor};
use crate::carrier::{ItemState, ItemStates, LaunchId};
use crate::model::{CarriedJob, ExecutionType};

/// How many jobs are read at a time.
const AT_A_TIME: usize = 32;

/// A job as it is now.
struct Now {
    job: Arc<CarriedJob>,
    /// `None` for a job that was never scheduled, and for `DAEMON` jobs.
    snapshot: Option<JobSnapshot>,
    /// The states of the last launch, as far as this scheduler's carrier knows them.
    states: ItemStates,
    /// Why the carrier does not know them: then the job is shown as its records are.
    unread: Option<String>,
}

impl Now {
    /// The items whose run goes on, each with the state that the carrier knows.
    fn running(&self) -> impl Iterator<Item = (ShardingItem, &elasticjob::fire::Begun, Option<&ItemState>)> {
        let items = self.snapshot.iter().flat_map(|snapshot| &snapshot.items);
        items.filter_map(|(item, nodes)| Some((*item, nodes.record.running()?, self.states.get(item))))
    }
}

/// All jobs that the visitor may see, or the one of this name.
async fn all(visitor: &Visitor, only: Option<&str>) -> Result<Vec<Now>, Refusal> {
    let scheduler = &visitor.api.scheduler;
    let registrations = scheduler.registrations_now().await?;
    let jobs = registrations.jobs.into_values().filter(|job| only.is_none_or(|name| job.job_name.as_str() == name));
    let seen = jobs.filter(|job| visitor.may(Role::Viewer, job.job_name.as_str()));
    let reads = seen.map(|job| async move {
        if job.job_execution_type == ExecutionType::Daemon {
            let kept = scheduler.carrier().kept(&job.job_name).await;
            let unread = kept.as_ref().err().map(ToString::to_string);
            let states = kept.into_iter().flatten().map(|process| (process.index, process.state)).collect();
            return Now { job, snapshot: None, states, unread };
        }
        // One that has not joined its group so far has no nodes.
        let snapshot = scheduler.operations().snapshot(&job.job_name).await.ok();
        let fires = snapshot.iter().flat_map(|snapshot| snapshot.items.values()).filter_map(|item| {
            item.record.running()?;
            item.record.last_fire()
        });
        let mut fires: Vec<_> = fires.collect();
        fires.sort_unstable();
        fires.dedup();
        let (mut states, mut unread) = (ItemStates::new(), None);
        for fire in fires {
            let id = LaunchId { job: job.job_name.clone(), fire };
            states.extend(scheduler.waiting(&id));
            match scheduler.carrier().states(&id).await {
                Ok(known) => states.extend(known.unwrap_or_default()),
                Err(error) => unread = Some(error.to_string()),
            }
        }
        Now { job, snapshot, states, unread }
    });
    let reads: Vec<_> = reads.collect();
    Ok(iter(reads).buffered(AT_A_TIME).collect().await)
}

fn task_id(job: &JobName, item: ShardingItem, kind: &str, place: &str) -> String {
    format!("{job}@-@{item}@-@{kind}@-@{place}")
}

/// The items whose processes run.
pub(super) async fn running(visitor: Visitor) -> Result<Json<Vec<Value>>, Refusal> {
    let mut tasks = Vec::new();
    for now in all(&visitor, None).await? {
        let name = &now.job.job_name;
        for (item, begun, state) in now.running() {
            let kind = if begun.source == ExecutionSource::Failover { "FAILOVER" } else { "READY" };
            let (place, since) = match state {
                Some(ItemState::Waiting { .. }) => continue,
                Some(ItemState::Running { place, since, .. }) => (place.as_str(), Some(*since)),
                // Another scheduler waits for it, with a carrier of its own.
                Some(ItemState::Ended { .. } | ItemState::LetGo) | None => (begun.instance.as_str(), begun.began),
            };
            tasks.push(task(name, item, kind, place, since));
        }
        if now.job.job_execution_type == ExecutionType::Daemon {
            for (index, state) in &now.states {
                if let ItemState::Running { place, since, .. } = state {
                    tasks.push(task(name, *index, "READY", place, Some(*since)));
                }
            }
        }
    }
    Ok(Json(tasks))
}

fn task(job: &JobName, item: ShardingItem, kind: &str, place: &str, since: Option<i64>) -> Value {
    json!({
        "id": task_id(job, item, kind, place), "metaInfo": { "jobName": job, "shardingItems": [item] }, "type": kind,
        "slaveId": place, "idle": false, "since": since,
    })
}

/// The jobs with items that wait, and why; those with a missed fire that will be made up for; and those that do not run here, or of
/// which the carrier cannot be read, with the cause.
pub(super) async fn ready(visitor: Visitor, Query(parameters): Query<Parameters>) -> Result<Json<Vec<Value>>, Refusal> {
    let only = parameters.get("jobName").map(String::as_str);
    let mut jobs = Vec::new();
    for now in all(&visitor, only).await? {
        let waiting: Vec<Value> = now
            .states
            .iter()
            .filter_map(|(item, state)| match state {
                ItemState::Waiting { why } => Some(json!({ "item": item, "why": why })),
                _ => None,
            })
            .collect();
        let missed = now.snapshot.iter().flat_map(|snapshot| snapshot.items.values()).any(|item| item.misfired);
        let times = usize::from(!waiting.is_empty()) + usize::from(missed);
        if times > 0 {
            let name = &now.job.job_name;
            jobs.push(json!({ "jobName": name, "times": times.to_string(), "items": waiting, "misfired": missed }));
        }
        if let Some(why) = &now.unread {
            jobs.push(not_running(&now.job.job_name, why));
        }
    }
    for (job, why) in visitor.api.scheduler.troubles() {
        if only.is_none_or(|name| job.as_str() == name) && visitor.may(Role::Viewer, job.as_str()) {
            jobs.push(not_running(&job, &why));
        }
    }
    Ok(Json(jobs))
}

/// A job of which no item is known to wait, and why.
fn not_running(job: &JobName, why: &str) -> Value {
    json!({ "jobName": job, "times": "0", "items": [], "misfired": false, "why": why })
}

/// The items that were lost, and do not run again so far.
pub(super) async fn failover(visitor: Visitor) -> Result<Json<Vec<Value>>, Refusal> {
    let mut tasks = Vec::new();
    for now in all(&visitor, None).await? {
        let Some(snapshot) = &now.snapshot else { continue };
        for item in &snapshot.to_take_over {
            let last = snapshot.items.get(item).and_then(|nodes| nodes.record.last.as_ref());
            let before = last.map(|begun| begun.instance.as_str()).unwrap_or_default();
            let name = &now.job.job_name;
            tasks.push(json!({
                "taskInfo": { "jobName": name, "shardingItems": [item] },
                "originalTaskId": task_id(name, *item, "READY", before),
                "why": "its scheduler is gone: another one takes it over, and adopts what runs",
            }));
        }
    }
    Ok(Json(tasks))
}
