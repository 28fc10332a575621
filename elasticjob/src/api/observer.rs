//! Hears of what happens to jobs on this instance, for metrics.

use std::time::Duration;

use crate::fire::{CancelReason, ExecutionSource, Fire, FireState, LateCause, SkipReason};
use crate::ident::{JobName, ShardingItem};

/// Hears of what the jobs of an environment do on this instance, to count it. It is called on the thread that coordinates
/// all jobs of the process, or on the one where an item ended: it must not wait, nor do anything that takes long. A panic
/// is caught, and logged.
pub trait JobObserver: Send + Sync + 'static {
    /// Something happened to a job.
    fn observe(&self, job: &JobName, fact: &JobFact<'_>);
}

/// A fact about a job on this instance, as it happens. What the job does now is in its
/// [`JobStatus`](crate::runtime::JobStatus).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum JobFact<'a> {
    /// Items of a fire began here.
    #[non_exhaustive]
    Begun {
        /// The fire.
        fire: Fire,
        /// Why they are run.
        source: ExecutionSource,
        /// How long after its scheduled time. `None` for a manual trigger.
        late: Option<Duration>,
        /// Why so late, where that is worth a line of the log.
        cause: Option<LateCause>,
    },
    /// An item starts. It may still wait for a slot of its pool.
    #[non_exhaustive]
    ItemStarted {
        /// The item.
        item: ShardingItem,
    },
    /// An item that had started ended.
    #[non_exhaustive]
    ItemEnded {
        /// The item.
        item: ShardingItem,
        /// How.
        state: FireState,
        /// How long it ran.
        took: Duration,
    },
    /// Items that had begun ended before they were started.
    #[non_exhaustive]
    NotRun {
        /// How many.
        items: usize,
    },
    /// A fire, or items of it, are not run by this instance.
    #[non_exhaustive]
    Skipped {
        /// Why.
        reason: &'a SkipReason,
    },
    /// Scheduled fires were due while the process was stopped, or the clock stepped over them, and are not run.
    #[non_exhaustive]
    Missed {
        /// How many. Of very many only the first 10,000 count.
        fires: u64,
    },
    /// A missed fire is not made up for by itself: a later one takes its place.
    Collapsed,
    /// An item was taken over from an instance that is gone.
    TakenOver,
    /// Runs were cancelled.
    #[non_exhaustive]
    RunsCancelled {
        /// Why.
        reason: CancelReason,
        /// How many.
        items: usize,
    },
    /// A run ended after its item went on without it.
    Stale,
    /// This instance assigned the items, as the leader.
    #[non_exhaustive]
    Resharded {
        /// How many items moved to another instance.
        moved: usize,
    },
    /// This instance leads.
    Elected,
}
