//! The run of one item on the runtime of the program.

use futures_util::FutureExt;
use futures_util::future::abortable;
use tokio_util::task::AbortOnDropHandle;

use super::end::{EndGuard, ExecutionEnd, ItemOutcome};
use super::launcher::Task;
use super::pool::Slots;
use super::running::Running;
use crate::api::{ItemHandler, ItemWork, ShardingContext};
use crate::panics::{catch, catch_blocking};

/// Runs an item as soon as one of the `slots` is free. `launch` gets the task and starts it on the runtime of the program,
/// soon. Work that blocks runs on a thread that this runtime has for blocking work.
///
/// `on_end` is called exactly once, when the run is certainly gone: after it returned, panicked or was dropped. That
/// includes a shutdown of the runtime before the run began or while it ran. `on_end` is called on a thread of the runtime,
/// or on the thread that shuts it down; it must not block and not panic.
pub fn spawn_item(
    launch: impl FnOnce(Task),
    slots: &Slots,
    handler: &ItemHandler,
    context: ShardingContext,
    on_end: impl FnOnce(ExecutionEnd) + Send + 'static,
) -> Running {
    let (stop, cancellation) = (context.stop_token().clone(), context.cancellation_token().clone());
    let token = cancellation.clone();
    let (of_all, of_blocking) = slots.queues(context.source());
    let mut guard = EndGuard::new(on_end);
    let handler = handler.clone();
    let (task, abort) = abortable(async move {
        let Some(slot) = of_all.slot(&token).await else { return };
        guard.begin();
        // This catches panics of the call that makes the work, of the text of the error, and of dropping all of it.
        let work = match catch_blocking(move || handler.work(context)) {
            Ok(work) => work,
            Err(message) => return guard.end_with(ItemOutcome::Panicked(message)),
        };
        match work {
            ItemWork::Async(future) => {
                let run = async move { future.await.map_err(|error| error.to_string()) };
                guard.end_with(outcome(catch(run).await));
            }
            ItemWork::Blocking(run) => {
                guard.wait();
                let Some(blocking_slot) = of_blocking.slot(&token).await else { return };
                // Blocking code cannot be dropped. It takes the guard along, and the guard reports the end when the
                // code has returned. Blocking code that has no thread yet is dropped when it would get one.
                let blocking = tokio::task::spawn_blocking(move || {
                    let _slots = (slot, blocking_slot);
                    // The time until here was the wait for a thread.
                    guard.begin();
                    guard.end_with(outcome(catch_blocking(|| run().map_err(|error| error.to_string()))));
                });
                // The blocking code has reported its end by itself.
                let _ = AbortOnDropHandle::new(blocking).await;
            }
        }
    });
    // An aborted task has nothing to tell: its guard has told the end.
    launch(Box::pin(task.map(drop)));
    Running::new(Some(stop), cancellation, abort)
}

fn outcome(ended: Result<Result<(), String>, String>) -> ItemOutcome {
    match ended {
        Ok(Ok(())) => ItemOutcome::Succeeded,
        Ok(Err(error)) => ItemOutcome::Failed(error),
        Err(message) => ItemOutcome::Panicked(message),
    }
}

#[cfg(test)]
mod tests;
