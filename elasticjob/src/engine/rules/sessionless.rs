//! Nodes that say that an instance, a run or a candidate lives, and that no session owns.
//!
//! Every implementation creates them as ephemeral nodes. A node that is not ephemeral was copied from another place: a
//! backup, another namespace. It would say so for ever: such an instance is given items and runs none of them.

use crate::engine::engine::JobEngine;
use crate::engine::planted::Bug;
use crate::registry::mirror::{Known, Lookup};
use crate::registry::path::{ItemNode, JobPath};

/// The nodes to be deleted, with their versions; the leader looks for them. `None` while data are missing.
pub(super) fn nodes(engine: &JobEngine) -> Option<Vec<(JobPath, i32)>> {
    if engine.leadership.term.is_none() || engine.planted.has(Bug::SessionlessInstance) {
        return Some(Vec::new());
    }
    let mirror = &engine.mirror;
    let instances = mirror.instances().map(|id| JobPath::Instance(id.clone()));
    let sessions = mirror.sessions().map(JobPath::Session);
    // Instances of this implementation take an item over and begin it in one transaction.
    let is_idle = |item: &u32| !mirror.exists(&JobPath::running(*item));
    let taken = mirror.held_items().filter(is_idle).map(|item| JobPath::Item(item, ItemNode::Failover));
    let (mut complete, mut found) = (true, Vec::new());
    for path in instances.chain(sessions).chain(taken) {
        match engine.mirror.look(&path) {
            Lookup::Unread => complete = false,
            Lookup::Known(known) if is_sessionless(known) && !engine.link.is_obstructed(&path) => {
                found.push((path, known.version));
            }
            Lookup::Known(_) | Lookup::Missing => {}
        }
    }
    complete.then_some(found)
}

/// Whether no session owns a node that has to be ephemeral.
pub(super) fn is_sessionless(known: &Known) -> bool {
    known.owner.is_none()
}
