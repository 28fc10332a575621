//! The run of one item on the user's runtime.

use tokio::runtime::Handle;

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
    let (stop, cancellation) = (context.stop_token().clone(), context.cancellation_token().clone());
    let (token, queue) = (cancellation.clone(), slots.queue());
    let mut guard = EndGuard::new(on_end);
    let handler = handler.clone();
    let task = runtime.spawn(async move {
        let Some(_slot) = queue.slot(&token).await else { return };
        guard.begin();
        // Inside of what catches panics: the call that makes the future, the text of the error, and dropping both.
        let run = async move { handler.run(context).await.map_err(|error| error.to_string()) };
        guard.end_with(match catch(run).await {
            Ok(Ok(())) => ItemOutcome::Succeeded,
            Ok(Err(error)) => ItemOutcome::Failed(error),
            Err(message) => ItemOutcome::Panicked(message),
        });
    });
    Running::new(Some(stop), cancellation, task.abort_handle())
}

#[cfg(test)]
mod tests;
