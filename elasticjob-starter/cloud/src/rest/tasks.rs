//! `/api/job/tasks`: what runs, what waits, and what was lost. Read from the records of the jobs and from the carrier.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Json;
use axum::extract::Query;
use elasticjob::fire::ExecutionSource;
use elasticjob::ident::{JobName, ShardingItem};
use elasticjob_console::Role;
use futures_util::stream::{StreamExt, TryStreamExt, iter};
use serde_json::{Value, json};

use super::answer::Refusal;
use super::guard::{Parameters, Visitor};
use crate::model::CarriedJob;
use crate::scheduler::{ItemTask, JobTasks};

/// How many jobs are read at a time.
const AT_A_TIME: usize = 32;

/// A job as it is now.
struct Now {
    job: Arc<CarriedJob>,
    tasks: JobTasks,
}

impl Now {
    /// Why an item runs: `FAILOVER` where another scheduler had it before.
    fn kind(&self, item: ShardingItem) -> &'static str {
        let record = self.tasks.snapshot.as_ref().and_then(|snapshot| Some(&snapshot.items.get(&item)?.record));
        match record.and_then(|record| record.running()).map(|begun| begun.source) {
            Some(ExecutionSource::Failover) => "FAILOVER",
            _ => "READY",
        }
    }
}

/// All jobs that the visitor may see, or the one of this name.
async fn all(visitor: &Visitor, only: Option<&str>) -> Result<Vec<Now>, Refusal> {
    let scheduler = &visitor.api.scheduler;
    let registrations = scheduler.registrations_now().await?;
    let jobs = registrations.jobs.into_values().filter(|job| only.is_none_or(|name| job.job_name.as_str() == name));
    let seen = jobs.filter(|job| visitor.may(Role::Viewer, job.job_name.as_str()));
    let reads: Vec<_> = seen.map(async |job| Ok(Now { tasks: scheduler.tasks(&job).await?, job })).collect();
    iter(reads).buffered(AT_A_TIME).try_collect().await
}

fn task_id(job: &JobName, item: ShardingItem, kind: &str, place: &str) -> String {
    format!("{job}@-@{item}@-@{kind}@-@{place}")
}

/// The items whose processes run.
pub(super) async fn running(visitor: Visitor) -> Result<Json<Vec<Value>>, Refusal> {
    let mut running = Vec::new();
    for now in all(&visitor, None).await? {
        for (item, task) in &now.tasks.items {
            if let ItemTask::Running { place, since, attempt, lost, stopping } = task {
                let (name, kind) = (&now.job.job_name, now.kind(*item));
                running.push(json!({
                    "id": task_id(name, *item, kind, place), "metaInfo": { "jobName": name, "shardingItems": [item] },
                    "type": kind, "slaveId": place, "idle": false, "since": since, "attempt": attempt,
                    "lost": lost.as_ref().map(|lost| &lost.why), "stopping": stopping,
                }));
            }
        }
    }
    Ok(Json(running))
}

/// The jobs with items that wait, and why; those with a missed fire that will be made up for; and those that do not run here, or of
/// which the carrier cannot be read, with the cause.
pub(super) async fn ready(visitor: Visitor, Query(parameters): Query<Parameters>) -> Result<Json<Vec<Value>>, Refusal> {
    let only = parameters.get("jobName").map(String::as_str);
    let mut jobs = Vec::new();
    for now in all(&visitor, only).await? {
        let waiting = now.tasks.items.iter().filter_map(|(item, task)| match task {
            ItemTask::Waiting { why, since, attempt, .. } => {
                Some(json!({ "item": item, "why": why, "since": since, "attempt": attempt }))
            }
            ItemTask::Running { .. } => None,
        });
        let waiting: Vec<Value> = waiting.collect();
        let snapshot = now.tasks.snapshot.as_ref();
        let missed = snapshot.into_iter().flat_map(|snapshot| snapshot.items.values()).any(|item| item.misfired);
        let times = usize::from(!waiting.is_empty()) + usize::from(missed);
        if times > 0 {
            let name = &now.job.job_name;
            jobs.push(json!({ "jobName": name, "times": times.to_string(), "items": waiting, "misfired": missed }));
        }
        if let Some(why) = &now.tasks.unread {
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

/// The items that were lost, and do not run again so far: by their place, or with their scheduler.
pub(super) async fn failover(visitor: Visitor) -> Result<Json<Vec<Value>>, Refusal> {
    let mut tasks = Vec::new();
    for now in all(&visitor, None).await? {
        let name = &now.job.job_name;
        let no_others = BTreeSet::new();
        let to_take_over = now.tasks.snapshot.as_ref().map_or(&no_others, |snapshot| &snapshot.to_take_over);
        for (item, task) in now.tasks.items.iter().filter(|(item, _)| !to_take_over.contains(item)) {
            if let Some((lost, attempt)) = task.lost_place() {
                tasks.push(json!({
                    "taskInfo": { "jobName": name, "shardingItems": [item] },
                    "originalTaskId": task_id(name, *item, now.kind(*item), lost.place.as_deref().unwrap_or_default()),
                    "why": lost.why, "attempt": attempt,
                }));
            }
        }
        let Some(snapshot) = &now.tasks.snapshot else { continue };
        for item in &snapshot.to_take_over {
            let last = snapshot.items.get(item).and_then(|nodes| nodes.record.last.as_ref());
            let before = last.map(|begun| begun.instance.as_str()).unwrap_or_default();
            tasks.push(json!({
                "taskInfo": { "jobName": name, "shardingItems": [item] },
                "originalTaskId": task_id(name, *item, now.kind(*item), before),
                "why": "its scheduler is gone: another one takes it over, and adopts what runs", "attempt": null,
            }));
        }
    }
    Ok(Json(tasks))
}
