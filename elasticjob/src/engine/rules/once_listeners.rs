//! Calling a listener once for the group: for each fire one instance claims the call, the others wait for its end.
//!
//! The marks of running items say which items have begun and have not ended: nothing else is registered. Claims stand
//! in a versioned record, so a call is made at most once for a fire, whatever is lost and whichever instance comes
//! late.

use crate::engine::once_calls::{CallState, OnceCall, OnceCalls, SettledClaim};
use std::sync::Arc;

use super::Step;
use crate::clock::Now;
use crate::engine::engine::JobEngine;
use crate::engine::event::RoundId;
use crate::engine::notice::Notice;
use crate::engine::planted::Bug;
use crate::engine::state::listener_round::{TURN, Waiting};
use crate::engine::state::membership::Phase;
use crate::engine::state::proposal::{Proposal, Purpose};
use crate::engine::txn::JobTransaction;
use crate::fire::{Attempt, Hook, RunKey};
use crate::registry::CreateMode;
use crate::registry::layout::JobPath;
use crate::registry::mirror::Unread;

/// The decision on a round that waits.
enum Verdict {
    Wait,
    /// The call is over, or will not be made.
    GoOn,
    /// The own claim went through.
    Call(Attempt),
    Claim,
}

/// One transaction for all calls that are claimed, and for the outcome of earlier claims.
pub(super) fn call_once(engine: &mut JobEngine, now: Now) -> Result<Step, Unread> {
    let waiting = engine.waiting_rounds();
    // No instance would trust a claim from a session in which this instance is not registered.
    if (waiting.is_empty() && engine.rounds.settled.is_empty()) || !engine.is_registered() {
        return Ok(Step::Pass);
    }
    let (mut record, version) = match engine.mirror.need(&JobPath::Rounds)? {
        None => (Arc::default(), None),
        Some(known) => (known.parsed(OnceCalls::parse), Some(known.version)),
    };
    let (claims, moved) = settle(engine, now, &mut record, waiting);
    engine.close_runs(now);
    let mut settled = std::mem::take(&mut engine.rounds.settled);
    settled.retain(|claim| Arc::make_mut(&mut record).settle(claim));
    engine.rounds.settled.clone_from(&settled);
    if claims.is_empty() && settled.is_empty() {
        return Ok(if moved { Step::Again } else { Step::Pass });
    }
    let version = version.filter(|_| !engine.planted.has(Bug::UnguardedClaim));
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    match engine.mirror.exists(&JobPath::Rounds) {
        true => txn.set(&JobPath::Rounds, record.to_bytes(), version),
        false => txn.create(&JobPath::Rounds, record.to_bytes(), CreateMode::Persistent),
    };
    Ok(Step::Write(Proposal { transaction: txn.build(), purpose: Purpose::CallOnce { claims, settled } }))
}

/// Lets every round go on as far as it may. Adds the new claims to the record and returns them, with whether a round
/// went on.
fn settle(
    engine: &mut JobEngine,
    now: Now,
    record: &mut Arc<OnceCalls>,
    mut waiting: Vec<Waiting>,
) -> (Vec<(RoundId, Attempt)>, bool) {
    let (mut claims, mut moved) = (Vec::new(), false);
    while let Some(waits) = waiting.pop() {
        match judge(engine, now, record, &waits) {
            Verdict::Wait => {}
            Verdict::GoOn => {
                moved = true;
                engine.go_on(now, waits.round, waits.hook, waits.next + 1);
                // The next listener may be one that is called once, too.
                waiting.extend(engine.runs.of_round(waits.round).and_then(|run| run.waiting()));
            }
            Verdict::Call(claim) if engine.session.is_proven(now) => engine.on_claimed(waits.round, claim),
            Verdict::Call(_) => engine.prove(),
            Verdict::Claim => {
                // The claim stays the same until its outcome is known: it may have been applied.
                let claim = waits.claim.clone().unwrap_or_else(|| engine.next_attempt());
                if let Some(wait) = engine.wait_of(waits.round) {
                    wait.claim = Some(claim.clone());
                }
                let me = engine.identity.instance.clone();
                Arc::make_mut(record).add(OnceCall::claim(
                    waits.key.fire,
                    &waits.listener,
                    waits.hook,
                    me,
                    claim.clone(),
                ));
                claims.push((waits.round, claim));
            }
        }
    }
    (claims, moved)
}

fn judge(engine: &mut JobEngine, now: Now, record: &OnceCalls, waits: &Waiting) -> Verdict {
    let Waiting { key: RunKey { fire, .. }, hook, .. } = *waits;
    let is_leaving = matches!(engine.phase, Phase::Leaving { .. });
    let leaves = hook == Hook::After && is_leaving;
    let call = record.find(fire, &waits.listener, hook);
    match call {
        Some(call) if call.state == CallState::Done => return Verdict::GoOn,
        Some(call) if waits.claim.as_ref() == Some(&call.attempt) => return Verdict::Call(call.attempt.clone()),
        Some(call) if call.state == CallState::CutOff => {
            interrupted(engine, waits, call);
            return Verdict::GoOn;
        }
        Some(call) => match engine.is_caller_there(call) {
            // An instance that leaves does not wait for the end of the call: the others do.
            Ok(true) if leaves => return Verdict::GoOn,
            Err(Unread) | Ok(true) => return Verdict::Wait,
            Ok(false) if engine.planted.has(Bug::RepeatedCall) => {}
            Ok(false) => {
                interrupted(engine, waits, call);
                return Verdict::GoOn;
            }
        },
        None if record.is_past(fire) => {
            engine.tell(Notice::ListenerTooLate { fire, listener: waits.listener.clone(), hook });
            return Verdict::GoOn;
        }
        None => {}
    }
    // Items of Java instances begin without waiting for the call, and may have ended when the call is to be made.
    let all_had_begun =
        hook == Hook::Before && engine.wait_of(waits.round).is_some_and(|wait| wait.complete_at.is_some());
    if !all_had_begun {
        match engine.awaited_items(now, waits) {
            Ok(items) if items.is_empty() => {}
            Ok(_) if leaves => return Verdict::GoOn,
            // Instances that leave begin nothing more, and two of them would wait for each other. The other instances
            // find the call made.
            Ok(_) if is_leaving => {}
            _ => return Verdict::Wait,
        }
    }
    let is_first = engine.is_first_to_call(record, waits);
    let Some(wait) = engine.wait_of(waits.round) else { return Verdict::Wait };
    let complete_at = *wait.complete_at.get_or_insert(now.mono);
    if is_first || now.mono >= complete_at + TURN { Verdict::Claim } else { Verdict::Wait }
}

fn interrupted(engine: &mut JobEngine, waits: &Waiting, call: &OnceCall) {
    let Waiting { key: RunKey { fire, .. }, hook, .. } = *waits;
    let (listener, by) = (waits.listener.clone(), call.instance.clone());
    engine.tell(Notice::ListenerInterrupted { fire, listener, hook, by });
}

impl JobEngine {
    /// The record has these claims and the outcome of earlier ones.
    pub(in crate::engine) fn on_claims_written(&mut self, claims: Vec<(RoundId, Attempt)>, settled: &[SettledClaim]) {
        self.rounds.settled.retain(|claim| !settled.contains(claim));
        for (round, claim) in claims {
            self.on_claimed(round, claim);
        }
    }

    fn waiting_rounds(&self) -> Vec<Waiting> {
        self.runs.iter().filter_map(|run| run.waiting()).collect()
    }

    /// Whether the instance that claimed a call lives, in the session it claimed it in.
    fn is_caller_there(&self, call: &OnceCall) -> Result<bool, Unread> {
        let node = self.mirror.need(&JobPath::Instance(call.instance.clone()))?;
        Ok(node.is_some_and(|known| known.owner.is_some() && known.owner == call.attempt.session()))
    }

    /// Whether this instance is the first to claim a call, so that not all claim it at once. Before the items the first
    /// is the instance that runs the lowest item; after the items it is the instance that made the call before them.
    fn is_first_to_call(&self, record: &OnceCalls, waits: &Waiting) -> bool {
        match waits.hook {
            Hook::Before => {
                let mine = self.runs.iter().find(|run| run.round_id() == Some(waits.round));
                let mine = mine.and_then(|run| run.items.keys().next().copied());
                mine <= self.mirror.running_items().next()
            }
            Hook::After => {
                let before = record.find(waits.key.fire, &waits.listener, Hook::Before);
                before.is_none_or(|call| {
                    call.instance == self.identity.instance || self.is_caller_there(call) == Ok(false)
                })
            }
        }
    }

    /// The claim of a round went through: the call is made here.
    pub(in crate::engine) fn on_claimed(&mut self, id: RoundId, claim: Attempt) {
        let waits = self.runs.of_round(id).and_then(|run| run.waiting());
        let Some(Waiting { key: RunKey { fire, .. }, listener, hook, next, .. }) =
            waits.filter(|waits| waits.claim.as_ref() == Some(&claim))
        else {
            return;
        };
        self.tell(Notice::CalledOnce { fire, listener, hook });
        self.call_listeners(id, hook, next, next + 1, Some(claim));
    }
}
