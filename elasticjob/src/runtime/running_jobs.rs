//! The jobs of this process that take part in the group of a registry center.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::handle::{JobHandle, ShutdownMode};
use crate::ident::JobName;
use crate::registry::RegistryCenter;

/// Jobs by registry center and name. A process has one job of a name at a time: two would share the session of the
/// process, and the session is what distinguishes instances, leaders and owners of runs.
#[derive(Debug, Default)]
pub(super) struct Members(Mutex<Jobs>);

#[derive(Debug, Default)]
struct Jobs {
    by_name: BTreeMap<(usize, JobName), JobHandle>,
    /// Whether the runtime of the program has ended: no further job comes.
    ended: bool,
    /// How many there were after those that are gone were forgotten last.
    kept: usize,
}

impl Jobs {
    /// Forgets jobs that are gone, once there are twice as many: to look at all of them for each one that comes would make
    /// the start of thousands of jobs slow.
    fn forget_gone(&mut self) {
        if self.by_name.len() > 2 * self.kept {
            self.by_name.retain(|_, job| !job.is_gone());
            self.kept = self.by_name.len();
        }
    }
}

/// Why a job does not take part.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoPlace {
    /// A job of that name takes part already, and was not asked to leave.
    AlreadyThere,
    /// The runtime of the program has ended.
    RuntimeEnded,
}

impl Members {
    /// Takes the place of a job. Waits while the last job of that name is leaving, and returns that job where its code
    /// may go on. Dropping the future while it waits takes nothing.
    pub(super) async fn enter(
        &self,
        registry: &Arc<dyn RegistryCenter>,
        name: &JobName,
        handle: &JobHandle,
    ) -> Result<Option<JobHandle>, NoPlace> {
        let key = (Arc::as_ptr(registry).cast::<()>().addr(), name.clone());
        loop {
            let last = {
                let mut jobs = self.lock();
                if jobs.ended {
                    return Err(NoPlace::RuntimeEnded);
                }
                jobs.forget_gone();
                match jobs.by_name.get(&key) {
                    Some(last) if !last.has_left() => last.clone(),
                    // One that is gone has nothing to hand over.
                    _ => return Ok(jobs.by_name.insert(key, handle.clone()).filter(|last| !last.is_gone())),
                }
            };
            if !last.is_leaving() {
                return Err(NoPlace::AlreadyThere);
            }
            last.left().await;
        }
    }

    /// Gives a place back to the job that had it before and whose code may go on: the next job of that name asks that
    /// job for its runs.
    pub(super) fn give_back(&self, registry: &Arc<dyn RegistryCenter>, name: &JobName, last: JobHandle) {
        let key = (Arc::as_ptr(registry).cast::<()>().addr(), name.clone());
        self.lock().by_name.insert(key, last);
    }

    /// Lets all jobs leave at once, and takes no further one. Returns how many were asked to leave.
    pub(super) fn end(&self) -> usize {
        let mut jobs = self.lock();
        jobs.ended = true;
        let there: Vec<&JobHandle> = jobs.by_name.values().filter(|job| !job.has_left()).collect();
        there.iter().for_each(|job| job.shutdown(ShutdownMode::Now));
        there.len()
    }

    fn lock(&self) -> MutexGuard<'_, Jobs> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
