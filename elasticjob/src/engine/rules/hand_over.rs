//! Manual triggers that wait for an instance that has ended.

use super::Step;
use crate::clock::Now;
use crate::engine::engine::JobEngine;
use crate::engine::notice::Notice;
use crate::engine::planted::Bug;
use crate::engine::state::membership::Phase;
use crate::engine::state::proposal::{HandOver, Proposal, Purpose};
use crate::engine::txn::JobTransaction;
use crate::fire::{ExecutionSource, Fire, FireRecord, ItemEnd, SkipReason};
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::CreateMode;
use crate::registry::layout::JobPath;
use crate::registry::mirror::{Unread, read_all, read_found};

/// Why an item that was handed over did not run.
const GONE: &str = "its instance was gone before it began it";

/// Takes a manual trigger that waited for an instance that has ended. Nothing was begun for it: with failover the leader
/// hands its items over, so that another instance takes them over; without failover it reports and writes that they are
/// not run. An item whose run was lost with the instance is taken over for that run only, which the leader reports. It also
/// reports the items without an owner, as nothing says whether the instance had them.
pub(super) fn hand_over(engine: &mut JobEngine, now: Now) -> Result<Step, Unread> {
    engine.tell_taken_unknown()?;
    if engine.leadership.term.is_none() || engine.phase != Phase::Active || !engine.is_registered() {
        return Ok(Step::Pass);
    }
    let Some(instance) = engine.orphaned_triggers().next().cloned() else { return Ok(Step::Pass) };
    let Some(configuration) = engine.configuration.in_force.clone() else { return Ok(Step::Pass) };
    let path = JobPath::Trigger(instance.clone());
    let Some(asked) = engine.mirror.need(&path)? else { return Ok(Step::Pass) };
    let fire = Fire::of_trigger(asked.czxid, asked.ctime, &asked.data);
    let total = configuration.sharding_total_count();
    let meant = meant_items(engine, &instance, total)?;
    let mut unowned = engine.items_without_owner(fire, total)?;
    let (is_monitored, is_failover_on) = (engine.configuration.is_monitored(), engine.configuration.is_failover_on());
    let attempt = engine.next_attempt();
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    txn.check(&JobPath::LeaderInstance);
    txn.check_missing(&JobPath::Instance(instance.clone()));
    let (mut handed_over, mut merged, mut disabled) = (Vec::new(), Vec::new(), Vec::new());
    // The items that are not run: those whose records say so, and the others.
    let (mut written, mut dropped) = (Vec::new(), Vec::new());
    let mut is_whole = true;
    for item in meant {
        if engine.mirror.is_item_disabled(item) {
            disabled.push(item);
            continue;
        }
        let known = engine.mirror.need(&JobPath::fire(item));
        let known = if is_monitored { known? } else { None };
        let Some(known) = known else {
            dropped.push(item);
            continue;
        };
        let record = engine.read_record(known);
        if record.covers(fire) {
            continue;
        }
        let has_run = engine.mirror.exists(&JobPath::running(item)) || record.running().is_some();
        if has_run || engine.mirror.exists(&JobPath::FailoverItem(item)) {
            if is_failover_on { &mut merged } else { &mut dropped }.push(item);
            continue;
        }
        // The other items follow in the next transaction.
        if txn.is_full() {
            is_whole = false;
            break;
        }
        let end = ItemEnd::cut_off(GONE);
        let record = record.begin(now.wall, fire, ExecutionSource::NormalTrigger, instance.clone(), attempt.clone());
        txn.set(&JobPath::fire(item), record.end(now.wall, &end).to_bytes(), Some(known.version));
        if is_failover_on && !engine.planted.has(Bug::DroppedTrigger) {
            txn.create(&JobPath::FailoverItem(item), "", CreateMode::Persistent);
            handed_over.push(item);
        } else {
            written.push(item);
        }
    }
    if is_whole {
        txn.delete(&path, None);
    } else {
        // The last transaction reports the items that are not written.
        [&mut merged, &mut disabled, &mut dropped, &mut unowned].into_iter().for_each(Vec::clear);
    }
    dropped.extend(written);
    let plan = HandOver { instance, fire, attempt, handed_over, merged, disabled, dropped, unowned };
    Ok(Step::Write(Proposal { transaction: txn.build(), purpose: Purpose::HandOver(Box::new(plan)) }))
}

/// The items that an instance which is gone owned.
fn meant_items(engine: &JobEngine, instance: &InstanceId, total: u32) -> Result<Vec<ShardingItem>, Unread> {
    let owners = engine.owners(total)?.into_iter();
    Ok(owners.filter(|(_, owner)| *owner == Some(instance.as_str())).map(|(item, _)| item).collect())
}

impl JobEngine {
    /// The instances that are gone and have a manual trigger which can be deleted.
    pub(super) fn orphaned_triggers(&self) -> impl Iterator<Item = &InstanceId> {
        let is_gone = |id: &&InstanceId| !self.mirror.exists(&JobPath::Instance((*id).clone()));
        let is_stuck = |id: &&InstanceId| self.link.is_obstructed(&JobPath::Trigger((*id).clone()));
        self.mirror.triggers().filter(is_gone).filter(move |id| !is_stuck(id))
    }

    /// Reports what became of triggers that transactions took whose answers got lost. One that is still there is taken again.
    pub(super) fn tell_taken_unknown(&mut self) -> Result<(), Unread> {
        if let Some(plan) = self.fires.hand_over_unknown.as_deref() {
            let is_done = self.is_done(plan)?;
            if let Some(plan) = self.fires.hand_over_unknown.take().filter(|_| is_done) {
                self.on_handed_over(*plan);
            }
        }
        let is_gone =
            |id: &InstanceId| Ok(self.mirror.need(&JobPath::Trigger(id.clone()))?.is_none().then(|| id.clone()));
        let gone = read_found(self.fires.dropped_unknown.iter().map(is_gone))?;
        self.fires.dropped_unknown.clear();
        self.tell_dropped(gone);
        Ok(())
    }

    /// Whether a trigger was taken, or the items of a part of it: the trigger stays until the last part is written.
    fn is_done(&self, plan: &HandOver) -> Result<bool, Unread> {
        let is_it = |czxid| matches!(plan.fire, Fire::Manual { trigger, .. } if trigger == czxid);
        if !self.mirror.need(&JobPath::Trigger(plan.instance.clone()))?.is_some_and(|known| is_it(known.czxid)) {
            return Ok(true);
        }
        // In a large group who does not lead any more hears of few records.
        let has_record =
            |item: ShardingItem| self.configuration.is_monitored() && self.mirror.hears(&JobPath::fire(item));
        let items = plan.handed_over.iter().chain(&plan.dropped).filter(|item| has_record(**item));
        let records: Vec<FireRecord> = read_all(items.map(|item| self.record_of(*item)))?;
        Ok(records.iter().any(|record| record.is_attempt(&plan.attempt)))
    }

    /// Reports that no instance runs what these instances were asked for.
    pub(in crate::engine) fn tell_dropped(&mut self, triggers: Vec<InstanceId>) {
        triggers.into_iter().for_each(|instance| self.tell(Notice::TriggerDropped { instance, items: vec![] }));
    }

    /// Reports the outcome for the items of a trigger.
    pub(in crate::engine) fn on_handed_over(&mut self, plan: HandOver) {
        let HandOver { instance, fire, attempt: _, handed_over, merged, disabled, mut dropped, unowned } = plan;
        dropped.sort_unstable();
        let of = |items: Vec<ShardingItem>| Some((instance.clone(), items)).filter(|(_, items)| !items.is_empty());
        if let Some((instance, items)) = of(handed_over) {
            self.tell(Notice::TriggerHandedOver { instance, items });
        }
        if let Some((instance, items)) = of(merged) {
            self.tell(Notice::TriggerMerged { instance, items });
        }
        if let Some((_, items)) = of(disabled) {
            self.tell(Notice::Skipped { fire, items, reason: SkipReason::ItemDisabled });
        }
        if let Some((instance, items)) = of(dropped) {
            self.tell(Notice::TriggerDropped { instance, items });
        }
        self.tell_left_out(unowned);
    }
}
