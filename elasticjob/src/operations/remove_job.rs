//! Removes a job with all its nodes in the registry center.

use serde::Serialize;

use super::commit::{Step, is_of_a_race};
use super::{OperationError, Operations};
use crate::ident::{InstanceId, JobName};
use crate::registry::layout::JobPath;
use crate::registry::{CommitError, Op};

/// How often the nodes of a job are listed again when other clients write below it.
const ATTEMPTS: usize = 8;

/// Whether to remove a job, or servers, while instances are online.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Force {
    /// Refuse the removal.
    No,
    /// Make the instances leave.
    Yes,
}

/// A job was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct JobRemoved {
    /// The job.
    pub job: JobName,
    /// The number of nodes that it had.
    pub nodes: usize,
    /// The instances that were made to leave.
    pub instances: Vec<InstanceId>,
}

impl Operations {
    /// Removes a job with its configuration, items and records. When an instance starts again, it creates the job
    /// again, with the configuration of its program.
    ///
    /// The removal is refused while instances are online: without the configuration a Java instance fails at each fire,
    /// and an instance of this implementation leaves in the middle of its work. An instance that starts at this moment
    /// causes a refusal too. Java removes the nodes without a check.
    ///
    /// # Errors
    /// [`OperationError::InstancesOnline`]. A job whose nodes do not fit into one transaction may be removed in part
    /// when another error comes; removing it again deletes the rest.
    pub async fn remove_job(&self, job: &JobName, force: Force) -> Result<JobRemoved, OperationError> {
        let ended = self.remove_all(job, force).await;
        self.record_removal(job, &ended);
        ended
    }

    async fn remove_all(&self, job: &JobName, force: Force) -> Result<JobRemoved, OperationError> {
        let mut done = Vec::new();
        let mut left = Vec::new();
        for _ in 0..ATTEMPTS {
            let tree = self.tree(job).await?;
            if tree.is_empty() && done.is_empty() {
                return Err(self.no_such_job(job).await);
            }
            let instances = online(job, &tree);
            if force == Force::No && !instances.is_empty() {
                return Err(OperationError::InstancesOnline { job: job.clone(), instances });
            }
            left.extend(instances);
            match self.write(deletions(job, tree), &mut done).await {
                Ok(()) => {
                    left.sort_unstable();
                    left.dedup();
                    return Ok(JobRemoved { job: job.clone(), nodes: done.len(), instances: left });
                }
                Err(CommitError::Refused { reason, .. }) if is_of_a_race(reason) => {}
                Err(reason) => return Err(OperationError::Write { done: done.len(), reason }),
            }
        }
        Err(OperationError::Contended { done: done.len() })
    }
}

fn online(job: &JobName, tree: &[String]) -> Vec<InstanceId> {
    let instance = |path: &String| match JobPath::parse(job, path) {
        Some(JobPath::Instance(id)) => Some(id),
        _ => None,
    };
    tree.iter().filter_map(instance).collect()
}

/// The deletions, deepest nodes first. The instances and their parent come before all others: the parent cannot be
/// deleted when another instance has started, so the transaction is refused then.
fn deletions(job: &JobName, tree: Vec<String>) -> Vec<Step<()>> {
    let parent = JobPath::Instances.absolute(job);
    let below = format!("{parent}/");
    let is_of_instances = |path: &String| *path == parent || path.starts_with(&below);
    let (first, others): (Vec<String>, Vec<String>) = tree.into_iter().partition(is_of_instances);
    let delete = |path| Step::new(vec![()], vec![Op::Delete { path, version: None }]);
    first.into_iter().rev().chain(others.into_iter().rev()).map(delete).collect()
}
