//! Counts of events.

use std::sync::atomic::{AtomicU64, Ordering};

use super::event::JobEvent;

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
    /// The lost events by cause.
    pub lost_by: LostEvents,
    /// The posted events by table.
    pub posted_to: PostedEvents,
}

/// Lost events by cause.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LostEvents {
    /// The queue was full, or the tracing was closed.
    pub queue_full: u64,
    /// The storage refused them.
    pub refused: u64,
    /// The program ended before they were written.
    pub not_in_time: u64,
}

/// Posted events by table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PostedEvents {
    /// Runs of items.
    pub executions: u64,
    /// States of runs.
    pub states: u64,
    /// Decisions.
    pub decisions: u64,
    /// Lines of the logs of runs.
    pub lines: u64,
}

impl TracingCounts {
    /// The number of events that wait to be written.
    pub fn waiting(&self) -> u64 {
        self.posted.saturating_sub(self.written + self.lost)
    }
}

#[derive(Debug, Default)]
pub(super) struct Counters {
    executions: AtomicU64,
    states: AtomicU64,
    decisions: AtomicU64,
    lines: AtomicU64,
    written: AtomicU64,
    lost: [AtomicU64; 3],
}

/// Why events are lost.
#[derive(Debug, Clone, Copy)]
pub(super) enum Loss {
    QueueFull,
    Refused,
    NotInTime,
}

impl Counters {
    pub(super) fn count_posted(&self, event: &JobEvent) {
        let counter = match event {
            JobEvent::Execution(_) => &self.executions,
            JobEvent::Status(_) => &self.states,
            JobEvent::Decision(_) => &self.decisions,
            JobEvent::Log(_) => &self.lines,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_written(&self, events: usize) {
        self.written.fetch_add(events as u64, Ordering::Relaxed);
    }

    pub(super) fn count_lost(&self, events: usize, loss: Loss) {
        self.lost[loss as usize].fetch_add(events as u64, Ordering::Relaxed);
    }

    pub(super) fn read(&self) -> TracingCounts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Acquire);
        // Read before the number of posted events, so that no event counts as ended before it was posted.
        let written = read(&self.written);
        let [queue_full, refused, not_in_time] = [0, 1, 2].map(|loss| read(&self.lost[loss]));
        let lost_by = LostEvents { queue_full, refused, not_in_time };
        let posted_to = PostedEvents {
            executions: read(&self.executions),
            states: read(&self.states),
            decisions: read(&self.decisions),
            lines: read(&self.lines),
        };
        let posted = posted_to.executions + posted_to.states + posted_to.decisions + posted_to.lines;
        TracingCounts { posted, written, lost: queue_full + refused + not_in_time, lost_by, posted_to }
    }
}
