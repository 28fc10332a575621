//! `elasticjob states`: the changes of state of runs, as they were traced to a database.

use elasticjob::schedule::{TimeZone, format_rfc3339};
use elasticjob::trace::{AnyTraceReader, Cursor, Page, StateFilter, StateRecord, TraceReader};
use serde::Serialize;

use crate::Console;
use crate::args::States;
use crate::failure::Failure;
use crate::table::{Table, json};
use crate::traces;

#[derive(Serialize)]
struct Told<'a> {
    states: Vec<State<'a>>,
    /// The cursor of the next page.
    next: Option<String>,
}

/// Times are in milliseconds since 1970.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct State<'a> {
    id: &'a str,
    job: &'a str,
    at: i64,
    state: &'a str,
    /// As they were written: `[0, 1]`.
    items: &'a str,
    execution_type: &'a str,
    scheduled_at: Option<i64>,
    instance: Option<&'a str>,
    ip: &'a str,
    message: &'a str,
    task_id: &'a str,
    run_id: Option<&'a str>,
    attempt: Option<&'a str>,
}

pub(crate) async fn states(
    wanted: &States,
    reader: &AnyTraceReader,
    as_json: bool,
    console: &mut Console<'_>,
) -> Result<String, Failure> {
    let mut filter = StateFilter::default();
    (filter.job, filter.instance) = (wanted.job.clone(), wanted.instance.clone());
    (filter.from, filter.until) = (wanted.part.from, wanted.part.until);
    filter.state = wanted.state.map(Into::into);
    let page = reader.states(&filter, &wanted.part.page()).await?;
    Ok(if as_json { told(&page) } else { text(&page, console) })
}

fn told(page: &Page<StateRecord>) -> String {
    let states = page.records.iter().map(|record| State {
        id: &record.id,
        job: &record.job_name,
        at: record.creation_time.timestamp_millis(),
        state: &record.state,
        items: &record.sharding_items,
        execution_type: &record.execution_type,
        scheduled_at: record.scheduled_at.map(|at| at.timestamp_millis()),
        instance: record.instance.as_deref(),
        ip: &record.ip,
        message: &record.message,
        task_id: &record.task_id,
        run_id: record.run_id.as_deref(),
        attempt: record.attempt.as_deref(),
    });
    json(&Told { states: states.collect(), next: page.next.as_ref().map(Cursor::to_string) })
}

fn text(page: &Page<StateRecord>, console: &mut Console<'_>) -> String {
    let zone = TimeZone::local().unwrap_or(TimeZone::UTC);
    let mut table = Table::new(["TIME", "JOB", "ITEMS", "STATE", "TYPE", "INSTANCE", "MESSAGE"]);
    for record in &page.records {
        table.row([
            format_rfc3339(record.creation_time.timestamp_millis(), zone),
            record.job_name.clone(),
            record.sharding_items.clone(),
            record.state.clone(),
            record.execution_type.clone(),
            record.instance.clone().unwrap_or_else(|| record.ip.clone()),
            record.message.clone(),
        ]);
    }
    traces::note_rest(page.records.len(), page.next.as_ref(), "states", console);
    table.into_text()
}
