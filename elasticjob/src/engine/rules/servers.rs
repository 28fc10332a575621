//! The nodes of servers while their instances come and go: the leader deletes those without instances, as addresses
//! change with every deployment, and an instance creates the node of its own server again where a peer deleted it.

use super::Step;
use super::register::ENABLED;
use crate::engine::engine::JobEngine;
use crate::engine::event::Now;
use crate::engine::planted::Bug;
use crate::engine::state::leadership::IdleServers;
use crate::engine::state::membership::Phase;
use crate::engine::state::proposal::{Proposal, Purpose};
use crate::engine::txn::JobTransaction;
use crate::registry::CreateMode;
use crate::registry::mirror::Lookup;
use crate::registry::path::JobPath;

/// Creates the node of the own server again where it is gone. A Java instance that starts deletes servers of which it
/// sees no instance yet, also while an instance registers. Without the node of its server an instance counts as
/// disabled.
pub(super) fn restore(engine: &mut JobEngine, _: Now) -> Step {
    let server = JobPath::Server(engine.identity.instance.server_ip().into());
    if engine.phase != Phase::Active || !engine.is_registered() || engine.mirror.exists(&server) {
        return Step::Pass;
    }
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    // Where the node of the instance is gone too, an operator deleted both.
    txn.check(&engine.own_node());
    txn.create(&server, ENABLED, CreateMode::Persistent);
    Step::Write(Proposal {
        transaction: txn.build(),
        purpose: Purpose::Sweep { triggers: Vec::new(), sessionless: Vec::new() },
    })
}

/// The servers to be deleted now, with the versions of their nodes; `None` while data are missing. A server that an
/// operator disabled stays, so that it is still disabled when it comes back.
pub(super) fn without_instances(engine: &mut JobEngine, now: Now) -> Option<Vec<(JobPath, i32)>> {
    let wanted = match &engine.leadership.term {
        Some(leadership) => match &leadership.idle_servers {
            IdleServers::Unknown => true,
            seen @ IdleServers::Seen { .. } => seen.due() <= Some(now.mono),
            IdleServers::None => false,
        },
        None => false,
    };
    if !wanted {
        return Some(Vec::new());
    }
    let mut complete = true;
    let mut found = Vec::new();
    for ip in engine.mirror.servers() {
        if engine.mirror.instances().any(|id| id.server_ip() == ip) {
            continue;
        }
        let path = JobPath::Server(ip.into());
        if engine.link.is_obstructed(&path) {
            continue;
        }
        match engine.mirror.look(&path) {
            Lookup::Known(known) if known.text() == Some(ENABLED) => found.push((path, known.version)),
            Lookup::Unread => complete = false,
            Lookup::Known(_) | Lookup::Missing => {}
        }
    }
    let leadership = engine.leadership.term.as_mut().filter(|_| complete)?;
    let idle = match &leadership.idle_servers {
        _ if engine.planted.has(Bug::HastyCleaning) => found.clone(),
        IdleServers::Seen { servers, .. } => found.iter().filter(|server| servers.contains(server)).cloned().collect(),
        IdleServers::Unknown | IdleServers::None => Vec::new(),
    };
    if idle.is_empty() {
        leadership.idle_servers = match found.is_empty() {
            true => IdleServers::None,
            false => IdleServers::Seen { at: now.mono, servers: found },
        };
    }
    Some(idle)
}
