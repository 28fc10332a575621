//! The configurations of many jobs: as a file of settings, and beside those of another registry center.

pub(crate) mod compared;
pub(crate) mod exported;

use elasticjob::config::Message;
use elasticjob::ident::JobName;
use elasticjob::operations::{OperationError, Operations, StoredConfiguration};

/// How many configurations are read at a time.
const AT_ONCE: usize = 16;

/// A configuration, as far as there is one.
enum Read {
    Stored(Box<StoredConfiguration>),
    /// It cannot be used, for this reason.
    Unusable(Message),
    /// The job was removed meanwhile.
    Gone,
}

async fn read(operations: &Operations, job: &JobName) -> Result<Read, OperationError> {
    match operations.configuration(job).await {
        Ok(stored) => Ok(Read::Stored(Box::new(stored))),
        Err(wrong @ OperationError::Unreadable { .. }) => Ok(Read::Unusable(wrong.message())),
        Err(OperationError::NoSuchJob { .. } | OperationError::NoConfiguration { .. }) => Ok(Read::Gone),
        Err(error) => Err(error),
    }
}
