//! The nodes of servers while their instances come and go: the leader deletes those without instances, as addresses
//! change with every deployment, and an instance creates the node of its own server again where a peer deleted it.

use super::Step;
use crate::clock::Now;
use crate::engine::engine::JobEngine;
use crate::engine::planted::Bug;
use crate::engine::state::leadership::IdleServers;
use crate::engine::state::membership::Phase;
use crate::engine::state::proposal::{Proposal, Purpose};
use crate::engine::txn::JobTransaction;
use crate::registry::CreateMode;
use crate::registry::layout::{JobPath, ServerStatus};
use crate::registry::mirror::{Unread, read_found};

/// Creates the node of the own server again where it is gone. A Java instance that starts deletes servers of which it
/// sees no instance yet, also while an instance registers. Without the node of its server an instance counts as
/// disabled.
pub(super) fn restore(engine: &mut JobEngine, _: Now) -> Result<Step, Unread> {
    let server = JobPath::Server(engine.identity.instance.server_ip().into());
    if engine.phase != Phase::Active || !engine.is_registered() || engine.mirror.exists(&server) {
        return Ok(Step::Pass);
    }
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    // Where the node of the instance is gone too, an operator deleted both.
    txn.check(&engine.own_node());
    txn.create(&server, ServerStatus::Enabled.as_str(), CreateMode::Persistent);
    Ok(Step::Write(Proposal {
        transaction: txn.build(),
        purpose: Purpose::Sweep { triggers: Vec::new(), sessionless: Vec::new() },
    }))
}

/// The servers to be deleted now, with the versions of their nodes. A server that an
/// operator disabled stays, so that it is still disabled when it comes back.
pub(super) fn without_instances(engine: &mut JobEngine, now: Now) -> Result<Vec<(JobPath, i32)>, Unread> {
    let wanted = match &engine.leadership.term {
        Some(leadership) => match &leadership.idle_servers {
            IdleServers::Unknown => true,
            seen @ IdleServers::Seen { .. } => seen.due() <= Some(now.mono),
            IdleServers::None => false,
        },
        None => false,
    };
    if !wanted {
        return Ok(Vec::new());
    }
    let has_instance = |ip: &str| engine.mirror.instances().any(|id| id.server_ip() == ip);
    let without = engine.mirror.servers().filter(|ip| !has_instance(ip)).map(|ip| JobPath::Server(ip.into()));
    let enabled = without.filter(|path| !engine.link.is_obstructed(path)).map(|path| {
        let server = engine.mirror.need(&path)?.filter(|known| ServerStatus::of(known.text()) == ServerStatus::Enabled);
        Ok(server.map(|known| (path, known.version)))
    });
    let found: Vec<(JobPath, i32)> = read_found(enabled)?;
    let Some(leadership) = engine.leadership.term.as_mut() else { return Ok(Vec::new()) };
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
    Ok(idle)
}
