//! Repeating a request for resharding that the leader lost.
//!
//! A leader of this implementation sees by itself what has to be assigned. A Java leader acts on requests, and loses
//! requests that come while it waits for running items: the items of an instance that left then stay with it, and an
//! instance that joined gets no items. So an instance that misses an assignment for long makes the request again. The
//! request assigns nothing, so it needs no guard.

use std::time::Duration;

use super::Step;
use crate::clock::Now;
use crate::engine::engine::JobEngine;
use crate::engine::planted::{Bug, DEAF};
use crate::engine::state::leadership::Rerequest;
use crate::engine::state::membership::Phase;
use crate::engine::state::open_fire::SHARDING_WAIT;
use crate::engine::state::proposal::{Proposal, Purpose};
use crate::engine::txn::JobTransaction;
use crate::registry::CreateMode;
use crate::registry::layout::JobPath;
use crate::registry::mirror::Unread;

/// How long fires wait together for a leader that waits until nothing runs, and how long they go on in between.
const QUIET: Duration = Duration::from_secs(30);

/// Makes the request for resharding again where a leader seems to have lost it: for long there are items without a live
/// owner, or no items for this instance.
pub(super) fn rerequest(engine: &mut JobEngine, now: Now) -> Result<Step, Unread> {
    if engine.leadership.term.is_some() || engine.phase != Phase::Active || !engine.is_registered() {
        engine.leadership.rerequest = Rerequest::default();
        return Ok(Step::Pass);
    }
    if engine.mirror.exists(&JobPath::Necessary) {
        engine.leadership.rerequest.requested.get_or_insert(now.mono);
        return Ok(Step::Pass);
    }
    engine.leadership.rerequest.requested = None;
    let (Some(due_at), Some(configuration)) =
        (engine.leadership.rerequest.due_at(), engine.configuration.in_force.clone())
    else {
        return Ok(Step::Pass);
    };
    let total = configuration.sharding_total_count();
    let (mine, settled) = engine.own_items(total)?;
    let available = engine.available_instances()?;
    let left_out = mine.is_empty()
        && !configuration.static_sharding()
        && available.contains(&engine.identity.instance)
        && available.len() <= total as usize
        && engine.leadership.rerequest.asked_among.as_ref() != Some(&available);
    if settled {
        engine.leadership.rerequest.unsettled = None;
    }
    if (settled && !left_out) || available.is_empty() {
        engine.leadership.rerequest.missed = None;
        return Ok(Step::Pass);
    }
    if now.mono < due_at || engine.planted.has(Bug::ForgottenRerequest) {
        return Ok(Step::Pass);
    }
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    // By a configuration that is not that of the registry, it misses items that there are not: the leader would move others.
    if !engine.guard_configuration(&mut txn)? {
        return Ok(Step::Pass);
    }
    txn.create(&JobPath::Necessary, "", CreateMode::Persistent);
    let transaction = txn.build();
    engine.leadership.rerequest.missed = Some(now.mono);
    engine.leadership.rerequest.asked_among = left_out.then_some(available);
    let why = if settled { "this instance has no item" } else { "items have no owner that is there" };
    Ok(Step::Write(Proposal { transaction, purpose: Purpose::Request { why: why.to_owned() } }))
}

impl JobEngine {
    /// Notes that a fire looked at the assignment.
    pub(super) fn note_assignment(&mut self, now: Now, settled: bool, has_items: bool) {
        if settled && self.leadership.rerequest.unsettled.is_some() {
            self.planted.deafen(Bug::DeafAfterAssignment, now.mono + DEAF);
        }
        self.leadership.rerequest.unsettled =
            if settled { None } else { self.leadership.rerequest.unsettled.or(Some(now.mono)) };
        if !settled || !has_items {
            self.leadership.rerequest.missed.get_or_insert(now.mono);
        }
    }

    /// Whether the open fire goes on waiting for its assignment.
    ///
    /// A leader may never do what it has not done for so long, and fires that follow each other faster than one may
    /// wait would all be lost. So they wait together for that long, and go on then. But where Java instances take part
    /// and a request is not served although there was time for another leader, a Java leader waits for a moment without
    /// running items. So that there is such a moment, fires wait for some time and go on for some time, in turns.
    pub(super) fn may_wait_for_assignment(&mut self, now: Now) -> Result<bool, Unread> {
        let (requested, unsettled) = (self.leadership.rerequest.requested, self.leadership.rerequest.unsettled);
        let turn = requested.and_then(|since| Some(since + quiet_until(now.mono - since, self.session.timeout())?));
        let is_quiet = turn.is_some() && self.has_java_peers()?;
        let Some(open) = &mut self.fires.open else { return Ok(false) };
        let since = unsettled.map_or(open.since, |since| since.min(open.since));
        open.hold_until = turn.filter(|_| is_quiet).unwrap_or(since + SHARDING_WAIT);
        Ok(now.mono < open.hold_until)
    }
}

/// The end of the turn in which fires wait, when they wait now; both times are counted from the request.
fn quiet_until(waited: Duration, session_timeout: Duration) -> Option<Duration> {
    let first = 2 * session_timeout;
    let turn = waited.checked_sub(first)?.as_millis() / QUIET.as_millis();
    let turn = u32::try_from(turn).ok()?;
    (turn % 2 == 0).then_some(first + QUIET * (turn + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fires_wait_in_turns_once_another_leader_would_have_served_the_request() {
        let until = |waited| quiet_until(Duration::from_secs(waited), Duration::from_secs(10)).map(|at| at.as_secs());
        assert_eq!([until(0), until(19), until(20), until(49)], [None, None, Some(50), Some(50)]);
        assert_eq!([until(50), until(79), until(80), until(110)], [None, None, Some(110), None]);
    }
}
