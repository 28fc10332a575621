//! Counts the runs of each day by end.

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use elasticjob::operations::JobSnapshot;
use elasticjob::trace::{RunCount, RunParts, TraceReader};

use super::super::local::instant_of;
use super::instant;
use crate::api::Problem;
use crate::here::Here;
use crate::pages::time::Clock;

/// How many runs of a day are counted.
pub(crate) const MOST: u32 = 10_000;

/// A day, in the zone of the job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Day {
    pub(crate) date: NaiveDate,
    /// Its first moment, and that of the next day, in milliseconds since 1970.
    pub(crate) from: i64,
    pub(crate) until: i64,
    /// The last runs of items of the day.
    pub(crate) runs: RunCount,
    /// How many runs of items the schedule has beyond those that were; 0 where that is not known.
    pub(crate) not_run: u64,
    /// Whether there should have been a fire, and there is no run.
    pub(crate) is_missing: bool,
}

/// How many fires of a day are counted: of a job that fires more often it is not known how many items did not run.
const MOST_FIRES: usize = 1_000;

/// A fire so shortly before midnight may have begun on the next day.
const MIDNIGHT: i64 = 60_000;

/// How many runs of items a day should have at the least, by the schedule.
fn planned(snapshot: &JobSnapshot, from: i64, until: i64) -> Option<u64> {
    let configuration = snapshot.usable()?;
    let low = from.max(snapshot.configured_since()?);
    let fires = configuration.schedule()?.upcoming(low - 1).take_while(|at| *at < until - MIDNIGHT);
    let count = fires.take(MOST_FIRES + 1).count();
    (count <= MOST_FIRES).then(|| count as u64 * u64::from(configuration.sharding_total_count()))
}

/// The last days, the oldest first; the last one is today.
pub(crate) async fn days(here: &Here, snapshot: &JobSnapshot, clock: &Clock, count: u32) -> Result<Vec<Day>, Problem> {
    let reader = here.registry.trace_reader().ok_or_else(Problem::not_traced)?;
    let seconds = i64::from(clock.zone.offset_at(clock.now.div_euclid(1_000)));
    let today = instant(clock.now + seconds * 1_000).date_naive();
    let dates = (0..count).rev().filter_map(|back| today.checked_sub_days(chrono::Days::new(back.into())));
    let midnight = |date: NaiveDate| instant_of(date.and_time(NaiveTime::MIN), clock.zone);
    let spans = dates.filter_map(|date| Some((date, midnight(date)?, midnight(date.succ_opt()?)?)));
    let schedule = snapshot.usable().and_then(|configuration| configuration.schedule());
    let spans: Vec<_> = spans.collect();
    // Each day is a time of its own, so that a day with many runs leaves the others theirs.
    let of_day = |(_, from, until): &(_, _, _)| RunParts {
        job: snapshot.job.clone(),
        from: *from,
        splits: Vec::new(),
        until: *until,
        most: MOST,
    };
    let counted = reader.count_parts(&spans.iter().map(of_day).collect::<Vec<_>>()).await?;
    let day = |((date, from, until), runs): ((NaiveDate, DateTime<Utc>, DateTime<Utc>), RunCount)| {
        let (from, until) = (from.timestamp_millis(), until.timestamp_millis());
        let planned = schedule.zip(snapshot.configured_since()).and_then(|(schedule, since)| {
            schedule.next_after(from.max(since) - 1).filter(|at| *at < until.min(clock.now - super::GRACE))
        });
        let most = self::planned(snapshot, from, until.min(clock.now - super::GRACE + MIDNIGHT)).unwrap_or_default();
        let not_run = if runs.runs < MOST.into() { most.saturating_sub(runs.runs) } else { 0 };
        Day { date, from, until, not_run, is_missing: runs.runs == 0 && planned.is_some(), runs }
    };
    Ok(spans.into_iter().zip(counted.into_iter().flatten()).map(day).collect())
}
