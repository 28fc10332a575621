//! Nodes that say that an instance, a run or a candidate lives, and that no session owns.
//!
//! They are ephemeral, of every implementation. Where one is not, it was copied from another place: a backup, another namespace.
//! It would say so for ever: such an instance is given items and runs none of them.

use crate::engine::engine::JobEngine;
use crate::engine::planted::Bug;
use crate::registry::mirror::{Known, Lookup};
use crate::registry::path::{ItemNode, JobPath};

/// Those to be deleted, with their versions; the leader looks for them. `None` while data are missing.
pub(super) fn nodes(engine: &JobEngine) -> Option<Vec<(JobPath, i32)>> {
    if engine.leadership.is_none() || engine.planted.has(Bug::SessionlessInstance) {
        return Some(Vec::new());
    }
    let mirror = &engine.mirror;
    let instances = mirror.instances().map(|id| JobPath::Instance(id.clone()));
    let sessions = mirror.sessions().map(JobPath::Session);
    // Our instances take an item over and begin it at once.
    let is_idle = |item: &u32| !mirror.exists(&JobPath::running(*item));
    let taken = mirror.held_items().filter(is_idle).map(|item| JobPath::Item(item, ItemNode::Failover));
    let (mut complete, mut found) = (true, Vec::new());
    for path in instances.chain(sessions).chain(taken) {
        match engine.look(&path) {
            Lookup::Unread => complete = false,
            Lookup::Known(known) if is_sessionless(known) && !engine.is_obstructed(&path) => {
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
