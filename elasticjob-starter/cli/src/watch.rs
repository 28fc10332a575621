//! `elasticjob status --watch`: writes the status again after each change.

use std::sync::Arc;

use elasticjob::ident::JobName;
use elasticjob::operations::Operations;
use elasticjob::registry::SessionState;
use elasticjob::registry::layout::JobPath;
use elasticjob::registry::watched::WatchedRegistry;
use elasticjob::schedule::{TimeZone, format_rfc3339};
use tokio::sync::watch::Receiver;

use crate::Console;
use crate::failure::Failure;
use crate::status::render;
use crate::time::{now, zone_of};

/// Clears the screen and goes to its top.
const CLEAR: &str = "\x1b[2J\x1b[H";

/// Writes the status of a job now and after each change, each with its time, until Ctrl-C or until the output is
/// closed. While the registry center is away, it waits and writes that. The nodes of the job are read once; after a change
/// only those that changed are read again.
pub(crate) async fn watch(
    operations: &Operations,
    job: &JobName,
    as_json: bool,
    console: &mut Console<'_>,
) -> Result<String, Failure> {
    let watched = WatchedRegistry::below(operations.registry().clone(), JobPath::Root.absolute(job));
    let views = Operations::new(Arc::new(watched.clone()));
    let mut changes = watched.changes();
    let mut connection = Connection { session: operations.registry().session(), is_away: false };
    let follow = async {
        loop {
            let look = async {
                // While the registry center is away, what is known is of before.
                loop {
                    if changes.changed().await.is_err() {
                        return std::future::pending().await;
                    }
                    if watched.lost_since().is_none() {
                        return views.snapshot(job).await;
                    }
                }
            };
            let looked = tokio::select! {
                looked = look => looked,
                // The snapshot under way is given up: the watch reports when the registry center is back.
                state = connection.lost() => {
                    if state == SessionState::Closed {
                        return Err(Failure::Watch("the registry center closed the session".to_owned()));
                    }
                    tell_waiting(console, "the connection is lost");
                    continue;
                }
            };
            let (text, zone) = match looked {
                Ok(snapshot) => (render(&snapshot, as_json), zone_of(&snapshot)),
                Err(error) if error.is_unreachable() => {
                    tell_waiting(console, &error.to_string());
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            let at = format_rfc3339(now(), zone);
            let text = crate::shown(&text);
            let text = match (as_json, console.is_terminal) {
                (true, _) => text,
                (false, true) => format!("{CLEAR}{at}\n\n{text}"),
                (false, false) => format!("{at}\n\n{text}\n"),
            };
            if !crate::written(console.stdout, &text)? {
                return Ok(String::new());
            }
        }
    };
    tokio::select! {
        ended = follow => ended,
        signal = tokio::signal::ctrl_c() => match signal {
            Ok(()) => Ok(String::new()),
            Err(error) => Err(Failure::Watch(error.to_string())),
        },
    }
}

/// Writes to the standard error that the status is not updated for now.
fn tell_waiting(console: &mut Console<'_>, why: &str) {
    let at = format_rfc3339(now(), TimeZone::local().unwrap_or(TimeZone::UTC));
    let _ = writeln!(console.stderr, "{at} waiting for the registry center: {why}");
}

/// The connection with the registry center.
struct Connection {
    session: Receiver<SessionState>,
    /// Whether it was lost at the last check.
    is_away: bool,
}

impl Connection {
    /// Waits until the connection is lost, or closed for ever. When it is lost already, waits for the next loss.
    async fn lost(&mut self) -> SessionState {
        loop {
            let state = *self.session.borrow_and_update();
            let is_away = !matches!(state, SessionState::Connected { .. });
            let is_lost_now = std::mem::replace(&mut self.is_away, is_away) != is_away && is_away;
            if is_lost_now || state == SessionState::Closed {
                return state;
            }
            if self.session.changed().await.is_err() {
                return SessionState::Closed;
            }
        }
    }
}
