//! The wait for something that a process or a server does by itself.

use std::time::{Duration, Instant};

use tokio::time::sleep;

/// The time between two looks.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// Looks again and again until there is something, and returns it.
///
/// # Panics
/// When there is nothing within the limit: with what was waited for, and what is told of it then.
pub async fn until<T>(
    limit: Duration,
    what: &str,
    told: impl Fn() -> String,
    mut find: impl FnMut() -> Option<T>,
) -> T {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(Instant::now() < deadline, "not within {limit:?}: {what}\n{}", told());
        sleep(BETWEEN_LOOKS).await;
    }
}
