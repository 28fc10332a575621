//! Only the leader writes what is the leader's: who owns which item, and that a request for resharding is served. And none
//! leads for long whose server is disabled.

use super::{Observation, Scene};
use crate::registry::Op;
use crate::registry::path::{ItemNode, JobPath};
use crate::testing::sim::EPOCH;

/// How long it may take to hear that the own server was disabled, in milliseconds.
const HEARD: i64 = 10_000;

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
    let Some(op) = leaders else { return Ok(()) };
    if *leader != Some(*session) {
        return Err(format!(
            "host {host} wrote {} while {leader:?} was the leader's session, its own is {session}",
            op.path()
        ));
    }
    let server = JobPath::Server(scene.hosts[*host].ip.as_str().into());
    let node = scene.tree.get(&server.absolute(scene.job)).ok().flatten();
    let long_ago = EPOCH + scene.now as i64 - HEARD;
    match node.filter(|node| node.data.text() == Some("DISABLED") && node.stat.mtime < long_ago) {
        Some(_) => Err(format!("host {host} wrote {}, and its server has long been disabled", op.path())),
        None => Ok(()),
    }
}
