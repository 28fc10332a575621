//! Calling listeners on the user's runtime.

use std::sync::Arc;

use futures_util::future::abortable;
use tokio::runtime::Handle;

use super::end::{EndGuard, ItemOutcome};
use super::running::Running;
use crate::api::{AnyJobListener, ListenerContext};
use crate::fire::Hook;
use crate::panics::catch;

/// Calls listeners one after the other on `runtime`.
///
/// `on_failure` gets each error and panic; the next listener is called all the same. `on_end` is called exactly once,
/// when the future of the call is certainly gone, as for [`spawn_item`](super::spawn_item). Neither may block or panic.
pub fn spawn_listeners(
    runtime: &Handle,
    listeners: Vec<Arc<AnyJobListener>>,
    hook: Hook,
    context: ListenerContext,
    on_failure: impl Fn(&AnyJobListener, String) + Send + 'static,
    on_end: impl FnOnce() + Send + 'static,
) -> Running {
    let cancellation = context.cancellation_token().clone();
    let mut guard = EndGuard::new(|_| on_end());
    let (task, abort) = abortable(async move {
        guard.begin();
        for listener in &listeners {
            // This future catches panics of the call that makes the future, of the text of the error, and of dropping
            // both.
            let call = async { listener.call(hook, &context).await.map_err(|error| error.to_string()) };
            match catch(call).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) | Err(error) => on_failure(listener, error),
            }
        }
        guard.end_with(ItemOutcome::Succeeded);
    });
    runtime.spawn(task);
    Running::new(None, cancellation, abort)
}

#[cfg(test)]
mod tests;
