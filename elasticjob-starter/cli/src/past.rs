//! `elasticjob why --at`: explains what became of a fire in the past, from what was traced.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use elasticjob::config::JobConfiguration;
use elasticjob::ident::{JobName, ShardingItem};
use elasticjob::operations::{OperationError, Operations};
use elasticjob::schedule::{Schedule, TimeZone, format_rfc3339};
use elasticjob::trace::{
    AnyTraceReader, DecisionFilter, DecisionKind, DecisionRecord, ExecutionFilter, ExecutionOutcome, ExecutionRecord,
    Page, PageRequest, ReadError, TraceReader,
};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::table::json;

/// How far a given time may be from the fire that is meant.
const NEAR: i64 = 60_000;

/// How many decisions before the fire are shown, and for how long after it.
const BEFORE: u32 = 5;
const AFTER: TimeDelta = TimeDelta::minutes(5);

/// A run may begin before the scheduled time by a clock that is ahead, and late by this much.
const AHEAD: TimeDelta = TimeDelta::hours(1);
const LATE: TimeDelta = TimeDelta::days(2);

/// Java instances do not write the scheduled time, nor do rows have it where the table lacks the column: such runs are shown
/// that start so soon after the fire.
const SOON: TimeDelta = TimeDelta::minutes(1);

/// The decisions that are about the group and not about one fire.
const AROUND: [DecisionKind; 17] = [
    DecisionKind::Operator,
    DecisionKind::Registered,
    DecisionKind::Left,
    DecisionKind::Elected,
    DecisionKind::Abdicated,
    DecisionKind::Resharded,
    DecisionKind::StrategyFailed,
    DecisionKind::ClockOff,
    DecisionKind::ClockRight,
    DecisionKind::RegistryLost,
    DecisionKind::RegistryBack,
    DecisionKind::ConfigurationChanged,
    DecisionKind::ConfigurationRefused,
    DecisionKind::ConfigurationDiffers,
    DecisionKind::RunsCancelled,
    DecisionKind::RunsAbandoned,
    DecisionKind::TriggerDropped,
];

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Past<'a> {
    job: &'a JobName,
    /// The fire, in milliseconds since 1970.
    fire: i64,
    /// Whether the schedule as it is now has that fire; `null` where there is no schedule to compare with.
    in_schedule: Option<bool>,
    /// The runs and decisions of the fire, by item; those about the whole fire have no item.
    whole: Vec<Told>,
    items: BTreeMap<ShardingItem, Vec<Told>>,
    /// What happened around it.
    around: Vec<Told>,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct Told {
    /// Whether it kept the fire, or the item, from being run as usual.
    obstacle: bool,
    at: i64,
    /// The name of the decision; `RUN` for a run.
    kind: String,
    instance: Option<String>,
    related_instance: Option<String>,
    reason: String,
    detail: Map<String, Value>,
    text: String,
}

pub(crate) async fn past(
    operations: &Operations,
    reader: &AnyTraceReader,
    job: &JobName,
    item: Option<ShardingItem>,
    at: DateTime<Utc>,
    as_json: bool,
) -> Result<String, Failure> {
    let configuration = configuration(operations, job).await?;
    let schedule = configuration.as_ref().and_then(JobConfiguration::schedule);
    let zone = schedule.map_or_else(|| TimeZone::local().unwrap_or(TimeZone::UTC), Schedule::time_zone);
    let time = |at| format_rfc3339(at, zone);
    let near = schedule.map(|schedule| fire_near(schedule, at.timestamp_millis()));
    let fire = near.flatten().and_then(DateTime::from_timestamp_millis).unwrap_or(at);

    let mut past = Past {
        job,
        fire: fire.timestamp_millis(),
        in_schedule: near.map(|near| near.is_some()),
        whole: Vec::new(),
        items: BTreeMap::new(),
        around: Vec::new(),
    };
    for record in runs(reader, job, fire).await? {
        past.items.entry(record.sharding_item).or_default().push(run(&record, &time));
    }
    for record in decisions_of(reader, job, fire).await? {
        let told = decision(&record, true, &time);
        match &record.sharding_items[..] {
            [] => past.whole.push(told),
            items => items.iter().for_each(|item| past.items.entry(*item).or_default().push(told.clone())),
        }
    }
    if past.whole.is_empty() && !past.items.is_empty() {
        let total = configuration.as_ref().map_or(0, JobConfiguration::sharding_total_count);
        for item in (0..total).filter(|item| !past.items.contains_key(item)).collect::<Vec<_>>() {
            past.items.insert(item, vec![not_recorded(past.fire)]);
        }
    }
    if let Some(item) = item {
        past.items.retain(|of, _| *of == item);
    }
    past.whole.sort_by_key(|told| told.at);
    past.items.values_mut().for_each(|told| told.sort_by_key(|told| told.at));
    past.around = around(reader, job, fire).await?.iter().map(|record| decision(record, false, &time)).collect();
    Ok(if as_json { json(&past) } else { text(&past, &time) })
}

/// The configuration as it is now; `None` where the job has none, or is gone.
async fn configuration(operations: &Operations, job: &JobName) -> Result<Option<JobConfiguration>, Failure> {
    match operations.configuration(job).await {
        Ok(stored) => Ok(Some(stored.configuration)),
        Err(
            OperationError::NoSuchJob { .. }
            | OperationError::NoConfiguration { .. }
            | OperationError::Unreadable { .. },
        ) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The fire at a time, or the first one soon after it.
fn fire_near(schedule: &Schedule, at: i64) -> Option<i64> {
    schedule.next_after(at - 1).filter(|fire| fire - at < NEAR)
}

async fn runs(reader: &AnyTraceReader, job: &JobName, fire: DateTime<Utc>) -> Result<Vec<ExecutionRecord>, Failure> {
    let mut filter = ExecutionFilter::of_job(job.clone());
    (filter.scheduled_at, filter.from, filter.until) = (Some(fire), Some(fire - AHEAD), Some(fire + LATE));
    let mut runs = match all_runs(reader, &filter).await {
        Ok(runs) => runs,
        // A table of Java alone.
        Err(ReadError::NoColumn { .. }) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    let mut filter = ExecutionFilter::of_job(job.clone());
    (filter.from, filter.until) = (Some(fire), Some(fire + SOON));
    let unsaid = all_runs(reader, &filter).await?.into_iter();
    runs.extend(unsaid.filter(|record| record.scheduled_at.is_none()));
    Ok(runs)
}

async fn all_runs(reader: &AnyTraceReader, filter: &ExecutionFilter) -> Result<Vec<ExecutionRecord>, ReadError> {
    all(|page| async move { reader.executions(filter, &page).await }).await
}

/// The records of all pages.
async fn all<T, P>(read: impl Fn(PageRequest) -> P) -> Result<Vec<T>, ReadError>
where
    P: Future<Output = Result<Page<T>, ReadError>>,
{
    let whole = PageRequest::default().limit(u32::MAX);
    let (mut records, mut request) = (Vec::new(), whole.clone());
    loop {
        let page = read(request).await?;
        records.extend(page.records);
        match page.next {
            Some(next) => request = whole.clone().after(next),
            None => return Ok(records),
        }
    }
}

async fn decisions_of(
    reader: &AnyTraceReader,
    job: &JobName,
    fire: DateTime<Utc>,
) -> Result<Vec<DecisionRecord>, Failure> {
    let mut filter = DecisionFilter::of_job(job.clone());
    filter.fire = Some(fire);
    let filter = &filter;
    recorded(all(|page| async move { reader.decisions(filter, &page).await }).await)
}

/// Decisions, where they are recorded: the tables of Java, or an account that may not create tables, have none.
fn recorded(decisions: Result<Vec<DecisionRecord>, ReadError>) -> Result<Vec<DecisionRecord>, Failure> {
    match decisions {
        Err(ReadError::NoTable { .. }) => Ok(Vec::new()),
        decisions => Ok(decisions?),
    }
}

async fn first_decisions(
    reader: &AnyTraceReader,
    filter: &DecisionFilter,
    most: u32,
) -> Result<Vec<DecisionRecord>, Failure> {
    let page = reader.decisions(filter, &PageRequest::default().limit(most)).await;
    recorded(page.map(|page| page.records))
}

async fn around(reader: &AnyTraceReader, job: &JobName, fire: DateTime<Utc>) -> Result<Vec<DecisionRecord>, Failure> {
    let mut filter = DecisionFilter::of_job(job.clone());
    filter.kinds = AROUND.to_vec();
    filter.until = Some(fire);
    let mut found = first_decisions(reader, &filter, BEFORE).await?;
    (filter.from, filter.until) = (Some(fire), Some(fire + AFTER));
    found.extend(first_decisions(reader, &filter, u32::MAX).await?);
    found.sort_by_key(|record| record.at);
    Ok(found)
}

/// The entry of an item without a record, where other items of the fire were run.
fn not_recorded(fire: i64) -> Told {
    Told {
        obstacle: true,
        at: fire,
        kind: "NOT_RECORDED".to_owned(),
        instance: None,
        related_instance: None,
        reason: String::new(),
        detail: Map::new(),
        text: "no run and no decision is recorded for this item: the instance that owned it may have died before it could \
               record anything"
            .to_owned(),
    }
}

fn run(record: &ExecutionRecord, time: &dyn Fn(i64) -> String) -> Told {
    let how = match record.outcome {
        ExecutionOutcome::Succeeded => "succeeded",
        ExecutionOutcome::Failed => "failed",
        ExecutionOutcome::NoEnd => "no end is recorded: it runs, or its process was killed",
    };
    let took = record.complete_time.map(|end| format!(" after {} ms", (end - record.start_time).num_milliseconds()));
    let cause = record.failure_cause.as_deref().map(|cause| format!(": {cause}")).unwrap_or_default();
    let alone = if record.scheduled_at.is_none() { " (by its time alone: its fire is not recorded)" } else { "" };
    let on = record.instance.as_deref().unwrap_or(&record.ip);
    let started = record.start_time.timestamp_millis();
    Told {
        obstacle: false,
        at: started,
        kind: "RUN".to_owned(),
        instance: record.instance.clone(),
        related_instance: None,
        reason: record.failure_cause.clone().unwrap_or_default(),
        detail: Map::from_iter([("outcome".to_owned(), record.outcome.as_str().into())]),
        text: format!(
            "{} on {on} at {}, {how}{}{cause}{alone}",
            record.source,
            time(started),
            took.unwrap_or_default()
        ),
    }
}

fn decision(record: &DecisionRecord, of_fire: bool, time: &dyn Fn(i64) -> String) -> Told {
    let at = record.at.timestamp_millis();
    // The text of an action names its operator.
    let who = record.instance.as_deref().map(|instance| format!("{instance}: ")).unwrap_or_default();
    let items = if record.sharding_items.is_empty() || of_fire {
        String::new()
    } else {
        format!("items {:?}: ", record.sharding_items)
    };
    let helps = ["BEGUN_LATE", "TAKEN_OVER", "TRIGGER_HANDED_OVER"];
    Told {
        obstacle: of_fire && !helps.contains(&record.kind.as_str()),
        at,
        kind: record.kind.clone(),
        instance: record.instance.clone(),
        related_instance: record.related_instance.clone(),
        reason: record.reason.clone(),
        detail: record.detail.clone(),
        text: format!("{} {who}{items}{}", time(at), record.describe(time)),
    }
}

fn text(past: &Past<'_>, time: &dyn Fn(i64) -> String) -> String {
    let lines = |told: &[Told]| -> String {
        told.iter().map(|told| format!("  {} {}\n", if told.obstacle { '!' } else { '-' }, told.text)).collect()
    };
    let mut text = format!("job {}, fire of {}\n", past.job, time(past.fire));
    if past.in_schedule == Some(false) {
        text.push_str("  - the schedule as it is now has no fire at that time, or within a minute after it\n");
    }
    text.push_str(&lines(&past.whole));
    if past.whole.is_empty() && past.items.is_empty() {
        text.push_str(
            "  ! no run and no decision is recorded for it: no instance of the job was there, the job was not traced, or its \
             rows were removed\n",
        );
    }
    text.extend(past.items.iter().map(|(item, told)| format!("item {item}\n{}", lines(told))));
    if !past.around.is_empty() {
        text.push_str("around it\n");
        text.push_str(&lines(&past.around));
    }
    text
}
