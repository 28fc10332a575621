//! Notes: ephemeral nodes below a job that tell operators what only one process knows. No decision depends on them.

use super::layout::JobPath;
use super::{CommitError, CreateMode, Refusal, RegistryCenter, RegistryError, Transaction};
use crate::ident::JobName;

/// How often a write is tried when others write the same nodes.
const ATTEMPTS: usize = 4;

/// A note was not written.
#[derive(Debug)]
pub(crate) enum NoteError {
    /// The nodes were not read.
    Read(RegistryError),
    /// The transaction failed.
    Write(CommitError),
}

/// Puts a note in place of the one that is there, for as long as the session of this registry center lasts; `None` only deletes it.
/// Its parent is created where it is missing.
pub(crate) async fn put_note(
    registry: &dyn RegistryCenter,
    job: &JobName,
    path: &JobPath,
    data: Option<String>,
) -> Result<(), NoteError> {
    let node = path.absolute(job);
    let parent = path.parent().map(|parent| parent.absolute(job));
    let mut refused = None;
    for _ in 0..ATTEMPTS {
        let mut note = Transaction::new();
        if registry.get(&node).await.map_err(NoteError::Read)?.is_some() {
            // It may belong to another session.
            note.delete(node.clone(), None);
        } else if data.is_none() {
            return Ok(());
        }
        if let Some(data) = &data {
            if let Some(parent) = &parent
                && registry.get(parent).await.map_err(NoteError::Read)?.is_none()
            {
                note.create(parent.clone(), "", CreateMode::Persistent);
            }
            note.create(node.clone(), data.as_str(), CreateMode::Ephemeral);
        }
        match registry.commit(note).await {
            Ok(_) => return Ok(()),
            Err(reason @ CommitError::Refused { reason: Refusal::NoNode | Refusal::NodeExists, .. }) => {
                refused = Some(reason);
            }
            Err(reason) => return Err(NoteError::Write(reason)),
        }
    }
    refused.map_or(Ok(()), |reason| Err(NoteError::Write(reason)))
}
