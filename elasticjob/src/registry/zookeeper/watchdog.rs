//! Checks that the client library still works for its session.
//!
//! The task of the client library may have panicked, or may wait for something that never comes. The library then
//! reports for ever that it is connected. Requests to a task that has died fail at once, and its watches fall silent.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use super::session::Live;

/// The pause between a failed request on a connection that looks good and the request that has to fail too.
const AGAIN: Duration = Duration::from_secs(1);

/// Returns a description once the client of a session does not work any more although it reports that it is connected.
///
/// The watchdog sends a request after each session time-out in which no call got an answer, so it gives the client up
/// within three session time-outs. A client that lost its connection reports that, and then this future is dropped. The
/// watchdog holds the session only during a request.
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
