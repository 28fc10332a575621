//! Notes of a scheduler of carried jobs: ephemeral nodes below a job, on what only the scheduler knows.

use super::{OperationError, Operations};
use crate::ident::JobName;
use crate::registry::layout::JobPath;
use crate::registry::note::{NoteError, put_note};

impl Operations {
    /// Puts a note in place of the one that is there; `None` only deletes it.
    pub(super) async fn note(&self, job: &JobName, path: &JobPath, data: Option<String>) -> Result<(), OperationError> {
        put_note(&*self.registry, job, path, data).await.map_err(|error| match error {
            NoteError::Read(reason) => reason.into(),
            NoteError::Write(reason) => OperationError::Write { done: 0, reason },
        })
    }
}
