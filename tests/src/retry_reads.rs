//! Reads of the registry that a moment without it does not fail.

use std::time::Duration;

use elasticjob::registry::{Answer, RegistryError};
use tokio::time::{Instant, sleep};

const LIMIT: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(20);

/// What the registry answers, as soon as it does: a busy machine may lose a connection, which comes back.
///
/// # Panics
/// When it refuses, or does not answer in time.
pub async fn answered<T>(read: impl Fn() -> Answer<T>) -> T {
    let deadline = Instant::now() + LIMIT;
    loop {
        match read().await {
            Ok(answer) => return answer,
            Err(RegistryError::NoAnswer { .. }) if Instant::now() < deadline => sleep(PAUSE).await,
            Err(error) => panic!("{error}"),
        }
    }
}
