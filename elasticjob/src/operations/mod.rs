//! Operations on jobs, for operators. They need only a registry center: no job has to run in this process.
//!
//! Jobs of this implementation and of ElasticJob 3.0.5 are treated alike. Every write is a transaction with the guards
//! that it needs, and every operation reports what it did. Where another client writes at the same time, the operation
//! reads and decides again. An operation that finds nothing to change for is an error, not a silent success.
//!
//! A view of a job takes several reads, so its parts may differ in time by a moment.
//!
//! ```
//! use std::sync::Arc;
//!
//! use elasticjob::operations::{OperationError, Operations, Target};
//! use elasticjob::registry::RegistryCenter;
//!
//! /// Takes a host out of all jobs before it is updated.
//! async fn drain(registry: Arc<dyn RegistryCenter>, host: &str) -> Result<(), OperationError> {
//!     let outcome = Operations::new(registry).disable_servers(&Target::Server(host.to_owned())).await?;
//!     for server in outcome.changed {
//!         println!("job {} gets nothing to run on {} any more", server.job, server.server);
//!     }
//!     Ok(())
//! }
//! ```

mod assignment;
mod audit;
mod built_in_checks;
mod cancel;
mod carried_wait;
mod commit;
mod configuration;
mod daemon;
mod dependency_checks;
pub mod dump;
mod error;
mod members;
mod origin;
mod read;
mod recorded_message;
mod refusals;
mod registration;
mod remove_job;
mod remove_servers;
mod rerun;
mod scheduler_note;
mod shell;
mod shut_down;
mod switch_items;
mod switch_servers;
mod target;
#[cfg(test)]
mod tests;
mod trigger;
mod views;

use std::sync::Arc;

use crate::fire::TraceParent;
use crate::registry::RegistryCenter;
use built_in_checks::BuiltIn;

pub use crate::engine::{
    DecidedFire, DependencyRecord, DueFire, DueItems, FollowedRerun, ItemSet, ParentEnd, ReleasedItems, SkippedItems,
    Unmet,
};
pub use crate::job_status::ConfigurationRefusal;
pub use crate::registry::layout::ServerStatus;
pub use audit::{ALL_JOBS, ActionEnd, Audit};
pub use carried_wait::CarriedWait;
pub use commit::Outcome;
pub use configuration::{ConfigurationChange, StoredConfiguration};
pub use daemon::DaemonTrouble;
pub(crate) use dependency_checks::{OtherJobs, closed_cycle, unequal_totals};
pub use error::{NotCancelled, NotRerun, OperationError};
pub use origin::{Origin, Surface};
#[doc(hidden)]
pub use registration::{CARRIED_JOBS, DISABLED_APPS, DISABLED_CARRIED_JOBS};
pub use remove_job::{Force, JobRemoved};
pub use remove_servers::Removed;
pub use rerun::RerunAsked;
#[doc(hidden)]
pub use shell::{shell_command, shell_operand, shell_option, shell_word};
pub use shut_down::InstanceOfJob;
pub use switch_items::ItemOfJob;
pub use switch_servers::ServerOfJob;
pub use target::Target;
pub use trigger::TriggerOutcome;
pub use views::{
    Argument, Catalogue, Finding, GraphEdge, GraphFire, GraphJob, GraphRun, GraphRuns, GraphState, Happened,
    InstanceBrief, InvalidNodePath, ItemCounts, ItemSnapshot, JobBrief, JobGraph, JobOfServer, JobOverview,
    JobSnapshot, JobState, Listed, Node, NodeLevel, NodePath, Overdue, PastError, PastFire, Reason, Remedy, RunOfJob,
    RunningMark, ServerBrief, ServerInJob, ShardInfo, ShardState,
};
#[doc(hidden)]
pub use views::{alarms, disabled};

pub use crate::secret::is_secret_key;

/// Operates the jobs of a namespace. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Operations {
    registry: Arc<dyn RegistryCenter>,
    built_in: Arc<BuiltIn>,
    audit: Option<Arc<Audit>>,
    trace_parent: Option<TraceParent>,
}

impl Operations {
    /// Operates the jobs of this registry center's namespace.
    pub fn new(registry: Arc<dyn RegistryCenter>) -> Self {
        Self { registry, built_in: Arc::new(BuiltIn::new()), audit: None, trace_parent: None }
    }

    /// The trace context of the caller, for the jobs that it triggers: their runs know it from
    /// [`Fire::trace_parent`](crate::fire::Fire::trace_parent).
    #[must_use]
    pub fn caused_by(self, trace_parent: Option<TraceParent>) -> Self {
        Self { trace_parent, ..self }
    }

    /// The registry center.
    pub fn registry(&self) -> &Arc<dyn RegistryCenter> {
        &self.registry
    }
}
