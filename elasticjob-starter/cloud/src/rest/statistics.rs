//! `/api/job/statistics`: counted from the traces and the registrations when they are asked for. Nothing is kept in memory, so
//! nothing is lost with a scheduler.

use std::collections::{BTreeMap, HashMap};

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

/// So many full hours are counted at most, the latest ones: ten years. A run whose time is wrong may have begun in 1970.
const MOST_HOURS: i32 = 10 * 365 * 24;

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

/// What ran at a full hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AtHour {
    at: DateTime<Utc>,
    items: usize,
    jobs: usize,
}

/// What ran at each full hour after a time until another one, of the latest ones.
fn at_full_hours(mut spans: Vec<Ran<'_>>, first: DateTime<Utc>, last: DateTime<Utc>) -> Vec<AtHour> {
    let hour = Duration::hours(1);
    // One that ends before it begins, as its clock was set back, ran at no time.
    spans.retain(|ran| ran.until.is_none_or(|end| end > ran.from));
    spans.sort_unstable_by_key(|ran| ran.from);
    let mut ends: Vec<(DateTime<Utc>, &str)> = spans.iter().filter_map(|ran| Some((ran.until?, ran.job))).collect();
    ends.sort_unstable();
    let (mut begins, mut ends) = (spans.iter().peekable(), ends.into_iter().peekable());
    let (mut items, mut jobs, mut hours) = (0_usize, HashMap::<&str, usize>::new(), Vec::new());
    let mut at = floor(first.max(last - hour * MOST_HOURS), hour) + hour;
    while at <= last {
        while let Some(ran) = begins.next_if(|ran| ran.from <= at) {
            items += 1;
            *jobs.entry(ran.job).or_default() += 1;
        }
        while let Some((_, job)) = ends.next_if(|(end, _)| *end <= at) {
            items -= 1;
            if let Some(of_job) = jobs.get_mut(job) {
                *of_job -= 1;
                if *of_job == 0 {
                    jobs.remove(job);
                }
            }
        }
        hours.push(AtHour { at, items, jobs: jobs.len() });
        at += hour;
    }
    hours
}

/// How many of something ran at the full hours.
async fn running(
    visitor: &Visitor,
    parameters: &Parameters,
    count: impl Fn(AtHour) -> usize,
) -> Result<Json<Vec<Value>>, Refusal> {
    let now = Utc::now();
    let from = span(parameters, "lastWeek")?;
    let runs = runs(visitor, from).await?;
    let spans = spans(&runs.records);
    let first = from.or_else(|| spans.iter().map(|ran| ran.from).min()).unwrap_or(now);
    let row = |(id, hour): (usize, AtHour)| {
        json!({ "id": id + 1, "runningCount": count(hour), "statisticsTime": written(hour.at),
                "creationTime": written(hour.at), "truncated": runs.is_truncated_at(hour.at) })
    };
    Ok(Json(at_full_hours(spans, first, now).into_iter().enumerate().map(row).collect()))
}

pub(super) async fn running_tasks(
    visitor: Visitor,
    Query(parameters): Query<Parameters>,
) -> Result<Json<Vec<Value>>, Refusal> {
    running(&visitor, &parameters, |hour| hour.items).await
}

pub(super) async fn running_jobs(
    visitor: Visitor,
    Query(parameters): Query<Parameters>,
) -> Result<Json<Vec<Value>>, Refusal> {
    running(&visitor, &parameters, |hour| hour.jobs).await
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
    fn what_ran_at_a_full_hour_is_counted_from_the_latest_ten_years_alone() {
        let at = |minute: i64| DateTime::from_timestamp(2_000_000_000 / 3_600 * 3_600 + minute * 60, 0).unwrap();
        let ran = |job, item, from, until: Option<i64>| Ran { job, item, from: at(from), until: until.map(at) };
        let spans = || {
            vec![
                ran("a", 0, 10, Some(60)),
                ran("a", 0, 60, Some(61)),
                ran("a", 1, 59, Some(121)),
                ran("b", 0, 61, None),
                ran("b", 1, 150, Some(130)),
                ran("c", 0, 90, Some(110)),
            ]
        };
        let counts = |first: i64, last: i64| {
            let hours = at_full_hours(spans(), at(first), at(last));
            hours.into_iter().map(|hour| (hour.at, hour.items, hour.jobs)).collect::<Vec<_>>()
        };
        let hours = [(at(60), 2, 1), (at(120), 2, 2), (at(180), 1, 1)];
        assert_eq!(counts(10, 200), hours);
        assert_eq!(counts(60, 120), hours[1..2]);
        let mut wrong = spans();
        wrong.push(Ran { job: "d", item: 0, from: DateTime::from_timestamp(0, 0).unwrap(), until: None });
        let hours = at_full_hours(wrong, DateTime::from_timestamp(0, 0).unwrap(), at(180));
        assert_eq!(hours.len(), 10 * 365 * 24);
        assert_eq!(hours.last().map(|hour| (hour.at, hour.items, hour.jobs)), Some((at(180), 2, 2)));
    }

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
