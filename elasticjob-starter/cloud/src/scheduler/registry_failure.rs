//! A question to the registry center, or a change there, that failed.

use elasticjob::registry::{CommitError, RegistryError};

/// Why what a scheduler keeps in the registry center could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub(super) enum RegistryFailure {
    #[error(transparent)]
    Read(#[from] RegistryError),
    #[error(transparent)]
    Write(#[from] CommitError),
}
