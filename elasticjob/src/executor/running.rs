//! A run that was spawned, and the means to end it.

use futures_util::future::AbortHandle;
use tokio_util::sync::CancellationToken;

/// The run of an item, or of listeners. Dropping this neither cancels nor aborts it.
#[derive(Debug, Clone)]
pub struct Running {
    /// `None` for listeners, whose call lasts for one listener round only.
    stop: Option<CancellationToken>,
    cancellation: CancellationToken,
    task: AbortHandle,
}

impl Running {
    pub(super) fn new(stop: Option<CancellationToken>, cancellation: CancellationToken, task: AbortHandle) -> Self {
        Self { stop, cancellation, task }
    }

    /// Asks the run to come to an end. It is a wish: see `ShardingContext::stop_wanted`.
    pub fn ask_to_stop(&self) {
        self.stop.iter().for_each(CancellationToken::cancel);
    }

    /// Asks the run to end: fires the token of its context.
    pub fn cancel(&self) {
        self.cancellation.cancel();
    }

    /// Drops the future of the run at its next await. Code that does not come to an await, above all blocking code,
    /// runs on; its end is reported when it is over.
    pub fn abort(&self) {
        self.task.abort();
    }
}
