//! `elasticjob decisions`: what was decided besides normal runs, as it was traced to a database.

use elasticjob::schedule::{TimeZone, format_rfc3339};
use elasticjob::trace::{AnyTraceReader, Cursor, DecisionFilter, DecisionRecord, Page, TraceReader};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::Console;
use crate::args::Decisions;
use crate::failure::Failure;
use crate::table::{Table, json};
use crate::traces;

#[derive(Serialize)]
struct Told<'a> {
    decisions: Vec<Decision<'a>>,
    /// The cursor of the next page.
    next: Option<String>,
}

/// Times are in milliseconds since 1970.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Decision<'a> {
    id: &'a str,
    job: &'a str,
    at: i64,
    kind: &'a str,
    items: &'a [u32],
    scheduled_at: Option<i64>,
    scheduled_until: Option<i64>,
    instance: Option<&'a str>,
    related_instance: Option<&'a str>,
    reason: &'a str,
    detail: &'a Map<String, Value>,
    text: String,
}

pub(crate) async fn decisions(
    wanted: &Decisions,
    reader: &AnyTraceReader,
    as_json: bool,
    console: &mut Console<'_>,
) -> Result<String, Failure> {
    let mut filter = DecisionFilter::default();
    (filter.job, filter.item, filter.instance) = (wanted.job.clone(), wanted.item, wanted.instance.clone());
    (filter.from, filter.until) = (wanted.part.from, wanted.part.until);
    filter.kinds = wanted.kind.clone();
    let page = reader.decisions(&filter, &wanted.part.page()).await?;
    let zone = TimeZone::local().unwrap_or(TimeZone::UTC);
    let time = |at: i64| format_rfc3339(at, zone);
    Ok(if as_json { told(&page, &time) } else { text(&page, &time, console) })
}

fn told(page: &Page<DecisionRecord>, time: &dyn Fn(i64) -> String) -> String {
    let decisions = page.records.iter().map(|record| Decision {
        id: &record.id,
        job: &record.job_name,
        at: record.at.timestamp_millis(),
        kind: &record.kind,
        items: &record.sharding_items,
        scheduled_at: record.scheduled_at.map(|at| at.timestamp_millis()),
        scheduled_until: record.scheduled_until.map(|at| at.timestamp_millis()),
        instance: record.instance.as_deref(),
        related_instance: record.related_instance.as_deref(),
        reason: &record.reason,
        detail: &record.detail,
        text: record.describe(time),
    });
    json(&Told { decisions: decisions.collect(), next: page.next.as_ref().map(Cursor::to_string) })
}

fn text(page: &Page<DecisionRecord>, time: &dyn Fn(i64) -> String, console: &mut Console<'_>) -> String {
    let mut table = Table::new(["TIME", "JOB", "KIND", "ITEMS", "FIRE", "INSTANCE", "DECISION"]);
    for record in &page.records {
        let items: Vec<String> = record.sharding_items.iter().map(ToString::to_string).collect();
        table.row([
            time(record.at.timestamp_millis()),
            record.job_name.clone(),
            record.kind.clone(),
            items.join(","),
            record.scheduled_at.map(|at| time(at.timestamp_millis())).unwrap_or_default(),
            record.instance.clone().unwrap_or_default(),
            record.describe(time),
        ]);
    }
    traces::note_rest(page.records.len(), page.next.as_ref(), "decisions", console);
    table.into_text()
}
