//! Only the leader writes what is the leader's: requests for resharding, and who owns which item.

use super::{Observation, Scene};
use crate::registry::Op;
use crate::registry::path::{ItemNode, JobPath};
use crate::testing::sim::Program;

pub(super) fn check(scene: &Scene<'_>, observation: &Observation<'_>) -> Result<(), String> {
    let Observation::Committed { session, host: Some(host), transaction, leader } = observation else { return Ok(()) };
    // A Java leader that was replaced while it was resharding goes on with it.
    if scene.is_java(*host) {
        return Ok(());
    }
    let leaders = transaction.ops().iter().find(|op| match (op, JobPath::parse(scene.job, op.path())) {
        (Op::Check { .. }, _) => false,
        // A Java leader loses requests, so its followers remind it. Nobody can tell what a leader is, so who has nothing
        // for long because everything runs on reminds ours as well.
        (Op::Create { .. }, Some(JobPath::Necessary)) => !scene.is_mixed() && has_items(scene, *host),
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

/// Whether a host owns an item.
fn has_items(scene: &Scene<'_>, host: usize) -> bool {
    let Some(Program::Engine(engine)) = scene.hosts[host].process.as_ref().map(|process| &process.program) else {
        return false;
    };
    (0..scene.total).any(|item| scene.text(&JobPath::owner_of(item)).as_deref() == Some(engine.instance().as_str()))
}
