//! `elasticjob history`: the runs of a job or of all, as they were traced to a database.

use chrono::{DateTime, Utc};
use elasticjob::ident::JobName;
use elasticjob::schedule::{TimeZone, format_rfc3339};
use elasticjob::trace::{
    AnyTraceReader, Cursor, ExecutionFilter, ExecutionOutcome, ExecutionRecord, Page, TraceReader,
};
use serde::Serialize;

use crate::Console;
use crate::args::History;
use crate::failure::Failure;
use crate::table::{Table, json};
use crate::traces;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Told<'a> {
    /// `null` where the runs of all jobs are asked for.
    job: Option<&'a JobName>,
    executions: Vec<Execution<'a>>,
    /// The cursor of the next page.
    next: Option<String>,
}

/// Times are in milliseconds since 1970.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Execution<'a> {
    id: &'a str,
    job: &'a str,
    item: u32,
    source: &'a str,
    outcome: &'static str,
    scheduled_at: Option<i64>,
    started_at: i64,
    ended_at: Option<i64>,
    instance: Option<&'a str>,
    ip: &'a str,
    hostname: &'a str,
    task_id: &'a str,
    run_id: Option<&'a str>,
    attempt: Option<&'a str>,
    failure_cause: Option<&'a str>,
}

pub(crate) async fn history(
    wanted: &History,
    reader: &AnyTraceReader,
    as_json: bool,
    console: &mut Console<'_>,
) -> Result<String, Failure> {
    let mut filter = ExecutionFilter::default();
    (filter.job, filter.item) = (wanted.job.clone(), wanted.item);
    filter.instance = wanted.instance.clone();
    filter.outcome = wanted.failed.then_some(ExecutionOutcome::Failed);
    filter.source = wanted.source.map(Into::into);
    (filter.from, filter.until) = (wanted.part.from, wanted.part.until);
    let page = reader.executions(&filter, &wanted.part.page()).await?;
    let zone = TimeZone::local().unwrap_or(TimeZone::UTC);
    if as_json { Ok(as_told(wanted.job.as_ref(), &page)) } else { Ok(text(wanted.job.is_none(), &page, zone, console)) }
}

fn as_told(job: Option<&JobName>, page: &Page<ExecutionRecord>) -> String {
    let executions = page.records.iter().map(|record| Execution {
        id: &record.id,
        job: &record.job_name,
        item: record.sharding_item,
        source: &record.source,
        outcome: record.outcome.as_str(),
        scheduled_at: record.scheduled_at.map(|at| at.timestamp_millis()),
        started_at: record.start_time.timestamp_millis(),
        ended_at: record.complete_time.map(|at| at.timestamp_millis()),
        instance: record.instance.as_deref(),
        ip: &record.ip,
        hostname: &record.hostname,
        task_id: &record.task_id,
        run_id: record.run_id.as_deref(),
        attempt: record.attempt.as_deref(),
        failure_cause: record.failure_cause.as_deref(),
    });
    json(&Told { job, executions: executions.collect(), next: page.next.as_ref().map(Cursor::to_string) })
}

fn text(has_jobs: bool, page: &Page<ExecutionRecord>, zone: TimeZone, console: &mut Console<'_>) -> String {
    let time = |at: DateTime<Utc>| format_rfc3339(at.timestamp_millis(), zone);
    let columns = ["STARTED", "SCHEDULED", "ITEM", "SOURCE", "OUTCOME", "TOOK", "INSTANCE", "CAUSE"];
    // Of one job each line would say the same.
    let of_job = has_jobs.then_some("JOB");
    let mut table = Table::new(of_job.into_iter().chain(columns));
    for record in &page.records {
        let took = record.complete_time.map(|end| format!("{} ms", (end - record.start_time).num_milliseconds()));
        let job = has_jobs.then(|| record.job_name.clone());
        let cells = [
            time(record.start_time),
            record.scheduled_at.map(time).unwrap_or_default(),
            record.sharding_item.to_string(),
            record.source.clone(),
            record.outcome.as_str().to_owned(),
            took.unwrap_or_default(),
            record.instance.clone().unwrap_or_else(|| record.ip.clone()),
            record.failure_cause.clone().unwrap_or_default(),
        ];
        table.row(job.into_iter().chain(cells));
    }
    traces::note_rest(page.records.len(), page.next.as_ref(), "runs", console);
    table.into_text()
}
