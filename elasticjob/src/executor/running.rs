//! A run that was spawned, and how it is told to end.

use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

/// The run of an item, or of listeners. Dropping this neither cancels nor aborts it.
#[derive(Debug, Clone)]
pub struct Running {
    cancellation: CancellationToken,
    task: AbortHandle,
}

impl Running {
    pub(super) fn new(cancellation: CancellationToken, task: AbortHandle) -> Self {
        Self { cancellation, task }
    }

    /// Asks the run to end: fires the token of its context.
    pub fn cancel(&self) {
        self.cancellation.cancel();
    }

    /// Drops the future of the run at its next await. Code that does not come to an await, blocking code above all, runs
    /// on; the end is told when it is over.
    pub fn abort(&self) {
        self.task.abort();
    }
}
