//! Manual triggers: asking every enabled instance to run its items.

use super::Step;
use crate::engine::action::{Action, TriggerAnswer};
use crate::engine::engine::{JobEngine, Phase};
use crate::engine::event::Now;
use crate::engine::planted::Bug;
use crate::engine::proposal::{Proposal, Purpose};
use crate::engine::txn::JobTransaction;
use crate::registry::CreateMode;
use crate::registry::path::JobPath;

/// Writes a trigger for each enabled instance that has none waiting. Requests that wait together are served together.
pub(super) fn trigger(engine: &mut JobEngine, _: Now) -> Step {
    if engine.triggers.is_empty() || engine.phase != Phase::Active {
        return Step::Pass;
    }
    let Some(instances) = engine.available_instances() else { return Step::Pass };
    let answer = |engine: &mut JobEngine, answer: TriggerAnswer| {
        for id in std::mem::take(&mut engine.triggers) {
            engine.act(Action::AnswerTrigger(id, answer.clone()));
        }
        Step::Pass
    };
    if instances.is_empty() {
        return answer(engine, TriggerAnswer::NoEnabledInstance);
    }
    if engine.planted.has(Bug::LostTrigger) {
        return answer(engine, TriggerAnswer::Queued);
    }
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    let mut answer = TriggerAnswer::AlreadyPending;
    for instance in instances {
        let path = JobPath::Trigger(instance.clone());
        if engine.mirror.exists(&path) {
            // It may just have been taken, or the leader has shown for a moment that there is none.
            txn.check(&path);
        } else {
            // One that left meanwhile would never take it.
            txn.check(&JobPath::Instance(instance));
            txn.create(&path, "", CreateMode::Persistent);
            answer = TriggerAnswer::Queued;
        }
    }
    let ids = engine.triggers.drain(..).collect();
    Step::Write(Proposal { transaction: txn.build(), purpose: Purpose::Trigger { ids, answer } })
}
