//! The fires that a job has by its schedule, or by what the jobs before it did.

use std::cell::Cell;
use std::sync::Arc;

use super::dependencies::DependencyRecord;
use super::engine::JobEngine;
use crate::config::JobConfiguration;
use crate::ident::ShardingItem;
use crate::registry::layout::JobPath;

/// Where the fires of a job come from.
#[derive(Debug)]
pub(super) enum OwnFires {
    /// From a schedule.
    Scheduled(Scheduled),
    /// From what the leader decided, as far as the node still says it.
    Decided(Box<DependencyRecord>),
}

/// The fires of the schedule of a configuration.
#[derive(Debug)]
pub(super) struct Scheduled {
    configuration: Arc<JobConfiguration>,
    /// The fire after a time, as it was asked for last: thousands of items ask for the fire after the same one.
    asked: Cell<Option<(i64, Option<i64>)>>,
}

impl Scheduled {
    fn next_after(&self, after: i64) -> Option<i64> {
        if let Some((_, next)) = self.asked.get().filter(|(asked, _)| *asked == after) {
            return next;
        }
        let next = self.configuration.schedule()?.next_after(after);
        self.asked.set(Some((after, next)));
        next
    }
}

impl OwnFires {
    /// The first fire after a time that an item has to run for.
    pub(super) fn next_after(&self, item: ShardingItem, after: i64) -> Option<i64> {
        match self {
            Self::Scheduled(scheduled) => scheduled.next_after(after),
            Self::Decided(record) => record.due_after(after, item).map(|due| due.at),
        }
    }
}

impl JobEngine {
    /// The fires of the job, `None` where it has none or where they are not read yet.
    pub(super) fn own_fires(&self) -> Option<OwnFires> {
        let configuration = self.configuration.in_force.clone()?;
        if configuration.schedule().is_some() {
            return Some(OwnFires::Scheduled(Scheduled { configuration, asked: Cell::new(None) }));
        }
        let known = self.mirror.need(&JobPath::Dependencies).ok()??;
        Some(OwnFires::Decided(Box::new(self.read_decided(known)?)))
    }
}
