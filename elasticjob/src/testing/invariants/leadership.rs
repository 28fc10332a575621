//! Only the leader writes what is the leader's: the owners of items, and that a request for resharding is served. None
//! takes the lead from an instance whose session lives, and none leads for long whose server is disabled.
//!
//! A transaction can check that the leader's node exists, not whose it is: that is true as long as the node goes with the
//! session of its owner. Where an operator deletes it, what its owner sent before it heard of that still passes.

use std::collections::BTreeMap;

use super::{Observation, Scene};
use crate::registry::layout::{ItemNode, JobPath, ServerStatus};
use crate::registry::{Op, SessionId};
use crate::testing::sim::{EPOCH, Millis};

/// How long it may take to hear that the own server was disabled, in milliseconds.
const HEARD: i64 = 10_000;

/// How long what a deposed leader sent may be on its way.
const ON_THE_WAY: Millis = 3_000;

#[derive(Debug, Default)]
pub(super) struct Leadership {
    leader: Option<SessionId>,
    /// Whose a session is: the host, and which of its processes. A name does not tell: an instance that connects again finds its
    /// own taken where another host has the same address.
    owners: BTreeMap<SessionId, (usize, u64)>,
    /// When leaders whose sessions go on were found not to lead any more.
    deposed: BTreeMap<SessionId, Millis>,
}

impl Leadership {
    pub(super) fn check(&mut self, scene: &Scene<'_>, observation: &Observation<'_>) -> Result<(), String> {
        // A deposed leader hears nothing before it is connected again, and may leave at that moment.
        for (session, at) in &mut self.deposed {
            let owner = self.owners.get(session).and_then(|(host, _)| scene.hosts[*host].process.as_ref());
            if owner.is_some_and(|process| process.session == Some(*session) && process.connection.is_none()) {
                *at = scene.now;
            }
        }
        let Observation::Committed { session, host, transaction, leader } = observation else { return Ok(()) };
        let before = std::mem::replace(&mut self.leader, *leader);
        let deposed = before.filter(|it| *leader != Some(*it) && scene.tree.session_timeout(*it).is_some());
        if let Some(deposed) = deposed {
            self.deposed.insert(deposed, scene.now);
        }
        // An operator may delete the node of the leader.
        let Some(host) = host else { return Ok(()) };
        if let Some(process) = scene.hosts[*host].process.as_ref().filter(|it| it.session == Some(*session)) {
            self.owners.insert(*session, (*host, process.life));
        }
        // A Java leader that was replaced while it was resharding goes on with it.
        if scene.is_java(*host) {
            return Ok(());
        }
        let deposed_lately = self.deposed.get(session).is_some_and(|at| scene.now - at < ON_THE_WAY);
        // One that was deposed, and leaves or loses its driver before it hears of that, deletes the node of the next one.
        let deposes = transaction.ops().iter().any(|op| {
            let may = matches!(op, Op::Check { .. }) || (deposed_lately && matches!(op, Op::Delete { .. }));
            !may && JobPath::parse(scene.job, op.path()) == Some(JobPath::LeaderInstance)
        });
        // An instance that has connected again replaces what it wrote in its last session.
        let own = |it: &SessionId| {
            it == session || self.owners.get(it).is_some_and(|owner| self.owners.get(session) == Some(owner))
        };
        if let Some(other) = leader.filter(|it| deposes && !own(it) && scene.tree.session_timeout(*it).is_some()) {
            return Err(format!("host {host} took the lead from session {other}, which lives"));
        }
        let leaders = transaction.ops().iter().find(|op| match (op, JobPath::parse(scene.job, op.path())) {
            (Op::Check { .. }, _) => false,
            // Any instance may ask: a Java leader loses requests, so its followers request again.
            (Op::Create { .. }, Some(JobPath::Necessary)) => false,
            // A Java leader deletes items with all that is below, so the instances that begin them make them again.
            (Op::Create { .. }, Some(JobPath::Item(_, ItemNode::Dir))) => !scene.is_mixed(),
            (Op::Set { .. }, Some(JobPath::Sharding)) => true,
            (_, Some(JobPath::Necessary | JobPath::Item(_, ItemNode::Instance | ItemNode::Dir))) => true,
            _ => false,
        });
        let Some(op) = leaders else { return Ok(()) };
        if *leader != Some(*session) && !deposed_lately {
            return Err(format!(
                "host {host} wrote {} while {leader:?} was the leader's session, its own is {session}",
                op.path()
            ));
        }
        let server = JobPath::Server(scene.hosts[*host].ip.as_str().into());
        let node = scene.node(&server);
        let long_ago = EPOCH + scene.now as i64 - HEARD;
        match node
            .filter(|node| ServerStatus::of(node.data.text()) == ServerStatus::Disabled && node.stat.mtime < long_ago)
        {
            Some(_) => Err(format!("host {host} wrote {}, and its server has long been disabled", op.path())),
            None => Ok(()),
        }
    }
}
