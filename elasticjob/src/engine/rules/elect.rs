//! Electing the leader, under a latch that Curator understands.

use super::Step;
use crate::clock::Now;
use crate::engine::engine::JobEngine;
use crate::engine::liveness::is_sessionless;
use crate::engine::notice::Notice;
use crate::engine::planted::Bug;
use crate::engine::state::leadership::Term;
use crate::engine::state::membership::Phase;
use crate::engine::state::proposal::{Proposal, Purpose};
use crate::engine::txn::JobTransaction;
use crate::registry::CreateMode;
use crate::registry::layout::{JobPath, candidate_number};
use crate::registry::mirror::{Known, Unread};

/// A leader whose server is disabled gives up.
pub(super) fn abdicate(engine: &mut JobEngine, _: Now) -> Result<Step, Unread> {
    engine.refresh_leadership();
    let clings = engine.planted.has(Bug::ClingingLeader);
    if clings || engine.leadership.term.is_none() || engine.is_server_enabled() != Ok(false) {
        return Ok(Step::Pass);
    }
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    txn.delete(&JobPath::LeaderInstance, None);
    Ok(Step::Write(Proposal { transaction: txn.build(), purpose: Purpose::Abdicate }))
}

/// Stands as a candidate while there is no leader; the candidate with the lowest number becomes it.
pub(super) fn elect(engine: &mut JobEngine, now: Now) -> Result<Step, Unread> {
    if engine.phase != Phase::Active {
        return Ok(Step::Pass);
    }
    let Some(session) = engine.session.connected() else { return Ok(Step::Pass) };
    let vacant = match engine.mirror.need(&JobPath::LeaderInstance)? {
        None => true,
        Some(_) if engine.planted.usurps(now.mono) && engine.leadership.term.is_none() => true,
        // A node of an earlier session of this instance is left over: only this instance may stand for leader while it
        // is there. A node that no session owns would stay for ever: it was copied from another place.
        Some(known) => known.owner.is_none() || (known.owner != Some(session) && engine.membership.is_own(known.owner)),
    };
    let candidate = engine.own_candidate();
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    if !vacant || engine.is_server_enabled() != Ok(true) {
        let Some(candidate) = candidate else { return Ok(Step::Pass) };
        txn.delete(&candidate, None);
        return Ok(Step::Write(Proposal { transaction: txn.build(), purpose: Purpose::Candidate }));
    }
    let Some(candidate) = candidate else {
        let prefix = JobPath::Candidate(engine.identity.candidate_prefix().into());
        txn.create(&prefix, "", CreateMode::EphemeralSequential);
        return Ok(Step::Write(Proposal { transaction: txn.build(), purpose: Purpose::Candidate }));
    };
    let JobPath::Candidate(name) = &candidate else { return Ok(Step::Pass) };
    let lower = engine.mirror.candidates().filter(|other| candidate_number(other) < candidate_number(name));
    if let Some(lowest) = lower.min_by_key(|other| candidate_number(other)) {
        let lowest = JobPath::Candidate(lowest.into());
        // A candidate that no session owns would stand for ever.
        if let Ok(Some(known)) = engine.mirror.need(&lowest)
            && is_sessionless(known)
            && !engine.link.is_obstructed(&lowest)
        {
            txn.delete(&lowest, Some(known.version));
            let (triggers, sessionless) = (Vec::new(), vec![lowest]);
            return Ok(Step::Write(Proposal {
                transaction: txn.build(),
                purpose: Purpose::Sweep { triggers, sessionless },
            }));
        }
        return Ok(Step::Pass);
    }
    txn.replace(&JobPath::LeaderInstance, &engine.identity.instance, CreateMode::Ephemeral);
    txn.delete(&candidate, None);
    Ok(Step::Write(Proposal { transaction: txn.build(), purpose: Purpose::Elect }))
}

impl JobEngine {
    /// The leader's node is deleted.
    pub(in crate::engine) fn on_abdicated(&mut self) {
        self.leadership.term = None;
        self.tell(Notice::Abdicated);
    }

    /// The own node among the candidates.
    pub(super) fn own_candidate(&self) -> Option<JobPath> {
        let prefix = self.identity.candidate_prefix();
        let own = self.mirror.candidates().find(|name| name.starts_with(&prefix));
        own.map(|name| JobPath::Candidate(name.into()))
    }

    /// Whether the leader's node is this instance's, made in the live session.
    pub(in crate::engine) fn is_leader(&self) -> bool {
        let session = self.session.connected();
        let leader = self.mirror.need(&JobPath::LeaderInstance).unwrap_or(None);
        let is_me = |known: &Known| known.owner == session && known.text() == Some(self.identity.instance.as_str());
        session.is_some() && leader.is_some_and(is_me)
    }

    /// Keeps what a leader remembers exactly as long as it leads.
    pub(super) fn refresh_leadership(&mut self) {
        match self.is_leader() {
            false => self.leadership.term = None,
            true if self.leadership.term.is_none() => self.leadership.term = Some(Term::default()),
            true => {}
        }
    }
}
