//! Electing the leader, under a latch that Curator understands.

use super::Step;
use super::register::ENABLED;
use super::sessionless::is_sessionless;
use crate::engine::engine::JobEngine;
use crate::engine::event::Now;
use crate::engine::planted::Bug;
use crate::engine::state::leadership::Term;
use crate::engine::state::membership::Phase;
use crate::engine::state::proposal::{Proposal, Purpose};
use crate::engine::txn::JobTransaction;
use crate::registry::CreateMode;
use crate::registry::mirror::Lookup;
use crate::registry::path::JobPath;

/// A leader whose server is disabled gives up.
pub(super) fn abdicate(engine: &mut JobEngine, _: Now) -> Step {
    engine.refresh_leadership();
    let clings = engine.planted.has(Bug::ClingingLeader);
    if clings || engine.leadership.term.is_none() || engine.is_server_enabled() != Some(false) {
        return Step::Pass;
    }
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    txn.delete(&JobPath::LeaderInstance, None);
    Step::Write(Proposal { transaction: txn.build(), purpose: Purpose::Abdicate })
}

/// Stands as a candidate while there is no leader; the candidate with the lowest number becomes it.
pub(super) fn elect(engine: &mut JobEngine, _: Now) -> Step {
    if engine.phase != Phase::Active {
        return Step::Pass;
    }
    let Some(session) = engine.session.connected() else { return Step::Pass };
    let vacant = match engine.mirror.look(&JobPath::LeaderInstance) {
        Lookup::Missing => true,
        Lookup::Unread => return Step::Pass,
        Lookup::Known(_) if engine.planted.has(Bug::Usurper) && engine.leadership.term.is_none() => true,
        // A node of an earlier session of this instance is left over: only this instance may stand for leader while it
        // is there. A node that no session owns would stay for ever: it was copied from another place.
        Lookup::Known(known) => {
            known.owner.is_none() || (known.owner != Some(session) && engine.membership.is_own(known.owner))
        }
    };
    let candidate = engine.own_candidate();
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    if !vacant || engine.is_server_enabled() != Some(true) {
        let Some(candidate) = candidate else { return Step::Pass };
        txn.delete(&candidate, None);
        return Step::Write(Proposal { transaction: txn.build(), purpose: Purpose::Candidate });
    }
    let Some(candidate) = candidate else {
        let prefix = JobPath::Candidate(engine.identity.candidate_prefix().into());
        txn.create(&prefix, "", CreateMode::EphemeralSequential);
        return Step::Write(Proposal { transaction: txn.build(), purpose: Purpose::Candidate });
    };
    let JobPath::Candidate(name) = &candidate else { return Step::Pass };
    let lower = engine.mirror.candidates().filter(|other| number(other) < number(name));
    if let Some(lowest) = lower.min_by_key(|other| number(other)) {
        let lowest = JobPath::Candidate(lowest.into());
        // A candidate that no session owns would stand for ever.
        if let Lookup::Known(known) = engine.mirror.look(&lowest)
            && is_sessionless(known)
            && !engine.link.is_obstructed(&lowest)
        {
            txn.delete(&lowest, Some(known.version));
            let (triggers, sessionless) = (Vec::new(), vec![lowest]);
            return Step::Write(Proposal {
                transaction: txn.build(),
                purpose: Purpose::Sweep { triggers, sessionless },
            });
        }
        return Step::Pass;
    }
    txn.replace(&JobPath::LeaderInstance, &engine.identity.instance, CreateMode::Ephemeral);
    txn.delete(&candidate, None);
    Step::Write(Proposal { transaction: txn.build(), purpose: Purpose::Elect })
}

/// The key by which Curator sorts candidates: the text after the last `latch-`.
fn number(candidate: &str) -> &str {
    candidate.rsplit_once("latch-").map_or(candidate, |(_, number)| number)
}

impl JobEngine {
    /// The own node among the candidates.
    pub(super) fn own_candidate(&self) -> Option<JobPath> {
        let prefix = self.identity.candidate_prefix();
        let own = self.mirror.candidates().find(|name| name.starts_with(&prefix));
        own.map(|name| JobPath::Candidate(name.into()))
    }

    /// Whether the leader's node is this instance's, made in the live session.
    pub(super) fn is_leader(&self) -> bool {
        let session = self.session.connected();
        match self.mirror.look(&JobPath::LeaderInstance) {
            Lookup::Known(known) => {
                session.is_some() && known.owner == session && known.text() == Some(self.identity.instance.as_str())
            }
            _ => false,
        }
    }

    /// Keeps what a leader remembers exactly as long as it leads.
    pub(super) fn refresh_leadership(&mut self) {
        match self.is_leader() {
            false => self.leadership.term = None,
            true if self.leadership.term.is_none() => self.leadership.term = Some(Term::default()),
            true => {}
        }
    }

    /// Whether the own server may run items; `None` while it is not known.
    pub(in crate::engine) fn is_server_enabled(&self) -> Option<bool> {
        self.is_enabled(self.identity.instance.server_ip())
    }

    /// When the own server was disabled, by the clock of the registry center; `None` where it is not known.
    pub(super) fn server_disabled_at(&self) -> Option<i64> {
        match self.mirror.lookup(&JobPath::Server(self.identity.instance.server_ip().into())) {
            Lookup::Known(known) if known.text() != Some(ENABLED) && known.mtime > 0 => Some(known.mtime),
            _ => None,
        }
    }

    /// Whether a server may run items; `None` while it is not known.
    pub(super) fn is_enabled(&self, ip: &str) -> Option<bool> {
        match self.mirror.look(&JobPath::Server(ip.into())) {
            Lookup::Missing => Some(false),
            Lookup::Unread => None,
            Lookup::Known(known) => Some(known.text() == Some(ENABLED)),
        }
    }
}
