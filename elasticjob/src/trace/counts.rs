//! Counts of events.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts of events since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TracingCounts {
    /// Posted by the jobs.
    pub posted: u64,
    /// Taken by the storage.
    pub written: u64,
    /// Lost: the queue was full, the storage refused them, or the program ended before it was back.
    pub lost: u64,
}

impl TracingCounts {
    /// How many wait to be written.
    pub fn waiting(&self) -> u64 {
        self.posted.saturating_sub(self.written + self.lost)
    }
}

#[derive(Debug, Default)]
pub(super) struct Counters {
    posted: AtomicU64,
    written: AtomicU64,
    lost: AtomicU64,
}

impl Counters {
    pub(super) fn count_posted(&self) {
        self.posted.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_written(&self, events: usize) {
        self.written.fetch_add(events as u64, Ordering::Relaxed);
    }

    pub(super) fn count_lost(&self, events: usize) {
        self.lost.fetch_add(events as u64, Ordering::Relaxed);
    }

    pub(super) fn read(&self) -> TracingCounts {
        // Read before the number of posted events, so that no event counts as ended before it was posted.
        let (written, lost) = (self.written.load(Ordering::Acquire), self.lost.load(Ordering::Acquire));
        TracingCounts { posted: self.posted.load(Ordering::Acquire), written, lost }
    }
}
