//! Sees that the client library still works for its session.
//!
//! Its task may have panicked, or wait for something that never comes. The library says then for ever that it is connected.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use super::session::Live;

/// Between a request that failed on a connection that looks well and the one that has to fail too.
const AGAIN: Duration = Duration::from_secs(1);

/// Returns, with what was seen, once the client of a session does not work any more although it says that it is connected.
///
/// It is asked with a request after each session time-out without an answer to anybody, so it is given up within three of
/// these. A client that lost its connection says so, and this is dropped then. The session is held only while it is asked.
pub(super) async fn gave_up_working(live: impl Fn() -> Option<Arc<Live>>, mut count: impl FnMut()) -> String {
    loop {
        let Some(limit) = live().map(|live| live.client.session_timeout()) else { return pending().await };
        tokio::time::sleep(limit).await;
        let Some(live) = live() else { return pending().await };
        if live.answered.since_last() < limit {
            continue;
        }
        count();
        let Ok(first) = tokio::time::timeout(limit, live.client.check_stat("/")).await else {
            return format!("a request was not answered within {} ms", limit.as_millis());
        };
        if first.is_ok() {
            live.answered.note();
            continue;
        }
        tokio::time::sleep(AGAIN).await;
        count();
        match tokio::time::timeout(limit, live.client.check_stat("/")).await {
            Ok(Ok(_)) => live.answered.note(),
            Ok(Err(error)) => return format!("requests fail, the last one with: {error}"),
            Err(_) => return format!("a request was not answered within {} ms", limit.as_millis()),
        }
    }
}
