//! The run of one item on the user's runtime.

use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

use super::end::{EndGuard, ItemEnd, ItemOutcome};
use super::panic::catch;
use super::pool::Slots;
use super::running::Running;
use crate::api::{ItemHandler, ShardingContext};

/// Runs an item on `runtime`, as soon as one of the `slots` is free.
///
/// `on_end` is called exactly once, when the future of the run is gone for sure: after it returned, panicked or was
/// dropped, also when `runtime` is shut down, before the run began or in the midst of it. It is called on a thread of
/// `runtime`, or on the one that shuts `runtime` down; it must not block and not panic.
pub fn spawn_item(
    runtime: &Handle,
    slots: &Slots,
    handler: &ItemHandler,
    context: ShardingContext,
    on_end: impl FnOnce(ItemEnd) + Send + 'static,
) -> Running {
    let cancellation = context.cancellation_token().clone();
    let (token, slots) = (cancellation.clone(), Arc::clone(slots.free()));
    let mut guard = EndGuard::new(on_end);
    let handler = handler.clone();
    let task = runtime.spawn(async move {
        let Some(_slot) = slot(&slots, &token).await else { return };
        guard.begin();
        // Inside of what catches panics: the call that makes the future, the text of the error, and dropping both.
        let run = async move { handler.run(context).await.map_err(|error| error.to_string()) };
        guard.end_with(match catch(run).await {
            Ok(Ok(())) => ItemOutcome::Succeeded,
            Ok(Err(error)) => ItemOutcome::Failed(error),
            Err(message) => ItemOutcome::Panicked(message),
        });
    });
    Running::new(cancellation, task.abort_handle())
}

/// The turn of an item; `None` when it is cancelled while it waits: then it is not started at all.
async fn slot<'a>(slots: &'a Semaphore, token: &CancellationToken) -> Option<SemaphorePermit<'a>> {
    match slots.try_acquire() {
        Ok(slot) => Some(slot),
        Err(_) => token.run_until_cancelled(slots.acquire()).await?.ok(),
    }
}

#[cfg(test)]
mod tests;
