//! Manual triggers: asking every enabled instance to run its items.

use std::collections::BTreeMap;

use super::Step;
use crate::clock::Now;
use crate::engine::action::TriggerAnswer;
use crate::engine::engine::JobEngine;
use crate::engine::notice::Notice;
use crate::engine::planted::Bug;
use crate::engine::state::membership::Phase;
use crate::engine::state::pending_trigger::PendingTrigger;
use crate::engine::state::proposal::{Proposal, Purpose};
use crate::engine::txn::JobTransaction;
use crate::fire::TriggerData;
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::layout::JobPath;
use crate::registry::mirror::{Unread, read_all, read_found};
use crate::registry::{CreateMode, Zxid};

/// Writes a trigger for each enabled instance that has none waiting, once the items are assigned to them. Requests that wait
/// together are served together, and the first of them that has a trace context gives it to the run.
pub(super) fn trigger(engine: &mut JobEngine, now: Now) -> Result<Step, Unread> {
    if engine.pending_triggers.is_empty() || engine.phase != Phase::Active {
        return Ok(Step::Pass);
    }
    let instances = engine.available_instances()?;
    if instances.is_empty() {
        engine.answer_triggers(&TriggerAnswer::NoEnabledInstance);
        return Ok(Step::Pass);
    }
    let waits = engine.waits_for_assignment()?;
    let left_out = if waits { engine.items_without(&instances)? } else { Vec::new() };
    let is_moving = engine.mirror.exists(&JobPath::Necessary) || engine.mirror.exists(&JobPath::Processing);
    if waits && (is_moving || !left_out.is_empty()) && engine.assignment_ends(now.mono).is_some() {
        return Ok(Step::Pass);
    }
    if engine.planted.has(Bug::LostTrigger) {
        engine.answer_triggers(&TriggerAnswer::Queued);
        return Ok(Step::Pass);
    }
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    // An item may have moved since to an instance that joined, and is not asked.
    match engine.mirror.need(&JobPath::Sharding)? {
        Some(known) => drop(txn.check_version(&JobPath::Sharding, known.version)),
        None => txn.check_missing(&JobPath::Sharding),
    }
    let trace_parent = engine.pending_triggers.iter().find_map(|asked| asked.trace_parent);
    let data = TriggerData { rerun: None, trace_parent }.to_bytes();
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
            txn.create(&path, &data[..], CreateMode::Persistent);
            answer = TriggerAnswer::Queued;
        }
    }
    let transaction = txn.build();
    let asked = engine.pending_triggers.drain(..).collect();
    Ok(Step::Write(Proposal { transaction, purpose: Purpose::Trigger { asked, answer, left_out } }))
}

impl JobEngine {
    /// Whether triggers wait for the assignment: instances are asked, and an item that none of them has is left out. Not with
    /// static sharding, which assigns at the first trigger and leaves items to instances that are gone, and not where Java
    /// instances take part, as their leader assigns the items when they fire.
    fn waits_for_assignment(&self) -> Result<bool, Unread> {
        Ok(!self.has_static_sharding() && !self.planted.has(Bug::HastyTrigger) && !self.has_java_peers()?)
    }

    /// The items that a trigger of these instances does not reach: none of them owns the item, or its owner has not taken an older
    /// trigger yet, from before the item came to it. An instance that has a trigger is not asked again, and the item may
    /// have run for the older one where it was then.
    fn items_without(&self, instances: &[InstanceId]) -> Result<Vec<ShardingItem>, Unread> {
        let Some(configuration) = self.configuration.in_force.as_deref() else { return Ok(Vec::new()) };
        let waiting = |id: &InstanceId| self.mirror.need(&JobPath::Trigger(id.clone()));
        let waiting = instances.iter().map(|id| Ok((id.as_str(), waiting(id)?.map(|known| known.czxid))));
        let asked: BTreeMap<&str, Option<Zxid>> = read_all(waiting)?;
        let is_reached = |item| {
            let Some(known) = self.mirror.need(&JobPath::owner_of(item))? else { return Ok(false) };
            let waiting = known.text().and_then(|owner| asked.get(owner));
            let joins = self.planted.has(Bug::JoinedTrigger);
            Ok(waiting.is_some_and(|waiting| joins || waiting.is_none_or(|since| known.mzxid < since)))
        };
        read_found((0..configuration.sharding_total_count()).map(|item| Ok((!is_reached(item)?).then_some(item))))
    }

    /// The triggers are written.
    pub(in crate::engine) fn on_triggers_written(
        &mut self,
        asked: Vec<PendingTrigger>,
        answer: &TriggerAnswer,
        left_out: Vec<ShardingItem>,
    ) {
        self.answer(asked, answer);
        self.tell_left_out(left_out);
    }

    /// Reports the items that a trigger leaves out, if there are any.
    pub(in crate::engine) fn tell_left_out(&mut self, items: Vec<ShardingItem>) {
        if !items.is_empty() {
            self.tell(Notice::TriggerLeavesOut { items });
        }
    }

    /// The triggers were not written: the rule asks again, with what the mirror knows by then. Before what was asked since.
    pub(in crate::engine) fn on_triggers_not_written(&mut self, asked: Vec<PendingTrigger>) {
        self.pending_triggers.splice(0..0, asked);
    }

    /// It is unknown whether the triggers were written. An instance may take one before this engine looks for it again;
    /// then the engine would believe that it was never written. So it answers that the job may or may not run, instead
    /// of running it twice.
    pub(in crate::engine) fn on_triggers_unknown(
        &mut self,
        asked: Vec<PendingTrigger>,
        left_out: Vec<ShardingItem>,
        why: &str,
    ) {
        self.tell_left_out(left_out);
        self.answer(asked, &TriggerAnswer::Registry(format!("it may or may not run: {why}")));
    }
}
