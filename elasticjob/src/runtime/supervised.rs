//! A driver that is looked after: one that panics does not keep its items to itself.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

use super::driver::{Driver, Job};
use crate::engine::{Activity, JobStatus};
use crate::log::{error, warn};
use crate::registry::path::JobPath;
use crate::registry::{RegistryCenter, Transaction};
use crate::unwind::catch;

/// How long the registry center may take to delete what a driver leaves.
const CLEANING: Duration = Duration::from_secs(10);

/// Drives a job to its end. After a panic of its driver the instance leaves the group, as its session goes on with the
/// other jobs of the process: the items go to other instances, and what was begun is lost like that of a crash.
pub(super) async fn supervised(job: Job, started: oneshot::Sender<Result<(), String>>) {
    let (registry, status) = (Arc::clone(&job.registry), job.status.clone());
    let name = job.engine.job_name().clone();
    let Err(panic) = catch(Driver::new(job, started).run()).await else { return };
    let instance = status.borrow().instance.clone();
    error!(
        job = %name, %instance,
        "the coordination of the job ended by a bug, and the job is stopped here: {panic}; its runs are cut off and its \
         items go to other instances; restart the process to have it here again"
    );
    let node = JobPath::Instance(instance).absolute(&name);
    if let Err(error) = leave(&*registry, node).await {
        warn!(job = %name, "the instance could not be deleted, its items wait for the end of the process: {error}");
    }
    status.send_modify(|status: &mut JobStatus| status.activity = Activity::Stopped);
}

async fn leave(registry: &dyn RegistryCenter, node: String) -> Result<(), String> {
    let mut transaction = Transaction::new();
    transaction.delete(node, None);
    match timeout(CLEANING, registry.commit(transaction)).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("no answer within {} s", CLEANING.as_secs())),
    }
}
