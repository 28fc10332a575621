//! What a panic of the user's code says.

use std::panic::{AssertUnwindSafe, catch_unwind};

use futures_util::FutureExt;

use crate::unwind::{describe_panic, note_places};

/// Runs `future` to its end, or to its panic, of which a description is returned. Polled again after that it would panic
/// again: it is dropped before.
pub(super) async fn catch<T>(future: impl Future<Output = T>) -> Result<T, String> {
    note_places();
    AssertUnwindSafe(future).catch_unwind().await.map_err(|panic| describe_panic(panic.as_ref()))
}

/// The same of a function.
pub(super) fn catch_blocking<T>(function: impl FnOnce() -> T) -> Result<T, String> {
    note_places();
    catch_unwind(AssertUnwindSafe(function)).map_err(|panic| describe_panic(panic.as_ref()))
}
