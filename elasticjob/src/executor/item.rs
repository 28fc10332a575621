//! The run of one item on the user's runtime.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

use super::end::{EndGuard, ItemEnd, ItemOutcome};
use crate::api::{ItemHandler, ShardingContext};
use crate::unwind::panic_message;

/// The run of an item that was spawned. Dropping this neither cancels nor aborts it.
#[derive(Debug, Clone)]
pub struct RunningItem {
    cancellation: CancellationToken,
    task: AbortHandle,
}

impl RunningItem {
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

/// Runs an item on `runtime`.
///
/// `on_end` is called exactly once, when the future of the run is gone for sure: after it returned, panicked or was
/// dropped, also when `runtime` is shut down, before the run began or in the midst of it. It is called on a thread of
/// `runtime`, or on the one that shuts `runtime` down; it must not block and not panic.
pub fn spawn_item(
    runtime: &Handle,
    handler: &ItemHandler,
    context: ShardingContext,
    on_end: impl FnOnce(ItemEnd) + Send + 'static,
) -> RunningItem {
    let cancellation = context.cancellation_token().clone();
    let mut guard = EndGuard::new(on_end);
    let handler = Arc::clone(handler);
    let task = runtime.spawn(async move {
        guard.begin();
        // Inside of what catches panics: the call that makes the future, the text of the error, and dropping both.
        let run = async move { handler(context).await.map_err(|error| error.to_string()) };
        guard.end_with(match AssertUnwindSafe(run).catch_unwind().await {
            Ok(Ok(())) => ItemOutcome::Succeeded,
            Ok(Err(error)) => ItemOutcome::Failed(error),
            Err(panic) => ItemOutcome::Panicked(panic_message(panic.as_ref())),
        });
    });
    RunningItem { cancellation, task: task.abort_handle() }
}

#[cfg(test)]
mod tests;
