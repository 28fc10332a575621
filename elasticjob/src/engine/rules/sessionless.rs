//! Nodes that say that an instance, a run or a candidate lives, and that no session owns.
//!
//! Every implementation creates them as ephemeral nodes. A node that is not ephemeral was copied from another place: a
//! backup, another namespace. It would say so for ever: such an instance is given items and runs none of them.

use crate::engine::engine::JobEngine;
use crate::engine::liveness::is_sessionless;
use crate::engine::planted::Bug;
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::mirror::{Known, Unread, read_found};

/// The nodes to be deleted, with their versions; the leader looks for them.
pub(super) fn nodes(engine: &JobEngine) -> Result<Vec<(JobPath, i32)>, Unread> {
    if engine.leadership.term.is_none() || engine.planted.has(Bug::SessionlessInstance) {
        return Ok(Vec::new());
    }
    let mirror = &engine.mirror;
    let instances = mirror.instances().map(|id| JobPath::Instance(id.clone()));
    let sessions = mirror.sessions().map(JobPath::Session);
    // Instances of this implementation take an item over and begin it in one transaction.
    let is_idle = |item: &u32| !mirror.exists(&JobPath::running(*item));
    let taken = mirror.held_items().filter(is_idle).map(|item| JobPath::Item(item, ItemNode::Failover));
    let found = instances.chain(sessions).chain(taken).map(|path| {
        let is_meant = |known: &&Known| is_sessionless(known) && !engine.link.is_obstructed(&path);
        let known = engine.mirror.need(&path)?.filter(is_meant);
        Ok(known.map(|known| (path.clone(), known.version)))
    });
    read_found(found)
}
