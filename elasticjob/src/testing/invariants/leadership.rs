//! Only the leader writes what is the leader's: who owns which item, and that a request for resharding is served.

use super::{Observation, Scene};
use crate::registry::Op;
use crate::registry::path::{ItemNode, JobPath};

pub(super) fn check(scene: &Scene<'_>, observation: &Observation<'_>) -> Result<(), String> {
    let Observation::Committed { session, host: Some(host), transaction, leader } = observation else { return Ok(()) };
    // A Java leader that was replaced while it was resharding goes on with it.
    if scene.is_java(*host) {
        return Ok(());
    }
    let leaders = transaction.ops().iter().find(|op| match (op, JobPath::parse(scene.job, op.path())) {
        (Op::Check { .. }, _) => false,
        // Anybody may ask: a Java leader loses requests, so its followers remind it.
        (Op::Create { .. }, Some(JobPath::Necessary)) => false,
        // A Java leader deletes items with all that is below, so those who begin them make them anew.
        (Op::Create { .. }, Some(JobPath::Item(_, ItemNode::Dir))) => !scene.is_mixed(),
        (_, Some(JobPath::Necessary | JobPath::Item(_, ItemNode::Instance | ItemNode::Dir))) => true,
        _ => false,
    });
    match leaders {
        Some(op) if *leader != Some(*session) => Err(format!(
            "host {host} wrote {} while {leader:?} was the leader's session, its own is {session}",
            op.path()
        )),
        _ => Ok(()),
    }
}
