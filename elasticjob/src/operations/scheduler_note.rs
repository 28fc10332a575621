//! Notes of a scheduler of carried jobs: ephemeral nodes below a job, on what only the scheduler knows.

use super::{OperationError, Operations};
use crate::ident::JobName;
use crate::registry::layout::JobPath;
use crate::registry::{CommitError, CreateMode, Refusal, Transaction};

/// How often a write is tried when others write the same nodes.
const ATTEMPTS: usize = 4;

impl Operations {
    /// Puts a note in place of the one that is there, for as long as the session of this registry center lasts; `None` only deletes
    /// it. Its parent is created where it is missing.
    pub(super) async fn note(&self, job: &JobName, path: &JobPath, data: Option<String>) -> Result<(), OperationError> {
        let node = path.absolute(job);
        let parent = path.parent().map(|parent| parent.absolute(job));
        let mut refused = None;
        for _ in 0..ATTEMPTS {
            let mut note = Transaction::new();
            if self.get(node.clone()).await?.is_some() {
                // It may belong to another session.
                note.delete(node.clone(), None);
            } else if data.is_none() {
                return Ok(());
            }
            if let Some(data) = &data {
                if let Some(parent) = &parent
                    && self.get(parent.clone()).await?.is_none()
                {
                    note.create(parent.clone(), "", CreateMode::Persistent);
                }
                note.create(node.clone(), data.as_str(), CreateMode::Ephemeral);
            }
            match self.registry.commit(note).await {
                Ok(_) => return Ok(()),
                Err(reason @ CommitError::Refused { reason: Refusal::NoNode | Refusal::NodeExists, .. }) => {
                    refused = Some(reason);
                }
                Err(reason) => return Err(OperationError::Write { done: 0, reason }),
            }
        }
        refused.map_or(Ok(()), |reason| Err(OperationError::Write { done: 0, reason }))
    }
}
