//! The runs of many jobs over the same time, with the fires that should have been and those to come.

use chrono::{DateTime, TimeDelta};
use elasticjob::ident::JobName;
use elasticjob::schedule::{Schedule, TimeZone};
use elasticjob::trace::{AnyTraceReader, ExecutionFilter, PageRequest, TraceReader};
use futures_util::{StreamExt, TryStreamExt};
use serde::Deserialize;
use utoipa::IntoParams;

use super::fires::{Fire, GRACE, Gap, Live, fires, gaps, instant};
use super::jobs::{self, JobQuery};
use crate::api::Problem;
use crate::here::Here;
use crate::texts;

/// The most jobs of a page, and how many are on it unless it is said.
const MOST_JOBS: usize = 50;

/// How many runs of items of a job are read, the newest ones.
pub(crate) const MOST_RUNS: u32 = 500;

/// How many fires to come are shown of a job.
const MOST_COMING: usize = 60;

/// How many jobs are read at the same time.
const AT_ONCE: usize = 4;

/// How long a time is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Span {
    Hour,
    SixHours,
    Day,
}

impl Span {
    pub(crate) const ALL: [Self; 3] = [Self::Hour, Self::SixHours, Self::Day];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Hour => "1h",
            Self::SixHours => "6h",
            Self::Day => "24h",
        }
    }

    fn hours(self) -> i64 {
        match self {
            Self::Hour => 1,
            Self::SixHours => 6,
            Self::Day => 24,
        }
    }

    /// Its length in milliseconds.
    pub(crate) fn length(self) -> i64 {
        TimeDelta::hours(self.hours()).num_milliseconds()
    }
}

/// Which jobs are shown, and which time.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct TimelineQuery {
    /// A part of the name or of the description of a job.
    pub(crate) q: String,
    /// `1h`, `6h` or `24h`; 6h unless it is said.
    pub(crate) span: String,
    /// The end of the time, as RFC 3339 has it; unless it is said, a little later than now.
    pub(crate) until: String,
    /// The job after which the page begins.
    pub(crate) cursor: String,
    /// How many jobs, up to 50.
    pub(crate) limit: Option<usize>,
}

impl TimelineQuery {
    pub(crate) fn span(&self) -> Result<Span, Problem> {
        let named = |span: &Span| span.as_str() == self.span;
        match self.span.is_empty() {
            true => Ok(Span::SixHours),
            false => Span::ALL
                .into_iter()
                .find(named)
                .ok_or_else(|| Problem::bad_request(texts::field_one_of("span", "1h, 6h, 24h"))),
        }
    }

    /// The query of an address with other values.
    pub(crate) fn with(&self, changes: &[(&str, &str)]) -> String {
        let limit = self.limit.map(|limit| limit.to_string()).unwrap_or_default();
        let fields =
            [("q", &self.q), ("span", &self.span), ("until", &self.until), ("cursor", &self.cursor), ("limit", &limit)];
        let kept = fields.into_iter().map(|(name, value)| (name, value.as_str()));
        let kept = kept.filter(|(name, _)| changes.iter().all(|(one, _)| one != name));
        let all = kept.chain(changes.iter().copied()).filter(|(_, value)| !value.is_empty());
        form_urlencoded::Serializer::new(String::new()).extend_pairs(all).finish()
    }

    /// The time that is shown: an eighth of it is yet to come, unless its end is said.
    fn times(&self, now: i64) -> Result<(i64, i64), Problem> {
        let length = self.span()?.length();
        let until = match self.until.trim() {
            "" => now + length / 8,
            text => DateTime::parse_from_rfc3339(text)
                .map(|until| until.timestamp_millis())
                .map_err(|_| Problem::bad_request(texts::field_instant("until")))?,
        };
        Ok((until - length, until))
    }
}

/// The runs of jobs over a time.
#[derive(Debug)]
pub(crate) struct Timeline {
    pub(crate) from: i64,
    pub(crate) until: i64,
    pub(crate) now: i64,
    /// In the order of their names.
    pub(crate) rows: Vec<Row>,
    /// How many jobs the filter leaves.
    pub(crate) total: usize,
    /// The cursor of the next page.
    pub(crate) next: Option<String>,
}

/// A job.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) job: JobName,
    pub(crate) zone: Option<TimeZone>,
    /// The newest first.
    pub(crate) fires: Vec<Fire>,
    /// Whether there were more runs of items than are read; then older fires of the time are missing.
    pub(crate) is_cut: bool,
    pub(crate) gaps: Vec<Gap>,
    /// Fires that are yet to come in the time.
    pub(crate) coming: Vec<i64>,
    /// The next fire, in the time or later.
    pub(crate) next: Option<i64>,
}

/// The timeline that a query asks for.
pub(crate) async fn timeline(here: &Here, query: &TimelineQuery, now: i64) -> Result<Timeline, Problem> {
    let (from, until) = query.times(now)?;
    let reader = here.registry.trace_reader().ok_or_else(Problem::not_traced)?;
    let limit = Some(query.limit.unwrap_or(MOST_JOBS).clamp(1, MOST_JOBS));
    let wanted = JobQuery { q: query.q.clone(), cursor: query.cursor.clone(), limit, ..JobQuery::default() };
    let page = jobs::list(here, &wanted).await?;
    let rows = page.jobs.into_iter().map(|listed| row(here, reader, listed.job.clone(), (from, until), now));
    let rows = futures_util::stream::iter(rows).buffered(AT_ONCE).try_collect().await?;
    Ok(Timeline { from, until, now, rows, total: page.total, next: page.next })
}

async fn row(
    here: &Here,
    reader: &AnyTraceReader,
    job: JobName,
    (from, until): (i64, i64),
    now: i64,
) -> Result<Row, Problem> {
    // A job that was removed meanwhile has no snapshot.
    let snapshot = here.views().snapshot(&job).await.ok();
    let schedule = snapshot.as_ref().and_then(|snapshot| snapshot.usable()?.schedule());
    let mut filter = ExecutionFilter::of_job(job.clone());
    // What began before and still ran then belongs to the time as well: it is looked for as far back again.
    (filter.from, filter.until) = (Some(instant(from - (until - from))), Some(instant(until)));
    let page = reader.executions(&filter, &PageRequest::default().limit(MOST_RUNS)).await?;
    let read_to = page.next.and(page.records.last()).map(|record| record.start_time.timestamp_millis());
    let live = snapshot.as_ref().map(|snapshot| Live::of(snapshot, now)).unwrap_or_default();
    let mut found = fires(page.records, &live);
    found.retain(|fire| ends(fire, now) >= from);
    let gaps = match (schedule, snapshot.as_ref().and_then(|snapshot| snapshot.configured_since())) {
        (Some(schedule), Some(since)) => {
            gaps(schedule, from.max(since).max(read_to.unwrap_or(i64::MIN)), until.min(now - GRACE), &found)
        }
        _ => Vec::new(),
    };
    let coming = |schedule: &Schedule| {
        let coming = schedule.upcoming(now.max(from - 1)).take_while(|at| *at <= until);
        coming.take(MOST_COMING).collect()
    };
    let coming = schedule.map(coming).unwrap_or_default();
    let next = schedule.and_then(|schedule| schedule.next_after(now));
    let zone = schedule.map(Schedule::time_zone);
    Ok(Row { job, zone, next, fires: found, is_cut: read_to.is_some_and(|read_to| read_to > from), gaps, coming })
}

/// Until when a fire is drawn: its end, now while it runs, else its last sign of life.
pub(crate) fn ends(fire: &Fire, now: i64) -> i64 {
    let last = fire.runs.iter().map(|run| run.end().unwrap_or(run.start())).max();
    let is_running = fire.tally().running > 0;
    if is_running { now } else { last.unwrap_or(fire.id.time()) }
}
