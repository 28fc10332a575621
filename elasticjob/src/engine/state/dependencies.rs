//! The engine's state for the jobs that its job depends on.

use std::time::Duration;

use crate::engine::dependencies::{DependencyRecord, DueFire, Parents, Release, Reruns};
use crate::ident::{JobName, ShardingItem};

/// Empty for a job that depends on none.
#[derive(Debug, Default)]
pub(in crate::engine) struct Dependencies {
    /// The jobs that the edge tells of: those that the configuration names, while this instance leads.
    pub(in crate::engine) following: Vec<JobName>,
    pub(in crate::engine) parents: Parents,
    pub(in crate::engine) reruns: Reruns,
    /// A fire of these jobs that began before its time: it is decided when its time has come.
    pub(in crate::engine) undecided: Option<i64>,
    /// When it is known which items take part in a re-run that is not decided.
    pub(in crate::engine) reruns_settle: Option<Duration>,
    /// The latest fires that came here, in the order in which they did.
    pub(in crate::engine) due: Vec<DueFire>,
    /// The fire that is due and whose items are left time before the next one becomes due, and until when.
    pub(in crate::engine) leaves_time: Option<(i64, Duration)>,
    /// Until when the owners of items that were released last may begin these, by the clock that never steps.
    pub(in crate::engine) released_until: Option<Duration>,
    /// The jobs that were reported as having another number of items, with that number.
    pub(in crate::engine) other_totals: Vec<(JobName, u32)>,
    /// What was read last of the node, where items of this job follow items with the same number.
    pub(in crate::engine) items: Option<Box<DependencyRecord>>,
}

impl Dependencies {
    /// Whether an item may begin for the scheduled fire at this time, where items follow items with the same number.
    pub(in crate::engine) fn release(&self, at: i64, item: ShardingItem) -> Release {
        let Some(record) = self.items.as_deref() else { return Release::Held };
        let known = record.release(at, item);
        // Of an earlier fire the node says no more what was decided. A later one has not become due.
        known.unwrap_or_else(|| if at <= record.through { Release::Since(self.due_since(at)) } else { Release::Held })
    }

    /// When the fire at this time became due.
    pub(in crate::engine) fn due_since(&self, at: i64) -> i64 {
        self.due.iter().find(|due| due.at == at).map_or(at, |due| due.since)
    }
}
