//! The fires of a job: those that ran, with the runs of their items, and those that should have run.

mod days;
mod expected;
mod gaps;
mod group;
mod id;
mod last;
mod one;
mod read;
mod summary;
#[cfg(test)]
mod tests;

use chrono::{DateTime, Utc};
use elasticjob::ident::JobName;
use elasticjob::operations::JobSnapshot;
use elasticjob::trace::{
    AnyTraceReader, DecisionFilter, DecisionKind, DecisionRecord, ExecutionFilter, PageRequest, ReadError, TraceReader,
};
use serde::Deserialize;
use utoipa::IntoParams;

pub(crate) use days::{Day, MOST as MOST_OF_DAY, days};
pub(crate) use expected::{Became, Expected, expected};
pub(crate) use gaps::{GRACE, Gap, MOST as MOST_OF_GAP, gaps, gaps_of_last};
pub(crate) use group::{Fire, FireOutcome, Live, Run, RunState, Tally, Total, fires};
pub(crate) use id::{FireId, Place};
pub(crate) use last::{last, not_begun_since};
pub(crate) use one::{OneFire, one, recorded};
pub(crate) use summary::Summary;

use super::history::{HistoryQuery, Range};
use crate::api::Problem;
use crate::here::Here;
use crate::pages::time::Clock;
use crate::texts;

/// The most fires of a page, and how many are on it unless it is said.
const MOST: usize = 200;
const USUAL: usize = 50;

/// How many decisions are read to explain the gaps of a page: of those so long after the gaps, and of those since then.
const EXPLAINED: u32 = 500;
const SOON: chrono::TimeDelta = chrono::TimeDelta::hours(1);

/// Which fires are listed.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct FireQuery {
    /// RFC 3339, or a local time of the zone of the job; runs that began at that time or later.
    pub(crate) from: String,
    pub(crate) until: String,
    /// The cursor of the page before.
    pub(crate) cursor: String,
    /// How many fires.
    pub(crate) limit: Option<usize>,
}

impl FireQuery {
    /// The time range, in which local times are of this zone.
    pub(crate) fn range(&self, clock: &Clock) -> Result<Range, Problem> {
        let query = HistoryQuery { from: self.from.clone(), until: self.until.clone(), ..HistoryQuery::default() };
        query.range(DateTime::from_timestamp_millis(clock.now).unwrap_or_default(), clock.zone)
    }

    /// The same query with another cursor, as the query of an address.
    pub(crate) fn after(&self, cursor: &str) -> String {
        let limit = self.limit.map(|limit| limit.to_string()).unwrap_or_default();
        let fields = [("from", self.from.as_str()), ("until", &self.until), ("cursor", cursor), ("limit", &limit)];
        let fields = fields.into_iter().filter(|(_, value)| !value.is_empty());
        form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
    }

    fn place(&self) -> Result<Option<Place>, Problem> {
        let text = self.cursor.trim();
        let wrong = |why| Problem::bad_request(texts::field_wrong("cursor", why));
        (!text.is_empty()).then(|| text.parse().map_err(wrong)).transpose()
    }
}

/// A page of fires, the newest first.
#[derive(Debug)]
pub(crate) struct FirePage {
    pub(crate) fires: Vec<Fire>,
    /// What should have been between them and did not run.
    pub(crate) gaps: Vec<Gap>,
    /// Since when it is known what should have been: earlier, the configuration was another one. `None` for a job
    /// without a schedule.
    pub(crate) planned_since: Option<i64>,
    /// Fires beyond the page, for a picture.
    pub(crate) beyond: Vec<Fire>,
    /// Changes of the configuration in the time of the page and the fires beyond it.
    pub(crate) changes: Vec<DecisionRecord>,
    /// The cursor of the next page.
    pub(crate) next: Option<String>,
}

/// The fires that a query asks for. With `beyond` more of them are read, for a picture.
pub(crate) async fn list(
    here: &Here,
    snapshot: &JobSnapshot,
    query: &FireQuery,
    clock: &Clock,
    beyond: usize,
) -> Result<FirePage, Problem> {
    let (range, after) = (query.range(clock)?, query.place()?);
    let reader = here.registry.trace_reader().ok_or_else(Problem::not_traced)?;
    let limit = query.limit.unwrap_or(USUAL).clamp(1, MOST);
    let mut filter = ExecutionFilter::of_job(snapshot.job.clone());
    (filter.from, filter.until) = (Some(range.from), range.until);
    let mut all = read::page(reader, &filter, after, limit.max(beyond), &Live::of(snapshot, clock.now)).await?;
    let beyond = all.fires.get(limit..).unwrap_or_default().to_vec();
    let end = all.next;
    all = read::first(all, limit);
    let high = after.map_or_else(
        || range.until.map_or(i64::MAX, |until| until.timestamp_millis()).min(clock.now - GRACE),
        |place| place.after.time(),
    );
    let low = match (all.next, all.fires.last()) {
        (Some(_), Some(last)) => last.id.time(),
        _ => range.from.timestamp_millis(),
    };
    let schedule = snapshot.usable().and_then(|configuration| configuration.schedule());
    let planned_since = schedule.and_then(|_| snapshot.configured_since());
    let mut missing = match (schedule, planned_since) {
        (Some(schedule), Some(since)) => gaps(schedule, low.max(since), high, &all.fires),
        _ => Vec::new(),
    };
    explain(reader, &snapshot.job, &mut missing).await?;
    let span =
        beyond.last().or(all.fires.last()).filter(|_| end.is_some()).map_or(range.from, |last| instant(last.id.time()));
    let changes = changes(reader, &snapshot.job, span, after, range.until).await?;
    let next = all.next.map(|place| place.to_string());
    Ok(FirePage { fires: all.fires, gaps: missing, planned_since, beyond, changes, next })
}

pub(crate) fn instant(at: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(at).unwrap_or_default()
}

/// The decisions of a filter, the newest first. Tables of Java have none.
pub(crate) async fn decisions(
    reader: &AnyTraceReader,
    filter: &DecisionFilter,
    most: u32,
) -> Result<Vec<DecisionRecord>, ReadError> {
    match reader.decisions(filter, &PageRequest::default().limit(most)).await {
        Ok(page) => Ok(page.records),
        Err(ReadError::NoTable { .. }) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Says of each gap which kinds of decisions there are about its fires. Most are decided soon; the rest when an instance
/// comes back.
pub(crate) async fn explain(reader: &AnyTraceReader, job: &JobName, gaps: &mut [Gap]) -> Result<(), ReadError> {
    let (Some(first), Some(last)) = (gaps.last().map(|gap| gap.first), gaps.first().map(|gap| gap.last)) else {
        return Ok(());
    };
    let soon = instant(last) + SOON;
    let mut filter = DecisionFilter::of_job(job.clone());
    (filter.from, filter.until) = (Some(instant(first - read::SKEW)), Some(soon));
    filter.kinds = vec![DecisionKind::Skipped, DecisionKind::Missed, DecisionKind::Collapsed, DecisionKind::NotBegun];
    note_kinds(gaps, decisions(reader, &filter, EXPLAINED).await?);
    if gaps.iter().any(|gap| gap.kinds.is_empty()) {
        (filter.from, filter.until) = (Some(soon), None);
        note_kinds(gaps, decisions(reader, &filter, EXPLAINED).await?);
    }
    Ok(())
}

fn note_kinds(gaps: &mut [Gap], decisions: Vec<DecisionRecord>) {
    for decision in decisions {
        let Some(from) = decision.scheduled_at.map(|at| at.timestamp_millis()) else { continue };
        let until = decision.scheduled_until.map_or(from, |until| until.timestamp_millis());
        for gap in gaps.iter_mut().filter(|gap| from <= gap.last && gap.first <= until) {
            if !gap.kinds.contains(&decision.kind) {
                gap.kinds.push(decision.kind.clone());
            }
        }
    }
}

/// Changes of the configuration, one for those that several instances saw at about the same time.
async fn changes(
    reader: &AnyTraceReader,
    job: &JobName,
    from: DateTime<Utc>,
    after: Option<Place>,
    until: Option<DateTime<Utc>>,
) -> Result<Vec<DecisionRecord>, ReadError> {
    const TOGETHER: i64 = 10_000;
    let mut filter = DecisionFilter::of_job(job.clone());
    filter.from = Some(from);
    filter.until = after.map(|place| instant(place.after.time())).or(until);
    filter.kinds = vec![DecisionKind::ConfigurationChanged];
    let mut changes = decisions(reader, &filter, 100).await?;
    changes.dedup_by(|older, newer| (newer.at - older.at).num_milliseconds() < TOGETHER);
    Ok(changes)
}
