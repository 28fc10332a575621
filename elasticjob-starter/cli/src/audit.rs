//! `elasticjob audit`: what operators did or tried to do, as the decision log of a database has it.

use elasticjob::schedule::{TimeZone, format_rfc3339};
use elasticjob::trace::{
    AnyTraceReader, Cursor, DecisionFilter, DecisionKind, DecisionRecord, OperatorAction, PageRequest, TraceReader,
};
use serde::Serialize;

use crate::Console;
use crate::args::Actions;
use crate::failure::Failure;
use crate::table::{Table, json};
use crate::traces;

#[derive(Serialize)]
struct Told<'a> {
    actions: Vec<Action<'a>>,
    /// The cursor of the next page.
    next: Option<String>,
}

/// Times are in milliseconds since 1970.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Action<'a> {
    id: &'a str,
    job: &'a str,
    at: i64,
    who: &'a str,
    action: &'a str,
    items: &'a [u32],
    outcome: &'a str,
    parts: Vec<&'a str>,
    before: Option<&'a str>,
    after: Option<&'a str>,
    reason: &'a str,
    error: Option<&'a str>,
    surface: Option<&'a str>,
    address: Option<&'a str>,
    request_id: Option<&'a str>,
}

pub(crate) async fn actions(
    wanted: &Actions,
    reader: &AnyTraceReader,
    as_json: bool,
    console: &mut Console<'_>,
) -> Result<String, Failure> {
    let (records, next) = read(wanted, reader).await?;
    Ok(if as_json { told(&records, next.as_ref()) } else { text(&records, next.as_ref(), console) })
}

/// The actions that are asked for, and where the next page begins. The database does not look into a record for the operator and
/// the action: pages are read until enough are found.
async fn read(wanted: &Actions, reader: &AnyTraceReader) -> Result<(Vec<DecisionRecord>, Option<Cursor>), Failure> {
    let mut filter = DecisionFilter::default();
    (filter.job, filter.item) = (wanted.job.clone(), wanted.item);
    (filter.from, filter.until) = (wanted.part.from, wanted.part.until);
    filter.kinds = vec![DecisionKind::Operator];
    let (mut records, mut cursor) = (Vec::new(), wanted.part.after.clone());
    loop {
        let missing = wanted.part.limit - u32::try_from(records.len()).unwrap_or(wanted.part.limit);
        let page = reader.decisions(&filter, &PageRequest::default().limit(missing).after(cursor)).await?;
        let is_wanted = |record: &DecisionRecord| OperatorAction::of(record).is_of(&wanted.who, &wanted.what);
        records.extend(page.records.into_iter().filter(is_wanted));
        cursor = page.next;
        if cursor.is_none() || records.len() >= wanted.part.limit as usize {
            return Ok((records, cursor));
        }
    }
}

fn told(records: &[DecisionRecord], next: Option<&Cursor>) -> String {
    let actions = records.iter().map(|record| {
        let action = OperatorAction::of(record);
        Action {
            id: &record.id,
            job: &record.job_name,
            at: record.at.timestamp_millis(),
            who: action.actor(),
            action: action.name(),
            items: &record.sharding_items,
            outcome: action.outcome(),
            parts: action.parts(),
            before: action.states().map(|(before, _)| before),
            after: action.states().map(|(_, after)| after),
            reason: &record.reason,
            error: action.error(),
            surface: action.surface(),
            address: action.address(),
            request_id: action.request(),
        }
    });
    json(&Told { actions: actions.collect(), next: next.map(Cursor::to_string) })
}

fn text(records: &[DecisionRecord], next: Option<&Cursor>, console: &mut Console<'_>) -> String {
    let zone = TimeZone::local().unwrap_or(TimeZone::UTC);
    let mut table = Table::new(["TIME", "WHO", "FROM", "ACTION", "JOB", "OUTCOME", "CHANGED", "REASON", "ERROR"]);
    for record in records {
        let action = OperatorAction::of(record);
        let states = action.states().map(|(before, after)| format!("{before} -> {after}"));
        let changed: Vec<String> = action.parts().into_iter().map(str::to_owned).chain(states).collect();
        table.row([
            format_rfc3339(record.at.timestamp_millis(), zone),
            action.actor().to_owned(),
            [action.surface(), action.address()].into_iter().flatten().collect::<Vec<_>>().join(" "),
            action.name().to_owned(),
            record.job_name.clone(),
            action.outcome().to_owned(),
            changed.join(", "),
            record.reason.clone(),
            action.error().unwrap_or_default().to_owned(),
        ]);
    }
    traces::note_rest(records.len(), next, "actions", console);
    table.into_text()
}
