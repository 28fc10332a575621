//! Only the leader writes what is the leader's: requests for resharding, and who owns which item.

use super::{Observation, Scene};
use crate::registry::Op;
use crate::registry::path::{ItemNode, JobPath};

pub(super) fn check(scene: &Scene<'_>, observation: &Observation<'_>) -> Result<(), String> {
    let Observation::Committed { session, host: Some(host), transaction, leader } = observation else { return Ok(()) };
    // A Java leader that was replaced while it was resharding goes on with it.
    if scene.is_java(*host) {
        return Ok(());
    }
    let leaders = transaction.ops().iter().filter(|op| !matches!(op, Op::Check { .. })).find(|op| {
        matches!(
            JobPath::parse(scene.job, op.path()),
            Some(JobPath::Necessary | JobPath::Item(_, ItemNode::Instance | ItemNode::Dir))
        )
    });
    match leaders {
        Some(op) if *leader != Some(*session) => Err(format!(
            "host {host} wrote {} while {leader:?} was the leader's session, its own is {session}",
            op.path()
        )),
        _ => Ok(()),
    }
}
