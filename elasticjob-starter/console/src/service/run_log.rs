//! The log of the run of an item.

use elasticjob::ident::JobName;
use elasticjob::operations::JobSnapshot;
use elasticjob::trace::{
    ExecutionFilter, ExecutionRecord, LogFilter, LogLevel, LogRecord, PageRequest, ReadError, TraceReader,
};
use serde::Deserialize;
use utoipa::IntoParams;

use super::fires::{FireId, Live, Run, RunState, fires};
use crate::api::Problem;
use crate::here::Here;
use crate::texts;

/// The most lines of one answer, and how many they are unless it is said.
const MOST: u32 = 5_000;
const USUALLY: u32 = 1_000;

/// The longest text that is looked for.
const LONGEST_TEXT: usize = 200;

/// Which lines are asked for. What is empty asks for everything.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub(crate) struct LogQuery {
    /// Lines after the one with this number.
    pub(crate) after: u32,
    /// `ERROR`, `WARN`, `INFO`, `DEBUG` or `TRACE`: lines that matter less are left out.
    pub(crate) level: String,
    /// A part of the line.
    pub(crate) q: String,
    pub(crate) limit: Option<u32>,
    /// `text` for a file.
    pub(crate) format: String,
}

impl LogQuery {
    /// The query of an address, for the lines after that one.
    pub(crate) fn after(&self, line: u32) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("after", &line.to_string());
        for (name, value) in [("level", &self.level), ("q", &self.q)] {
            if !value.is_empty() {
                query.append_pair(name, value);
            }
        }
        query.finish()
    }
}

/// The run of an item with its log.
#[derive(Debug)]
pub(crate) struct RunWithLog {
    /// The fire that it is of.
    pub(crate) fire: FireId,
    pub(crate) run: Run,
    pub(crate) lines: Vec<LogRecord>,
    /// The last line, where others follow it.
    pub(crate) next: Option<u32>,
    /// Whether there is a table of logs at all.
    pub(crate) is_kept: bool,
}

impl RunWithLog {
    /// Whether lines may be added to it.
    pub(crate) fn goes_on(&self) -> bool {
        self.run.state == RunState::Running
    }
}

/// The run of an item, as it was recorded and as the registry center has it.
async fn run(here: &Here, snapshot: &JobSnapshot, id: &str) -> Result<(FireId, Run), Problem> {
    let record = record(here, &snapshot.job, id).await?;
    let fire = fires(vec![record], &Live::of(snapshot, super::now())).into_iter().next();
    let run = fire.and_then(|fire| Some((fire.id, fire.runs.into_iter().next()?)));
    run.ok_or_else(|| Problem::no_such_run(id))
}

/// The record of the run of an item. Of another job, it is not there.
pub(crate) async fn record(here: &Here, job: &JobName, id: &str) -> Result<ExecutionRecord, Problem> {
    let reader = here.registry.trace_reader().ok_or_else(Problem::not_traced)?;
    let mut filter = ExecutionFilter::of_job(job.clone());
    filter.id = Some(id.to_owned());
    let page = reader.executions(&filter, &PageRequest::default().limit(1)).await?;
    page.records.into_iter().next().ok_or_else(|| Problem::no_such_run(id))
}

/// The run of an item with the lines that are asked for.
pub(crate) async fn read(
    here: &Here,
    snapshot: &JobSnapshot,
    id: &str,
    query: &LogQuery,
) -> Result<RunWithLog, Problem> {
    let level = match query.level.trim() {
        "" => None,
        level => Some(level.parse::<LogLevel>().map_err(|wrong| Problem::bad_request(wrong.to_string()))?),
    };
    if query.q.chars().count() > LONGEST_TEXT {
        return Err(Problem::bad_request(texts::field_too_long("q", LONGEST_TEXT)));
    }
    // The run first: lines that come after it are there then, so that an end is never shown before the last line.
    let (fire, run) = run(here, snapshot, id).await?;
    let limit = query.limit.unwrap_or(USUALLY).clamp(1, MOST);
    let mut filter = LogFilter::of_run(snapshot.job.clone(), id);
    (filter.after, filter.level) = (query.after, level);
    filter.contains = Some(query.q.trim().to_owned()).filter(|text| !text.is_empty());
    let (mut lines, is_kept) = match lines(here, &filter, limit + 1).await? {
        Some(lines) => (lines, true),
        None => (Vec::new(), false),
    };
    let more = lines.len() > limit as usize;
    lines.truncate(limit as usize);
    let next = lines.last().filter(|_| more).map(|line| line.line);
    Ok(RunWithLog { fire, run, lines, next, is_kept })
}

/// The lines of a filter; `None` where no log of a run was ever kept.
pub(crate) async fn lines(here: &Here, filter: &LogFilter, limit: u32) -> Result<Option<Vec<LogRecord>>, Problem> {
    let reader = here.registry.trace_reader().ok_or_else(Problem::not_traced)?;
    match reader.log(filter, limit).await {
        Ok(lines) => Ok(Some(lines)),
        Err(ReadError::NoTable { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
