//! Manual triggers: asking every enabled instance to run its items.

use super::Step;
use crate::clock::Now;
use crate::engine::action::TriggerAnswer;
use crate::engine::engine::JobEngine;
use crate::engine::planted::Bug;
use crate::engine::state::membership::Phase;
use crate::engine::state::pending_trigger::PendingTrigger;
use crate::engine::state::proposal::{Proposal, Purpose};
use crate::engine::txn::JobTransaction;
use crate::registry::CreateMode;
use crate::registry::layout::JobPath;
use crate::registry::mirror::Unread;

/// Writes a trigger for each enabled instance that has none waiting. Requests that wait together are served together.
pub(super) fn trigger(engine: &mut JobEngine, _: Now) -> Result<Step, Unread> {
    if engine.pending_triggers.is_empty() || engine.phase != Phase::Active {
        return Ok(Step::Pass);
    }
    let instances = engine.available_instances()?;
    if instances.is_empty() {
        engine.answer_triggers(&TriggerAnswer::NoEnabledInstance);
        return Ok(Step::Pass);
    }
    if engine.planted.has(Bug::LostTrigger) {
        engine.answer_triggers(&TriggerAnswer::Queued);
        return Ok(Step::Pass);
    }
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    let mut answer = TriggerAnswer::AlreadyPending;
    for instance in instances {
        let path = JobPath::Trigger(instance.clone());
        if engine.mirror.exists(&path) {
            // The trigger may just have been taken, or the mirror saw the guard of the leader, which creates and
            // deletes the node to check that there is none.
            txn.check(&path);
        } else {
            // An instance that left meanwhile would never take the trigger.
            txn.check(&JobPath::Instance(instance));
            txn.create(&path, "", CreateMode::Persistent);
            answer = TriggerAnswer::Queued;
        }
    }
    let asked = engine.pending_triggers.drain(..).collect();
    Ok(Step::Write(Proposal { transaction: txn.build(), purpose: Purpose::Trigger { asked, answer } }))
}

impl JobEngine {
    /// The triggers were not written: the rule asks again, with what the mirror knows by then.
    pub(in crate::engine) fn on_triggers_not_written(&mut self, asked: Vec<PendingTrigger>) {
        self.pending_triggers.extend(asked);
    }

    /// It is unknown whether the triggers were written. An instance may take one before this engine looks for it again;
    /// then the engine would believe that it was never written. So it answers that the job may or may not run, instead
    /// of running it twice.
    pub(in crate::engine) fn on_triggers_unknown(&mut self, asked: Vec<PendingTrigger>, why: &str) {
        self.answer(asked, &TriggerAnswer::Registry(format!("it may or may not run: {why}")));
    }
}
