//! A run, as the code of users sees it.

use std::fmt;
use std::sync::Arc;

use chrono::{DateTime, FixedOffset};

use crate::config::JobConfiguration;
use crate::fire::{Rerun, RunKey};
use crate::ident::{InstanceId, JobName, ShardingItem, TaskId};

/// A run: items of a fire that were begun together on an instance. The contexts of its items and of their listeners, and
/// the report of a failure share it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RunInfo {
    /// The fire, and why its items are run.
    pub key: RunKey,
    /// The job as configured when the run began.
    pub configuration: Arc<JobConfiguration>,
    /// The instance that runs the items.
    pub instance: InstanceId,
    /// The items on this instance, in ascending order.
    pub items: Vec<ShardingItem>,
    /// Id of the run as ElasticJob writes it. It is the same for all runs of the same items on the same instance.
    pub task_id: TaskId,
    /// The time the fire was scheduled for, in the zone of the job; of a manual trigger the time it was triggered, of a
    /// [re-run](Self::rerun) the time the fire was scheduled for that is run again.
    pub scheduled_at: DateTime<FixedOffset>,
}

impl RunInfo {
    /// Describes a run. Made by the runtime, and by tests that call code of a job themselves.
    pub fn new(
        key: RunKey,
        configuration: Arc<JobConfiguration>,
        instance: InstanceId,
        items: Vec<ShardingItem>,
        scheduled_at: DateTime<FixedOffset>,
    ) -> Self {
        let task_id = TaskId::new(configuration.job_name(), items.iter().copied(), &instance);
        Self { key, configuration, instance, items, task_id, scheduled_at }
    }

    /// The past fire that is run again, as an operator asked for it; `None` for a fire that came.
    pub fn rerun(&self) -> Option<Rerun> {
        self.key.fire.rerun()
    }

    /// Name of the job.
    pub fn job_name(&self) -> &JobName {
        self.configuration.job_name()
    }
}

/// One line for readers.
impl fmt::Display for RunInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, task_id, scheduled_at, .. } = self;
        let what = if self.rerun().is_some() { "re-run of the fire" } else { "fire" };
        write!(f, "{what} of {}, {}, task {task_id}", scheduled_at.to_rfc3339(), key.source)
    }
}
