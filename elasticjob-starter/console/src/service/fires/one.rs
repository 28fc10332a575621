//! One fire, with all that was decided about it and around it.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use elasticjob::ident::JobName;
use elasticjob::operations::JobSnapshot;
use elasticjob::trace::{AnyTraceReader, DecisionFilter, DecisionRecord, ExecutionFilter, ExecutionRecord};

use super::group::{Fire, Live, fires};
use super::id::FireId;
use super::{decisions, instant, read};
use crate::api::Problem;
use crate::here::Here;
use crate::pages::time::Clock;

/// How long after its time a fire is run at the latest: later runs are not looked for.
const LATEST: TimeDelta = TimeDelta::days(7);

/// Decisions so long before and after a fire belong to its time.
const AROUND: TimeDelta = TimeDelta::minutes(1);

/// The most decisions about a fire, and of its time.
const DECISIONS: u32 = 100;

/// The most runs by hand that began in the same second.
const RUNS: usize = 20;

/// A fire with its decisions.
#[derive(Debug)]
pub(crate) struct OneFire {
    /// Without runs, where nothing was recorded.
    pub(crate) fire: Fire,
    /// In the order of their times.
    pub(crate) decisions: Vec<DecisionRecord>,
    /// Whether the schedule, as it is now, has this fire; `None` where the configuration was another one then.
    pub(crate) is_planned: Option<bool>,
}

/// The fire of a job.
pub(crate) async fn one(here: &Here, snapshot: &JobSnapshot, id: FireId, clock: &Clock) -> Result<OneFire, Problem> {
    let reader = here.registry.trace_reader().ok_or_else(Problem::not_traced)?;
    let at = instant(id.time());
    let mut filter = around(&snapshot.job, at);
    let mut is_cut = false;
    let records = match id {
        FireId::Scheduled(_) => {
            filter.scheduled_at = Some(at);
            let found = read::records(reader, &filter, |_, _| false).await?;
            is_cut = found.read_to.is_some();
            found.all
        }
        FireId::Began(_) => {
            let second = at + TimeDelta::seconds(1);
            let mut began = filter.clone();
            (began.from, began.until) = (Some(at), Some(second));
            let mut records = unscheduled(read::records(reader, &began, |_, _| false).await?);
            // Items that waited for others began later, in the same run.
            let runs: BTreeSet<String> = records.iter().filter_map(|record| record.run_id.clone()).take(RUNS).collect();
            filter.from = Some(second);
            for run in runs {
                filter.run_id = Some(run);
                records.extend(unscheduled(read::records(reader, &filter, |_, _| false).await?));
            }
            records
        }
    };
    let grouped = fires(records, &Live::of(snapshot, clock.now)).into_iter().find(|fire| fire.id == id);
    let mut fire = grouped.unwrap_or(Fire { id, runs: Vec::new(), is_cut: false, total: None });
    fire.is_cut = is_cut;

    let mut of_time = DecisionFilter::of_job(snapshot.job.clone());
    let began = instant(fire.began().map_or(id.time(), |began| began.min(id.time())));
    let ended = if fire.runs.is_empty() { id.time() } else { fire.ended().unwrap_or(clock.now) };
    of_time.from = Some(began - AROUND);
    of_time.until = (instant(ended) + AROUND).min(began + LATEST).into();
    let mut found = decisions(reader, &of_time, DECISIONS).await?;
    if id.scheduled().is_some() {
        let mut about = DecisionFilter::of_job(snapshot.job.clone());
        (about.fire, about.from) = (Some(at), Some(at - AROUND));
        found.extend(decisions(reader, &about, DECISIONS).await?);
    }
    found.sort_by(|one, other| (one.at, &one.id).cmp(&(other.at, &other.id)));
    found.dedup_by(|one, other| one.id == other.id);

    let schedule = snapshot.usable().and_then(|configuration| configuration.schedule());
    let is_known = snapshot.configured_since().is_some_and(|since| since <= id.time());
    let is_planned = |at: i64| schedule.is_some_and(|schedule| schedule.next_after(at - 1) == Some(at));
    Ok(OneFire { fire, decisions: found, is_planned: id.scheduled().filter(|_| is_known).map(is_planned) })
}

/// What the traces have of the fire of a job at a scheduled time; `None` where they have none of it.
pub(crate) async fn recorded(reader: &AnyTraceReader, job: &JobName, at: i64) -> Result<Option<Fire>, Problem> {
    let mut filter = around(job, instant(at));
    filter.scheduled_at = Some(instant(at));
    let found = read::records(reader, &filter, |_, _| false).await?;
    Ok(fires(found.all, &Live::default()).into_iter().find(|fire| fire.id == FireId::Scheduled(at)))
}

/// The runs of a job that can be of a fire at this time.
fn around(job: &JobName, at: DateTime<Utc>) -> ExecutionFilter {
    let mut filter = ExecutionFilter::of_job(job.clone());
    (filter.from, filter.until) = (Some(at - TimeDelta::milliseconds(read::SKEW)), at.checked_add_signed(LATEST));
    filter
}

fn unscheduled(found: read::Records) -> Vec<ExecutionRecord> {
    found.all.into_iter().filter(|record| record.scheduled_at.is_none()).collect()
}
