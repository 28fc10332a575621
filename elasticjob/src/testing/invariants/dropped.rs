//! A run is dropped before the server ends its session, as another instance may be given its item from then on. Where the
//! process was frozen at that moment, it is dropped in the first step that the process takes.
//!
//! Left to the fence: what cannot be dropped, and what a process does while it is frozen.

use super::{Observation, Scene};
use crate::registry::SessionId;
use crate::testing::sim::Process;

pub(super) fn check(scene: &Scene<'_>, observation: &Observation<'_>) -> Result<(), String> {
    match observation {
        Observation::SessionEnded { session } => {
            let mut processes =
                scene.hosts.iter().enumerate().filter_map(|(n, host)| Some((n, host.process.as_ref()?)));
            let outlived = |process: &Process| outlives(process, |of| of == *session);
            processes.try_for_each(|(host, process)| match outlived(process).filter(|_| !process.is_frozen()) {
                Some(what) => Err(format!("the server ends session {session}, and host {host} still has {what}")),
                None => Ok(()),
            })
        }
        Observation::Attended { host } => {
            let Some(process) = &scene.hosts[*host].process else { return Ok(()) };
            match outlives(process, |of| scene.tree.session_timeout(of).is_none()) {
                Some(what) => Err(format!("host {host} goes on with {what}, whose session has ended")),
                None => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

/// What a process still does that it began in such a session, and could have dropped.
fn outlives(process: &Process, has_ended: impl Fn(SessionId) -> bool) -> Option<String> {
    let of_ended = |session: Option<SessionId>| session.is_some_and(&has_ended);
    let goes_on = |gone: bool, session| !gone && of_ended(session);
    let mut runs = process.executions.iter();
    let mut calls = process.calls.values();
    let run = runs.find(|(_, run)| goes_on(run.aborted || (run.blocking && run.cancelled), run.session));
    let call = calls.find(|call| goes_on(call.aborted || (call.blocking && call.cancelled), call.session));
    let run = run.map(|(item, run)| format!("its run of item {item} of {}", run.fire));
    run.or_else(|| call.map(|call| format!("its call of {:?} {} {}", call.listeners, call.hook, call.fire)))
}
