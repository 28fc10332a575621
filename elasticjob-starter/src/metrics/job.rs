//! The counts of one job.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use elasticjob::api::JobFact;
use elasticjob::fire::{CancelReason, ExecutionSource, Fire, FireState, LateCause, SkipReason};
use elasticjob::ident::ShardingItem;
use prometheus_client::metrics::histogram::Histogram;

use super::locked;

/// How a run came about; the label `source`.
pub(super) const SOURCES: [&str; 5] = ["normal", "misfire", "failover", "trigger", "catch_up"];
/// How an item ended; the label `result`. All but the last one have a duration.
pub(super) const RESULTS: [&str; 4] = ["succeeded", "failed", "cancelled", "not_run"];
const NOT_RUN: usize = 3;

/// The upper bounds of durations and of lateness, in seconds.
const DURATIONS: [f64; 13] = [0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0, 600.0, 1_800.0, 3_600.0];
const LATENESS: [f64; 12] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0];

/// What was counted of a job. No count takes memory.
pub(super) struct JobSeries {
    pub(super) name: String,
    pub(super) registry: String,
    pub(super) fires: [AtomicU64; SOURCES.len()],
    pub(super) runs: [AtomicU64; RESULTS.len()],
    pub(super) durations: [Histogram; NOT_RUN],
    pub(super) lateness: Histogram,
    /// In the order of [`SkipReason::CODES`].
    pub(super) skipped: Vec<AtomicU64>,
    pub(super) missed: AtomicU64,
    pub(super) collapsed: AtomicU64,
    pub(super) failovers: AtomicU64,
    /// In the order of [`CancelReason::ALL`].
    pub(super) cancelled: Vec<AtomicU64>,
    pub(super) stale: AtomicU64,
    pub(super) resharding: AtomicU64,
    pub(super) moved: AtomicU64,
    pub(super) elections: AtomicU64,
    /// The items that run, each with its start in milliseconds since 1970. It keeps its room.
    started: Mutex<Vec<(ShardingItem, u64)>>,
}

impl JobSeries {
    pub(super) fn new(name: &str, registry: &str) -> Self {
        Self {
            name: name.to_owned(),
            registry: registry.to_owned(),
            fires: Default::default(),
            runs: Default::default(),
            durations: std::array::from_fn(|_| Histogram::new(DURATIONS)),
            lateness: Histogram::new(LATENESS),
            skipped: SkipReason::CODES.iter().map(|_| AtomicU64::default()).collect(),
            missed: AtomicU64::default(),
            collapsed: AtomicU64::default(),
            failovers: AtomicU64::default(),
            cancelled: CancelReason::ALL.iter().map(|_| AtomicU64::default()).collect(),
            stale: AtomicU64::default(),
            resharding: AtomicU64::default(),
            moved: AtomicU64::default(),
            elections: AtomicU64::default(),
            started: Mutex::default(),
        }
    }

    pub(super) fn count(&self, fact: &JobFact<'_>) {
        let add = |counter: &AtomicU64, count: u64| {
            counter.fetch_add(count, Ordering::Relaxed);
        };
        match fact {
            JobFact::Begun { fire, source, late, cause, .. } => {
                add(&self.fires[source_of(*fire, *source, *cause)], 1);
                // A run that makes up for a fire, or takes one over, is late by its nature.
                if let Some(late) = late.filter(|_| *source == ExecutionSource::NormalTrigger) {
                    self.lateness.observe(late.as_secs_f64());
                }
            }
            JobFact::ItemStarted { item, .. } => {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                let mut started = locked(&self.started);
                started.retain(|(running, _)| running != item);
                started.push((*item, u64::try_from(now.as_millis()).unwrap_or(u64::MAX)));
            }
            JobFact::ItemEnded { item, state, took, .. } => {
                locked(&self.started).retain(|(running, _)| running != item);
                let result = match state {
                    FireState::Succeeded => 0,
                    FireState::Failed => 1,
                    _ => 2,
                };
                add(&self.runs[result], 1);
                self.durations[result].observe(took.as_secs_f64());
            }
            JobFact::NotRun { items, .. } => add(&self.runs[NOT_RUN], *items as u64),
            JobFact::Skipped { reason, .. } => {
                let position = SkipReason::CODES.iter().position(|code| *code == reason.code());
                position.into_iter().for_each(|position| add(&self.skipped[position], 1));
            }
            JobFact::Missed { fires, .. } => add(&self.missed, *fires),
            JobFact::Collapsed => add(&self.collapsed, 1),
            JobFact::TakenOver => add(&self.failovers, 1),
            JobFact::RunsCancelled { reason, items, .. } => {
                let position = CancelReason::ALL.iter().position(|known| known == reason);
                position.into_iter().for_each(|position| add(&self.cancelled[position], *items as u64));
            }
            JobFact::Stale => add(&self.stale, 1),
            JobFact::Resharded { moved, .. } => {
                add(&self.resharding, 1);
                add(&self.moved, *moved as u64);
            }
            JobFact::Elected => add(&self.elections, 1),
            _ => {}
        }
    }

    /// The start of the oldest run, in seconds since 1970. `running` are the items that run by the status of the job: after
    /// a bug of its coordination no end of a run is reported.
    pub(super) fn oldest_start(&self, running: &[ShardingItem]) -> Option<f64> {
        let started = locked(&self.started);
        let starts = started.iter().filter(|(item, _)| running.contains(item)).map(|(_, at)| *at);
        starts.min().map(|at| at as f64 / 1_000.0)
    }
}

fn source_of(fire: Fire, source: ExecutionSource, cause: Option<LateCause>) -> usize {
    match (source, fire, cause) {
        (ExecutionSource::Misfire, ..) => 1,
        (ExecutionSource::Failover, ..) => 2,
        (_, Fire::Manual { .. }, _) => 3,
        (_, _, Some(cause)) if cause != LateCause::Waited => 4,
        _ => 0,
    }
}
