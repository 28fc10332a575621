//! `elasticjob log`: what a job logged in its runs, from the database that it is traced to.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use elasticjob::ident::JobName;
use elasticjob::schedule::{TimeZone, format_rfc3339};
use elasticjob::trace::{
    AnyTraceReader, ExecutionFilter, ExecutionOutcome, ExecutionRecord, LogFilter, LogRecord, PageRequest, ReadError,
    TraceReader,
};
use elasticjob_starter::settings::Sources;
use serde::Serialize;

use crate::Console;
use crate::args::{Log, Registry};
use crate::failure::Failure;
use crate::table::json;
use crate::traces;

/// How many lines are read at a time.
const STEP: u32 = 5_000;

/// The most runs of one fire.
const RUNS: u32 = 1_000;

/// A fire is at the time that is asked for, or less than this after it.
const NEAR: TimeDelta = TimeDelta::minutes(1);

/// How often further lines are looked for.
const PAUSE: Duration = Duration::from_secs(1);

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Told<'a> {
    job: &'a JobName,
    runs: Vec<Run<'a>>,
}

/// Times are in milliseconds since 1970.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'a> {
    id: &'a str,
    item: u32,
    source: &'a str,
    outcome: &'static str,
    scheduled_at: Option<i64>,
    started_at: i64,
    ended_at: Option<i64>,
    instance: Option<&'a str>,
    failure_cause: Option<&'a str>,
    lines: Vec<Line<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    item: u32,
    line: u32,
    at: i64,
    level: &'a str,
    target: &'a str,
    message: &'a str,
    left_out: u32,
}

impl<'a> Line<'a> {
    fn of(item: u32, record: &'a LogRecord) -> Self {
        Self {
            item,
            line: record.line,
            at: record.at.timestamp_millis(),
            level: &record.level,
            target: &record.target,
            message: &record.message,
            left_out: record.left_out,
        }
    }
}

pub(crate) async fn log(
    wanted: &Log,
    flags: &Registry,
    sources: &Sources,
    as_json: bool,
    console: &mut Console<'_>,
) -> Result<String, Failure> {
    let reader = traces::open(flags, sources, console).await?;
    of(wanted, &reader, as_json, console).await
}

pub(crate) async fn of(
    wanted: &Log,
    reader: &AnyTraceReader,
    as_json: bool,
    console: &mut Console<'_>,
) -> Result<String, Failure> {
    let zone = TimeZone::local().unwrap_or(TimeZone::UTC);
    let runs = runs(wanted, reader).await?;
    if runs.is_empty() {
        return Err(Failure::NoRun { job: wanted.job.to_string(), at: wanted.at.map(|at| rfc3339(at, zone)) });
    }
    if wanted.follow {
        return follow(wanted, reader, runs, zone, as_json, console).await;
    }
    let mut logs = Vec::new();
    for run in &runs {
        logs.push(lines(wanted, reader, &run.id, 0).await?);
    }
    if logs.iter().all(Vec::is_empty) && wanted.level.is_none() && wanted.contains.is_none() {
        let _ = writeln!(
            console.stderr,
            "note: no line of it is kept: the job logged none, or elasticjob.tracing.run-log.enabled is not set in its program"
        );
    }
    Ok(match as_json {
        true => told(&wanted.job, &runs, &logs),
        false => runs.iter().zip(&logs).map(|(run, log)| text(run, log, zone)).collect(),
    })
}

/// The runs of the fire that is meant, by item and start.
async fn runs(wanted: &Log, reader: &AnyTraceReader) -> Result<Vec<ExecutionRecord>, Failure> {
    let mut of_job = ExecutionFilter::of_job(wanted.job.clone());
    of_job.item = wanted.item;
    let request = PageRequest::default().limit(RUNS);
    let mut found = match wanted.at {
        None => reader.executions(&of_job, &PageRequest::default().limit(1)).await?.records.pop(),
        Some(at) => {
            let mut exact = of_job.clone();
            exact.scheduled_at = Some(at);
            // Before any instance of this implementation traced, there is no column to look into.
            let found = match reader.executions(&exact, &PageRequest::default().limit(1)).await {
                Err(ReadError::NoColumn { .. }) => None,
                found => found?.records.pop(),
            };
            let mut near = of_job.clone();
            (near.from, near.until) = (Some(at), at.checked_add_signed(NEAR));
            match found {
                Some(found) => Some(found),
                None => reader.executions(&near, &request).await?.records.pop(),
            }
        }
    };
    let Some(one) = found.take() else { return Ok(Vec::new()) };
    let mut of_fire = of_job;
    match (one.scheduled_at, &one.run_id) {
        (Some(at), _) => of_fire.scheduled_at = Some(at),
        (None, Some(run)) => of_fire.run_id = Some(run.clone()),
        // A Java instance: its runs have nothing in common that is recorded, and no log.
        (None, None) => return Ok(vec![one]),
    }
    let mut runs = reader.executions(&of_fire, &request).await?.records;
    runs.sort_by_key(|run| (run.sharding_item, run.start_time));
    Ok(runs)
}

/// The lines after one.
async fn lines(wanted: &Log, reader: &AnyTraceReader, run: &str, after: u32) -> Result<Vec<LogRecord>, Failure> {
    let mut filter = LogFilter::of_run(wanted.job.clone(), run);
    (filter.after, filter.level, filter.contains) = (after, wanted.level, wanted.contains.clone());
    let mut all = Vec::new();
    loop {
        let found = match reader.log(&filter, STEP).await {
            // No log of a run was ever kept.
            Err(ReadError::NoTable { .. }) => Vec::new(),
            found => found?,
        };
        let is_last = found.len() < STEP as usize;
        all.extend(found);
        match all.last() {
            Some(last) if !is_last => filter.after = last.line,
            _ => return Ok(all),
        }
    }
}

/// Writes lines as they come, until all runs are over, Ctrl-C, or the output is closed.
async fn follow(
    wanted: &Log,
    reader: &AnyTraceReader,
    mut runs: Vec<ExecutionRecord>,
    zone: TimeZone,
    as_json: bool,
    console: &mut Console<'_>,
) -> Result<String, Failure> {
    let mut last: BTreeMap<String, u32> = BTreeMap::new();
    let follow = async {
        loop {
            // An end is written after the last line: what is read now has all lines of a run that is over.
            let is_over = runs.iter().all(|run| run.outcome != ExecutionOutcome::NoEnd);
            let mut text = String::new();
            for run in &runs {
                let seen = last.entry(run.id.clone()).or_default();
                for record in lines(wanted, reader, &run.id, *seen).await? {
                    *seen = record.line;
                    let line = Line::of(run.sharding_item, &record);
                    match as_json {
                        true => text += &(serde_json::to_string(&line).unwrap_or_default() + "\n"),
                        false => shown(&record, zone, &format!("{}| ", run.sharding_item), &mut text),
                    }
                }
            }
            if console.stdout.write_all(crate::shown(&text).as_bytes()).and_then(|()| console.stdout.flush()).is_err()
                || is_over
            {
                return Ok(String::new());
            }
            tokio::time::sleep(PAUSE).await;
            runs = self::runs(wanted, reader).await?;
        }
    };
    tokio::select! {
        ended = follow => ended,
        signal = tokio::signal::ctrl_c() => match signal {
            Ok(()) => Ok(String::new()),
            Err(error) => Err(Failure::Watch(error.to_string())),
        },
    }
}

fn told(job: &JobName, runs: &[ExecutionRecord], logs: &[Vec<LogRecord>]) -> String {
    let runs = runs.iter().zip(logs).map(|(run, log)| Run {
        id: &run.id,
        item: run.sharding_item,
        source: &run.source,
        outcome: run.outcome.as_str(),
        scheduled_at: run.scheduled_at.map(|at| at.timestamp_millis()),
        started_at: run.start_time.timestamp_millis(),
        ended_at: run.complete_time.map(|at| at.timestamp_millis()),
        instance: run.instance.as_deref(),
        failure_cause: run.failure_cause.as_deref(),
        lines: log.iter().map(|record| Line::of(run.sharding_item, record)).collect(),
    });
    json(&Told { job, runs: runs.collect() })
}

fn text(run: &ExecutionRecord, log: &[LogRecord], zone: TimeZone) -> String {
    let on = run.instance.as_deref().unwrap_or(&run.ip);
    let mut text =
        format!("item {}: {} on {on}, began {}", run.sharding_item, run.source, rfc3339(run.start_time, zone));
    if let Some(end) = run.complete_time {
        let how = if run.outcome == ExecutionOutcome::Succeeded { "succeeded" } else { "failed" };
        text += &format!(", {how} after {} ms", (end - run.start_time).num_milliseconds());
    }
    text.push('\n');
    log.iter().for_each(|record| shown(record, zone, "  ", &mut text));
    text
}

/// A line, and before it how many are missing. What it continues with is indented, so that it is not taken for another one.
fn shown(record: &LogRecord, zone: TimeZone, before: &str, text: &mut String) {
    if record.left_out > 0 {
        *text += &format!("{before}... {} lines left out\n", record.left_out);
    }
    if !record.is_gap() {
        let message = record.message.replace('\n', &format!("\n{before}    "));
        *text += &format!("{before}{} {:5} {}: {message}\n", rfc3339(record.at, zone), record.level, record.target);
    }
}

fn rfc3339(at: DateTime<Utc>, zone: TimeZone) -> String {
    format_rfc3339(at.timestamp_millis(), zone)
}
