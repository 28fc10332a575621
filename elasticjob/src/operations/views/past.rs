//! Tells from traces what became of a past fire.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};

use crate::config::JobConfiguration;
use crate::ident::{JobName, ShardingItem};
use crate::operations::{OperationError, Operations};
use crate::schedule::{Schedule, TimeZone};
use crate::trace::{
    AnyTraceReader, DecisionFilter, DecisionKind, DecisionRecord, ExecutionFilter, ExecutionOutcome, ExecutionRecord,
    Page, PageRequest, ReadError, TraceReader,
};

/// The most runs, and the most decisions, that are read of a fire, and how many at once.
const MOST: usize = 20_000;
const STEP: u32 = 1_000;

/// The most decisions that are told around it.
const MOST_AROUND: u32 = 500;

/// How far a given time may be from the fire that is meant, in milliseconds.
const NEAR: i64 = 60_000;

/// How many decisions before the fire are told, and for how long after it.
const BEFORE: u32 = 5;
const AFTER: TimeDelta = TimeDelta::minutes(5);

/// A run may begin before the scheduled time by a clock that is ahead, and late by this much.
const AHEAD: TimeDelta = TimeDelta::hours(1);
const LATE: TimeDelta = TimeDelta::days(2);

/// Java instances do not write the scheduled time, nor do rows have it where the table lacks the column: such runs are told
/// that start so soon after the fire.
const SOON: TimeDelta = TimeDelta::minutes(1);

/// The decisions that are about the group and not about one fire.
const AROUND: [DecisionKind; 17] = [
    DecisionKind::Operator,
    DecisionKind::Registered,
    DecisionKind::Left,
    DecisionKind::Elected,
    DecisionKind::Abdicated,
    DecisionKind::Resharded,
    DecisionKind::StrategyFailed,
    DecisionKind::ClockOff,
    DecisionKind::ClockRight,
    DecisionKind::RegistryLost,
    DecisionKind::RegistryBack,
    DecisionKind::ConfigurationChanged,
    DecisionKind::ConfigurationRefused,
    DecisionKind::ConfigurationDiffers,
    DecisionKind::RunsCancelled,
    DecisionKind::RunsAbandoned,
    DecisionKind::TriggerDropped,
];

/// The account of a fire in the past: its runs, what was decided about it, and what happened around it. It is put together
/// from traces, so it can be told when all processes are gone.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PastFire {
    /// The job.
    pub job: JobName,
    /// The scheduled time, in milliseconds since 1970: the fire at the time that was asked for, or up to a minute after it;
    /// where the schedule has none there, the time that was asked for.
    pub fire: i64,
    /// Whether the schedule as it is now has that fire; `None` where there is no schedule to compare with.
    pub in_schedule: Option<bool>,
    /// The zone of the job, or that of this host.
    pub time_zone: TimeZone,
    /// Decisions about the whole fire.
    pub whole: Vec<Happened>,
    /// The runs of each item, and the decisions about it. An item without either has an entry that says so, where other
    /// items of the fire were run.
    pub items: BTreeMap<ShardingItem, Vec<Happened>>,
    /// The events in the group before the fire and in the five minutes after it.
    pub around: Vec<Happened>,
    /// Whether there are more runs or decisions of the fire than are read; of an item without either nothing is said then.
    pub is_cut: bool,
}

/// Something that happened to a fire, to an item of it, or around it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Happened {
    /// An item was run.
    Run(Box<ExecutionRecord>),
    /// It was decided about the fire.
    Decided(Box<DecisionRecord>),
    /// It was decided around it.
    Around(Box<DecisionRecord>),
    /// Nothing is recorded for an item of this fire, in milliseconds since 1970: the instance that owned the item may have
    /// died before it could record anything.
    NotRecorded(i64),
}

impl Happened {
    /// The time at which it happened, in milliseconds since 1970.
    pub fn at(&self) -> i64 {
        match self {
            Self::Run(record) => record.start_time.timestamp_millis(),
            Self::Decided(record) | Self::Around(record) => record.at.timestamp_millis(),
            Self::NotRecorded(fire) => *fire,
        }
    }

    /// Whether it kept the fire, or the item, from being run as usual.
    pub fn is_obstacle(&self) -> bool {
        const HELPS: [DecisionKind; 3] =
            [DecisionKind::BegunLate, DecisionKind::TakenOver, DecisionKind::TriggerHandedOver];
        match self {
            Self::Run(_) | Self::Around(_) => false,
            Self::Decided(record) => HELPS.iter().all(|kind| kind.as_str() != record.kind),
            Self::NotRecorded(_) => true,
        }
    }

    /// The English text; `time` writes a time that is given in milliseconds since 1970.
    pub fn describe(&self, time: &dyn Fn(i64) -> String) -> String {
        let decided = |record: &DecisionRecord, items: String| {
            // The text of an action names its operator.
            let who = record.instance.as_deref().map(|instance| format!("{instance}: ")).unwrap_or_default();
            format!("{} {who}{items}{}", time(record.at.timestamp_millis()), record.describe(time))
        };
        match self {
            Self::Run(record) => described_run(record, time),
            Self::Decided(record) => decided(record, String::new()),
            Self::Around(record) if record.sharding_items.is_empty() => decided(record, String::new()),
            Self::Around(record) => decided(record, format!("items {:?}: ", record.sharding_items)),
            Self::NotRecorded(_) => {
                "no run and no decision is recorded for this item: the instance that owned it may have died before it \
                 could record anything"
                    .to_owned()
            }
        }
    }
}

fn described_run(record: &ExecutionRecord, time: &dyn Fn(i64) -> String) -> String {
    let how = match record.outcome {
        ExecutionOutcome::Succeeded => "succeeded",
        ExecutionOutcome::Failed => "failed",
        ExecutionOutcome::NoEnd => "no end is recorded: it runs, or its process was killed",
    };
    let took = record.complete_time.map(|end| format!(" after {} ms", (end - record.start_time).num_milliseconds()));
    let cause = record.failure_cause.as_deref().map(|cause| format!(": {cause}")).unwrap_or_default();
    let alone = if record.scheduled_at.is_none() { " (by its time alone: its fire is not recorded)" } else { "" };
    let on = record.instance.as_deref().unwrap_or(&record.ip);
    let started = time(record.start_time.timestamp_millis());
    format!("{} on {on} at {started}, {how}{}{cause}{alone}", record.source, took.unwrap_or_default())
}

/// The past cannot be told.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PastError {
    /// The registry center could not be read.
    #[error(transparent)]
    Operation(#[from] OperationError),
    /// The traces could not be read.
    #[error(transparent)]
    Traces(#[from] ReadError),
}

impl PastFire {
    /// Whether nothing is recorded about the fire: no instance of the job was there, the job was not traced, or its rows were
    /// removed.
    pub fn is_unrecorded(&self) -> bool {
        self.whole.is_empty() && self.items.is_empty()
    }

    async fn read(&mut self, reader: &AnyTraceReader, items: u32) -> Result<(), ReadError> {
        let fire = DateTime::from_timestamp_millis(self.fire).unwrap_or_default();
        let (runs, is_cut) = runs(reader, &self.job, fire).await?;
        self.is_cut = is_cut;
        for record in runs {
            self.items.entry(record.sharding_item).or_default().push(Happened::Run(record.into()));
        }
        let mut about = DecisionFilter::of_job(self.job.clone());
        about.fire = Some(fire);
        let about = &about;
        let decided = match all(|page| async move { reader.decisions(about, &page).await }).await {
            Ok((decided, is_cut)) => {
                self.is_cut |= is_cut;
                decided
            }
            Err(error) => recorded(Err(error))?,
        };
        for record in decided {
            let happened = Happened::Decided(Box::new(record.clone()));
            match &record.sharding_items[..] {
                [] => self.whole.push(happened),
                items => items.iter().for_each(|it| self.items.entry(*it).or_default().push(happened.clone())),
            }
        }
        if self.whole.is_empty() && !self.items.is_empty() && !self.is_cut {
            for item in 0..items {
                self.items.entry(item).or_insert_with(|| vec![Happened::NotRecorded(self.fire)]);
            }
        }
        self.whole.sort_by_key(Happened::at);
        self.items.values_mut().for_each(|happened| happened.sort_by_key(Happened::at));
        self.around = around(reader, &self.job, fire).await?;
        Ok(())
    }
}

impl Operations {
    /// The account of the fire of a job at a time in the past, or of the first one up to a minute later.
    ///
    /// # Errors
    /// [`PastError`]. A job that is gone from the registry center is no error: what was traced is told.
    pub async fn past_fire(
        &self,
        reader: &AnyTraceReader,
        job: &JobName,
        at: DateTime<Utc>,
    ) -> Result<PastFire, PastError> {
        let configuration = self.configuration_if_any(job).await?;
        let schedule = configuration.as_ref().and_then(JobConfiguration::schedule);
        let near = schedule.map(|schedule| fire_near(schedule, at.timestamp_millis()));
        let mut past = PastFire {
            job: job.clone(),
            fire: near.flatten().unwrap_or(at.timestamp_millis()),
            in_schedule: near.map(|near| near.is_some()),
            time_zone: schedule.map_or_else(|| TimeZone::local().unwrap_or(TimeZone::UTC), Schedule::time_zone),
            whole: Vec::new(),
            items: BTreeMap::new(),
            around: Vec::new(),
            is_cut: false,
        };
        past.read(reader, configuration.as_ref().map_or(0, JobConfiguration::sharding_total_count)).await?;
        Ok(past)
    }

    /// The configuration as it is now; `None` where the job has none that can be used, or is gone.
    async fn configuration_if_any(&self, job: &JobName) -> Result<Option<JobConfiguration>, OperationError> {
        match self.configuration(job).await {
            Ok(stored) => Ok(Some(stored.configuration)),
            Err(
                OperationError::NoSuchJob { .. }
                | OperationError::NoConfiguration { .. }
                | OperationError::Unreadable { .. },
            ) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// The fire at a time, or the first one soon after it.
fn fire_near(schedule: &Schedule, at: i64) -> Option<i64> {
    schedule.next_after(at - 1).filter(|fire| fire - at < NEAR)
}

/// The runs of a fire, and whether there are more.
async fn runs(
    reader: &AnyTraceReader,
    job: &JobName,
    fire: DateTime<Utc>,
) -> Result<(Vec<ExecutionRecord>, bool), ReadError> {
    let mut filter = ExecutionFilter::of_job(job.clone());
    (filter.scheduled_at, filter.from, filter.until) = (Some(fire), Some(fire - AHEAD), Some(fire + LATE));
    let (mut runs, is_cut) = match all_runs(reader, &filter).await {
        Ok(read) => read,
        // A table of Java alone.
        Err(ReadError::NoColumn { .. }) => (Vec::new(), false),
        Err(error) => return Err(error),
    };
    let mut filter = ExecutionFilter::of_job(job.clone());
    (filter.from, filter.until) = (Some(fire), Some(fire + SOON));
    let (unsaid, is_unsaid_cut) = all_runs(reader, &filter).await?;
    runs.extend(unsaid.into_iter().filter(|record| record.scheduled_at.is_none()));
    Ok((runs, is_cut || is_unsaid_cut))
}

async fn all_runs(
    reader: &AnyTraceReader,
    filter: &ExecutionFilter,
) -> Result<(Vec<ExecutionRecord>, bool), ReadError> {
    all(|page| async move { reader.executions(filter, &page).await }).await
}

/// The records of all pages, up to a limit, and whether there are more.
async fn all<T, P>(read: impl Fn(PageRequest) -> P) -> Result<(Vec<T>, bool), ReadError>
where
    P: Future<Output = Result<Page<T>, ReadError>>,
{
    let step = PageRequest::default().limit(STEP);
    let (mut records, mut request) = (Vec::new(), step.clone());
    loop {
        let page = read(request).await?;
        records.extend(page.records);
        match page.next {
            Some(next) if records.len() < MOST => request = step.clone().after(next),
            next => return Ok((records, next.is_some())),
        }
    }
}

/// Decisions, where they are recorded: the tables of Java, or an account that may not create tables, have none.
fn recorded(decisions: Result<Vec<DecisionRecord>, ReadError>) -> Result<Vec<DecisionRecord>, ReadError> {
    match decisions {
        Err(ReadError::NoTable { .. }) => Ok(Vec::new()),
        decisions => decisions,
    }
}

async fn first_decisions(
    reader: &AnyTraceReader,
    filter: &DecisionFilter,
    most: u32,
) -> Result<Vec<DecisionRecord>, ReadError> {
    let page = reader.decisions(filter, &PageRequest::default().limit(most)).await;
    recorded(page.map(|page| page.records))
}

async fn around(reader: &AnyTraceReader, job: &JobName, fire: DateTime<Utc>) -> Result<Vec<Happened>, ReadError> {
    let mut filter = DecisionFilter::of_job(job.clone());
    filter.kinds = AROUND.to_vec();
    filter.until = Some(fire);
    let mut found = first_decisions(reader, &filter, BEFORE).await?;
    (filter.from, filter.until) = (Some(fire), Some(fire + AFTER));
    found.extend(first_decisions(reader, &filter, MOST_AROUND).await?);
    found.sort_by_key(|record| record.at);
    Ok(found.into_iter().map(|record| Happened::Around(record.into())).collect())
}
