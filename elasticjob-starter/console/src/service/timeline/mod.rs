//! The runs of many jobs over the same time, with the fires that should have been and those to come.

mod counted;
mod registered;
mod shared;
mod traced;

use std::sync::Arc;

use chrono::{DateTime, TimeDelta};
use elasticjob::ident::JobName;
use elasticjob::operations::JobSnapshot;
use elasticjob::schedule::{Schedule, TimeZone};
use elasticjob::trace::RunCount;
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::Deserialize;
use utoipa::IntoParams;

pub(crate) use self::counted::KeptCounts;
pub(crate) use self::shared::KeptTimelines;
use self::shared::{Shown, Times};
use self::traced::Runs;
use super::fires::{Gap, Summary};
use super::history;
use super::jobs::{self, JobQuery};
use crate::api::Problem;
use crate::here::Here;
use crate::texts;

/// The most jobs of a page, and how many are on it unless it is said.
const MOST_JOBS: usize = 50;

/// How many runs of items of a job are shown by their fires, the newest ones. Those before are counted.
pub(crate) const MOST_RUNS: u32 = 500;

/// How many runs of all jobs of a page are shown so. Where they have more, each has the same share of what others leave.
pub(crate) const MOST_RUNS_OF_PAGE: u32 = 8_000;

/// How many fires to come are shown of a job.
const MOST_COMING: usize = 60;

/// How many jobs are read at the same time.
const AT_ONCE: usize = 4;

/// How long a time is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Span {
    Hour,
    SixHours,
    HalfDay,
    Day,
}

impl Span {
    pub(crate) const ALL: [Self; 4] = [Self::Hour, Self::SixHours, Self::HalfDay, Self::Day];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Hour => "1h",
            Self::SixHours => "6h",
            Self::HalfDay => "12h",
            Self::Day => "24h",
        }
    }

    fn hours(self) -> i64 {
        match self {
            Self::Hour => 1,
            Self::SixHours => 6,
            Self::HalfDay => 12,
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
    /// `1h`, `6h`, `12h` or `24h`; 6h unless it is said.
    pub(crate) span: String,
    /// The begin of the time: RFC 3339, or a local time of the zone of the host of the console. Either this or `until`.
    pub(crate) from: String,
    /// The end of the time, as RFC 3339 has it; where neither is said, a little later than now.
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
                .ok_or_else(|| Problem::bad_request(texts::field_one_of("span", "1h, 6h, 12h, 24h"))),
        }
    }

    /// The query of an address with other values.
    pub(crate) fn with(&self, changes: &[(&str, &str)]) -> String {
        let limit = self.limit.map(|limit| limit.to_string()).unwrap_or_default();
        let fields = [
            ("q", &self.q),
            ("span", &self.span),
            ("from", &self.from),
            ("until", &self.until),
            ("cursor", &self.cursor),
            ("limit", &limit),
        ];
        let kept = fields.into_iter().map(|(name, value)| (name, value.as_str()));
        let kept = kept.filter(|(name, _)| changes.iter().all(|(one, _)| one != name));
        let all = kept.chain(changes.iter().copied()).filter(|(_, value)| !value.is_empty());
        form_urlencoded::Serializer::new(String::new()).extend_pairs(all).finish()
    }

    /// Whether it asks for the time around now, which goes on.
    pub(crate) fn is_of_now(&self) -> bool {
        self.from.trim().is_empty() && self.until.trim().is_empty()
    }

    /// The time that is shown: an eighth of it is yet to come, unless its begin or end is said.
    fn times(&self, now: i64) -> Result<(i64, i64), Problem> {
        let length = self.span()?.length();
        let zone = TimeZone::local().unwrap_or(TimeZone::UTC);
        let from = history::time("from", &self.from, zone)?.map(|from| from.timestamp_millis());
        let until = match self.until.trim() {
            "" => None,
            text => Some(
                DateTime::parse_from_rfc3339(text).map_err(|_| Problem::bad_request(texts::field_instant("until")))?,
            ),
        };
        match (from, until.map(|until| until.timestamp_millis())) {
            (Some(_), Some(_)) => Err(Problem::bad_request(texts::field_either("from", "until"))),
            (Some(from), None) => Ok((from, from + length)),
            (None, Some(until)) => Ok((until - length, until)),
            (None, None) => Ok((now + length / 8 - length, now + length / 8)),
        }
    }
}

/// A page of jobs with their runs over a time.
#[derive(Debug)]
pub(crate) struct Timeline {
    pub(crate) shown: Arc<Rows>,
    /// Whether the runs are those that were traced; else the last one of each item, as the registry center has it.
    pub(crate) is_traced: bool,
    /// How many jobs the filter leaves.
    pub(crate) total: usize,
    /// The cursor of the next page.
    pub(crate) next: Option<String>,
}

/// The runs of some jobs over a time.
#[derive(Debug)]
pub(crate) struct Rows {
    pub(crate) from: i64,
    pub(crate) until: i64,
    /// When they were read.
    pub(crate) now: i64,
    /// In the order of their names.
    pub(crate) jobs: Vec<Row>,
}

/// A job.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) job: JobName,
    pub(crate) zone: Option<TimeZone>,
    pub(crate) known: Known,
    /// Fires that are yet to come in the time.
    pub(crate) coming: Vec<i64>,
    /// The next fire, in the time or later.
    pub(crate) next: Option<i64>,
}

/// What is known of the time of a job that has passed.
#[derive(Debug, Default, Clone)]
pub(crate) struct Known {
    /// The newest first.
    pub(crate) fires: Vec<Summary>,
    /// Where there are older runs of items than those of the fires: the begin of the oldest one that was read.
    read_to: Option<i64>,
    /// Runs of items that began before those of the fires and are counted, as they are many; the oldest first.
    pub(crate) folded: Vec<Folded>,
    /// Fires that should have been and have no run.
    pub(crate) gaps: Vec<Gap>,
    /// Fires of the schedule of which nothing is known.
    pub(crate) unsure: Option<Gap>,
}

/// Runs of items that began in a part of the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Folded {
    pub(crate) from: i64,
    pub(crate) until: i64,
    pub(crate) runs: RunCount,
    /// Whether there are more than are counted.
    pub(crate) is_cut: bool,
}

/// The timeline that a query asks for.
pub(crate) async fn timeline(here: &Here, query: &TimelineQuery, now: i64) -> Result<Timeline, Problem> {
    let (from, until) = query.times(now)?;
    let limit = Some(query.limit.unwrap_or(MOST_JOBS).clamp(1, MOST_JOBS));
    let wanted = JobQuery { q: query.q.clone(), cursor: query.cursor.clone(), limit, ..JobQuery::default() };
    let page = jobs::list(here, &wanted).await?;
    let jobs: Vec<JobName> = page.jobs.iter().map(|listed| listed.job.clone()).collect();
    let times = if query.is_of_now() { Times::Now(query.span()?) } else { Times::Between(from, until) };
    let shown = Shown { jobs: jobs.clone(), times };
    let is_traced = here.registry.trace_reader().is_some();
    let read = rows(here, jobs, (from, until), now);
    let shown = match is_traced {
        true => here.registry.kept_timelines().get(shown, read).await?,
        false => Arc::new(read.await?),
    };
    Ok(Timeline { shown, is_traced, total: page.total, next: page.next })
}

async fn rows(here: &Here, jobs: Vec<JobName>, (from, until): (i64, i64), now: i64) -> Result<Rows, Problem> {
    let reader = here.registry.trace_reader();
    let runs: Vec<(JobName, Runs)> = match reader {
        Some(reader) => traced::newest(reader, jobs, (from, until)).await?,
        None => jobs.into_iter().map(|job| (job, Runs::default())).collect(),
    };
    let rows = runs.into_iter().map(|(job, runs)| row(here, job, runs, (from, until), now));
    let mut jobs: Vec<Row> = stream::iter(rows).buffered(AT_ONCE).try_collect().await?;
    if let Some(reader) = reader {
        traced::fold(reader, here.registry.kept_counts(), &mut jobs, (from, until)).await?;
    }
    Ok(Rows { from, until, now, jobs })
}

async fn row(here: &Here, job: JobName, runs: Runs, (from, until): (i64, i64), now: i64) -> Result<Row, Problem> {
    // A job that was removed meanwhile has no snapshot.
    let snapshot = here.views().snapshot(&job).await.ok();
    let known = match (here.registry.trace_reader(), &snapshot) {
        (Some(reader), _) => traced::known(reader, &job, snapshot.as_ref(), runs, (from, until), now).await?,
        (None, Some(snapshot)) => registered::known(snapshot, (from, until), now),
        (None, None) => Known::default(),
    };
    let schedule = snapshot.as_ref().and_then(schedule);
    let coming = |schedule: &Schedule| {
        let coming = schedule.upcoming(now.max(from - 1)).take_while(|at| *at <= until);
        coming.take(MOST_COMING).collect()
    };
    Ok(Row {
        zone: schedule.map(Schedule::time_zone),
        known,
        coming: schedule.map(coming).unwrap_or_default(),
        next: schedule.and_then(|schedule| schedule.next_after(now)),
        job,
    })
}

fn schedule(snapshot: &JobSnapshot) -> Option<&Schedule> {
    snapshot.usable()?.schedule()
}

#[cfg(test)]
mod tests;
