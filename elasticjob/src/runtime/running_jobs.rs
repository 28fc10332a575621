//! The jobs of this process that take part in the group of a registry center.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::handle::JobHandle;
use crate::ident::JobName;
use crate::registry::RegistryCenter;

/// Jobs by registry center and name. A process has one job of a name at a time: two would share the session of the
/// process, and the session is what distinguishes instances, leaders and owners of runs.
#[derive(Debug, Default)]
pub(super) struct Members(Mutex<BTreeMap<(usize, JobName), JobHandle>>);

/// A job of that name takes part already, and was not asked to leave.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AlreadyThere;

impl Members {
    /// Takes the place of a job. Waits while the last job of that name is leaving, and returns that job where its code
    /// may go on. Dropping the future while it waits takes nothing.
    pub(super) async fn enter(
        &self,
        registry: &Arc<dyn RegistryCenter>,
        name: &JobName,
        handle: &JobHandle,
    ) -> Result<Option<JobHandle>, AlreadyThere> {
        let key = (Arc::as_ptr(registry).cast::<()>().addr(), name.clone());
        loop {
            let last = {
                let mut members = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                members.retain(|_, member| !member.is_gone());
                match members.get(&key) {
                    Some(last) if !last.has_left() => last.clone(),
                    _ => return Ok(members.insert(key, handle.clone())),
                }
            };
            if !last.is_leaving() {
                return Err(AlreadyThere);
            }
            last.left().await;
        }
    }

    /// Gives a place back to the job that had it before and whose code may go on: the next job of that name asks that
    /// job for its runs.
    pub(super) fn give_back(&self, registry: &Arc<dyn RegistryCenter>, name: &JobName, last: JobHandle) {
        let key = (Arc::as_ptr(registry).cast::<()>().addr(), name.clone());
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, last);
    }
}
