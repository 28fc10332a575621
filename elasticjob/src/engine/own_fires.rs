//! The fires that a job has by its schedule, or by what the jobs before it did.

use std::sync::Arc;

use super::dependencies::DependencyRecord;
use super::engine::JobEngine;
use crate::config::JobConfiguration;
use crate::ident::ShardingItem;
use crate::registry::layout::JobPath;

/// Where the fires of a job come from.
#[derive(Debug)]
pub(super) enum OwnFires {
    /// From the schedule of this configuration.
    Scheduled(Arc<JobConfiguration>),
    /// From what the leader decided, as far as the node still says it.
    Decided(Box<DependencyRecord>),
}

impl OwnFires {
    /// The first fire after a time that an item has to run for.
    pub(super) fn next_after(&self, item: ShardingItem, after: i64) -> Option<i64> {
        match self {
            Self::Scheduled(configuration) => configuration.schedule()?.next_after(after),
            Self::Decided(record) => record.due_after(after, item).map(|due| due.at),
        }
    }
}

impl JobEngine {
    /// The fires of the job, `None` where it has none or where they are not read yet.
    pub(super) fn own_fires(&self) -> Option<OwnFires> {
        let configuration = self.configuration.in_force.clone()?;
        if configuration.schedule().is_some() {
            return Some(OwnFires::Scheduled(configuration));
        }
        let known = self.mirror.need(&JobPath::Dependencies).ok()??;
        Some(OwnFires::Decided(Box::new(self.read_decided(known)?)))
    }
}
