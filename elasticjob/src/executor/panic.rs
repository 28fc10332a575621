//! What a panic of the user's code says.

use std::panic::{AssertUnwindSafe, catch_unwind};

use futures_util::FutureExt;

use crate::unwind::panic_message;

/// Runs `future` to its end, or to its panic, of which the message is returned. Polled again after that it would panic
/// again: it is dropped before.
pub(super) async fn catch<T>(future: impl Future<Output = T>) -> Result<T, String> {
    AssertUnwindSafe(future).catch_unwind().await.map_err(|panic| panic_message(panic.as_ref()))
}

/// The same of a function.
pub(super) fn catch_blocking<T>(function: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(function)).map_err(|panic| panic_message(panic.as_ref()))
}
