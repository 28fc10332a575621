//! `/api/job/statistics`: counted from the traces and the registrations when they are asked for. Nothing is kept in memory, so
//! nothing is lost with a scheduler.

use std::collections::{BTreeMap, BTreeSet};

use axum::Json;
use axum::extract::{Path, Query};
use chrono::{DateTime, Duration, DurationRound, Utc};
use elasticjob::ident::ShardingItem;
use elasticjob::trace::{ExecutionFilter, ExecutionOutcome, ExecutionRecord, TraceReader};
use elasticjob_console::Role;
use serde_json::{Value, json};

use super::answer::Refusal;
use super::events::{Latest, latest, traces};
use super::guard::{Parameters, Visitor};
use super::times::{since, written};
use crate::model::ExecutionType;

/// Of the latest so many runs statistics are made.
const MOST: usize = 100_000;

/// The runs of a span that the visitor may see.
struct Runs {
    records: Vec<ExecutionRecord>,
    /// Of the time before not all runs were read, as there are more than statistics are made of.
    complete_from: Option<DateTime<Utc>>,
}

impl Runs {
    /// Whether runs are missing in what was counted for a time.
    fn is_truncated_at(&self, time: DateTime<Utc>) -> bool {
        self.complete_from.is_some_and(|from| time < from)
    }
}

/// The runs since the time that the parameter names.
async fn runs(visitor: &Visitor, from: Option<DateTime<Utc>>) -> Result<Runs, Refusal> {
    let mut filter = ExecutionFilter::default();
    filter.from = from;
    let reader = traces(visitor)?;
    let latest = latest(MOST, |request| {
        let filter = &filter;
        async move { reader.executions(filter, &request).await }
    });
    let Latest { mut records, truncated } = latest.await?;
    let oldest = records.iter().map(|run| run.start_time).min();
    records.retain(|run| visitor.may(Role::Viewer, &run.job_name));
    Ok(Runs { records, complete_from: oldest.filter(|_| truncated) })
}

/// From when to when an item ran.
struct Ran<'a> {
    job: &'a str,
    item: ShardingItem,
    from: DateTime<Utc>,
    /// `None` while it runs.
    until: Option<DateTime<Utc>>,
}

/// When items ran. A run of which no end was written goes on, or its process was killed: it counts until the next run of its item
/// begins.
fn spans(runs: &[ExecutionRecord]) -> Vec<Ran<'_>> {
    let ran = runs.iter().map(|run| Ran {
        job: &run.job_name,
        item: run.sharding_item,
        from: run.start_time,
        until: run.complete_time,
    });
    ended_by_the_next(ran.collect())
}

fn ended_by_the_next(mut spans: Vec<Ran<'_>>) -> Vec<Ran<'_>> {
    spans.sort_unstable_by(|a, b| (a.job, a.item, a.from).cmp(&(b.job, b.item, b.from)));
    for at in 1..spans.len() {
        let (next, from) = ((spans[at].job, spans[at].item), spans[at].from);
        let before = &mut spans[at - 1];
        if (before.job, before.item) == next {
            before.until.get_or_insert(from);
        }
    }
    spans
}

fn span(parameters: &Parameters, unset: &str) -> Result<Option<DateTime<Utc>>, Refusal> {
    since(parameters.get("since").map_or(unset, String::as_str), Utc::now())
}

/// The beginning of the hour or minute of a time.
fn floor(time: DateTime<Utc>, step: Duration) -> DateTime<Utc> {
    time.duration_trunc(step).unwrap_or(time)
}

/// How many runs ended well, and how many failed, by minute.
pub(super) async fn results(
    visitor: Visitor,
    Query(parameters): Query<Parameters>,
) -> Result<Json<Vec<Value>>, Refusal> {
    let mut minutes: BTreeMap<DateTime<Utc>, (u64, u64)> = BTreeMap::new();
    let runs = runs(&visitor, span(&parameters, "last24hours")?).await?;
    for run in &runs.records {
        let Some(end) = run.complete_time else { continue };
        let (succeeded, failed) = minutes.entry(floor(end, Duration::minutes(1))).or_default();
        match run.outcome {
            ExecutionOutcome::Succeeded => *succeeded += 1,
            _ => *failed += 1,
        }
    }
    let row = |(id, (minute, (succeeded, failed))): (usize, (DateTime<Utc>, (u64, u64)))| {
        json!({ "id": id + 1, "successCount": succeeded, "failedCount": failed, "statisticInterval": "MINUTE",
                "statisticsTime": written(minute), "creationTime": written(minute),
                "truncated": runs.is_truncated_at(minute) })
    };
    Ok(Json(minutes.into_iter().enumerate().map(row).collect()))
}

/// The same for a span as a whole.
pub(super) async fn results_of(visitor: Visitor, Path(name): Path<String>) -> Result<Json<Value>, Refusal> {
    let (now, mut counts) = (Utc::now(), (0_u64, 0_u64));
    let runs = runs(&visitor, since(&name, now)?).await?;
    for run in &runs.records {
        match run.outcome {
            ExecutionOutcome::Succeeded => counts.0 += 1,
            ExecutionOutcome::Failed => counts.1 += 1,
            ExecutionOutcome::NoEnd => {}
        }
    }
    let interval = match name.as_str() {
        "lastMinute" => "MINUTE",
        "lastHour" => "HOUR",
        _ => "DAY",
    };
    Ok(Json(json!({ "id": 1, "successCount": counts.0, "failedCount": counts.1, "statisticInterval": interval,
                    "statisticsTime": written(now), "creationTime": written(now),
                    "truncated": runs.complete_from.is_some() })))
}

/// How many of something ran at the full hours.
async fn running(
    visitor: &Visitor,
    parameters: &Parameters,
    count: impl Fn(&mut dyn Iterator<Item = &Ran<'_>>) -> usize,
) -> Result<Json<Vec<Value>>, Refusal> {
    let (now, hour) = (Utc::now(), Duration::hours(1));
    let from = span(parameters, "lastWeek")?;
    let runs = runs(visitor, from).await?;
    let spans = spans(&runs.records);
    let first = from.or_else(|| spans.iter().map(|ran| ran.from).min()).unwrap_or(now);
    let mut rows = Vec::new();
    let mut at = floor(first, hour) + hour;
    while at <= now {
        let goes_on = |ran: &&Ran<'_>| ran.from <= at && ran.until.is_none_or(|end| end > at);
        let running = count(&mut spans.iter().filter(goes_on));
        rows.push(json!({ "id": rows.len() + 1, "runningCount": running, "statisticsTime": written(at),
                          "creationTime": written(at), "truncated": runs.is_truncated_at(at) }));
        at += hour;
    }
    Ok(Json(rows))
}

pub(super) async fn running_tasks(
    visitor: Visitor,
    Query(parameters): Query<Parameters>,
) -> Result<Json<Vec<Value>>, Refusal> {
    running(&visitor, &parameters, |runs| runs.count()).await
}

pub(super) async fn running_jobs(
    visitor: Visitor,
    Query(parameters): Query<Parameters>,
) -> Result<Json<Vec<Value>>, Refusal> {
    running(&visitor, &parameters, |runs| runs.map(|ran| ran.job).collect::<BTreeSet<_>>().len()).await
}

/// How many jobs are of which type.
pub(super) async fn execution_type(visitor: Visitor) -> Result<Json<Value>, Refusal> {
    let all = visitor.api.scheduler.registrations_now().await?;
    let seen = all.jobs.values().filter(|job| visitor.may(Role::Viewer, job.job_name.as_str()));
    let (transient, daemon): (Vec<_>, Vec<_>) =
        seen.partition(|job| job.job_execution_type == ExecutionType::Transient);
    Ok(Json(json!({ "transientJobCount": transient.len(), "daemonJobCount": daemon.len() })))
}

/// How many of the jobs that are registered now were there at the end of each day.
pub(super) async fn registered(visitor: Visitor) -> Result<Json<Vec<Value>>, Refusal> {
    let times = visitor.api.scheduler.store().registered_at().await?;
    let seen = times.into_iter().filter(|(job, _)| visitor.may(Role::Viewer, job.as_str()));
    let mut days: BTreeMap<DateTime<Utc>, u64> = BTreeMap::new();
    for (_, at) in seen {
        let at = DateTime::from_timestamp_millis(at).unwrap_or_default();
        *days.entry(floor(at, Duration::days(1))).or_default() += 1;
    }
    let (mut sum, mut rows) = (0, Vec::new());
    for (day, count) in days {
        sum += count;
        rows.push(json!({ "id": rows.len() + 1, "registeredCount": sum, "statisticsTime": written(day), "creationTime": written(day) }));
    }
    Ok(Json(rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_an_end_goes_on_until_the_next_run_of_its_item() {
        let at = |second| DateTime::from_timestamp(second, 0).unwrap();
        let ran = |item, from, until: Option<i64>| Ran { job: "a", item, from: at(from), until: until.map(at) };
        let spans = ended_by_the_next(vec![
            ran(0, 9, None),
            ran(0, 5, None),
            ran(0, 1, Some(2)),
            ran(1, 3, None),
            Ran { job: "b", ..ran(1, 8, Some(9)) },
        ]);
        let until: Vec<_> = spans.iter().map(|ran| ran.until).collect();
        assert_eq!(until, [Some(at(2)), Some(at(9)), None, None, Some(at(9))]);
    }
}
