//! `elasticjob why --at`: tells what became of a fire in the past.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use elasticjob::ident::{JobName, ShardingItem};
use elasticjob::operations::{Happened, Operations, PastError, PastFire};
use elasticjob::schedule::format_rfc3339;
use elasticjob::trace::{AnyTraceReader, DecisionRecord};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::table::json;
use crate::time::now;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Past<'a> {
    job: &'a JobName,
    /// The fire, in milliseconds since 1970.
    fire: i64,
    /// Whether the schedule as it is now has that fire; `null` where there is no schedule to compare with.
    in_schedule: Option<bool>,
    /// The decisions about the whole fire, and the runs and decisions of each item.
    whole: Vec<Told<'a>>,
    items: BTreeMap<ShardingItem, Vec<Told<'a>>>,
    /// What happened around it.
    around: Vec<Told<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Told<'a> {
    /// Whether it kept the fire, or the item, from being run as usual.
    obstacle: bool,
    at: i64,
    /// The name of the decision; `RUN` for a run.
    kind: &'a str,
    instance: Option<&'a str>,
    related_instance: Option<&'a str>,
    reason: &'a str,
    detail: Map<String, Value>,
    text: String,
}

impl<'a> Told<'a> {
    fn of(happened: &'a Happened, time: &dyn Fn(i64) -> String) -> Self {
        let told = |kind| Self {
            obstacle: happened.is_obstacle(),
            at: happened.at(),
            kind,
            instance: None,
            related_instance: None,
            reason: "",
            detail: Map::new(),
            text: happened.describe(time),
        };
        let decided = |record: &'a DecisionRecord| Self {
            instance: record.instance.as_deref(),
            related_instance: record.related_instance.as_deref(),
            reason: &record.reason,
            detail: record.detail.clone(),
            ..told(&record.kind)
        };
        match happened {
            Happened::Run(record) => Self {
                instance: record.instance.as_deref(),
                reason: record.failure_cause.as_deref().unwrap_or_default(),
                detail: Map::from_iter([("outcome".to_owned(), record.outcome.as_str().into())]),
                ..told("RUN")
            },
            Happened::Decided(record) | Happened::Around(record) => decided(record),
            _ => told("NOT_RECORDED"),
        }
    }
}

pub(crate) async fn past(
    operations: &Operations,
    reader: &AnyTraceReader,
    job: &JobName,
    item: Option<ShardingItem>,
    at: DateTime<Utc>,
    as_json: bool,
) -> Result<String, Failure> {
    let mut past = operations.past_fire(reader, job, at).await.map_err(|error| match error {
        PastError::Operation(error) => Failure::from(error),
        PastError::Traces(error) => Failure::from(error),
        error => Failure::Past(error),
    })?;
    if let Some(item) = item {
        past.items.retain(|of, _| *of == item);
    }
    let time = |at| format_rfc3339(at, past.time_zone);
    Ok(if as_json { json(&told(&past, &time)) } else { text(&past, &time) })
}

fn told<'a>(past: &'a PastFire, time: &dyn Fn(i64) -> String) -> Past<'a> {
    let all = |happened: &'a [Happened]| happened.iter().map(|it| Told::of(it, time)).collect();
    Past {
        job: &past.job,
        fire: past.fire,
        in_schedule: past.in_schedule,
        whole: all(&past.whole),
        items: past.items.iter().map(|(item, happened)| (*item, all(happened))).collect(),
        around: all(&past.around),
    }
}

fn text(past: &PastFire, time: &dyn Fn(i64) -> String) -> String {
    let line = |it: &Happened| format!("  {} {}\n", if it.is_obstacle() { '!' } else { '-' }, it.describe(time));
    let lines = |happened: &[Happened]| happened.iter().map(line).collect::<String>();
    let mut text = format!("job {}, fire of {}\n", past.job, time(past.fire));
    if past.in_schedule == Some(false) {
        text.push_str("  - the schedule as it is now has no fire at that time, or within a minute after it\n");
    }
    text.push_str(&lines(&past.whole));
    if past.fire > now() {
        text.push_str("  - its time is to come\n");
    } else if past.is_unrecorded() {
        text.push_str(
            "  ! no run and no decision is recorded for it: no instance of the job was there, the job was not traced, or its \
             rows were removed\n",
        );
    }
    if past.is_cut {
        text.push_str("  - it has more runs or decisions than are read: these are the newest ones\n");
    }
    text.extend(past.items.iter().map(|(item, happened)| format!("item {item}\n{}", lines(happened))));
    if !past.around.is_empty() {
        text.push_str("around it\n");
        text.push_str(&lines(&past.around));
    }
    text
}
