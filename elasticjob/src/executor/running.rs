//! A run that was spawned, and how it is told to end.

use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

/// The run of an item, or of listeners. Dropping this neither cancels nor aborts it.
#[derive(Debug, Clone)]
pub struct Running {
    /// `None` for listeners, which go on for one round only.
    stop: Option<CancellationToken>,
    cancellation: CancellationToken,
    task: AbortHandle,
}

impl Running {
    pub(super) fn new(stop: Option<CancellationToken>, cancellation: CancellationToken, task: AbortHandle) -> Self {
        Self { stop, cancellation, task }
    }

    /// Tells the run that somebody wants it to come to an end.
    pub fn ask_to_stop(&self) {
        self.stop.iter().for_each(CancellationToken::cancel);
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
