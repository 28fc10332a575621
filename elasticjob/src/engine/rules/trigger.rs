//! Manual triggers: asking every enabled instance to run its items.

use super::Step;
use crate::engine::action::TriggerAnswer;
use crate::engine::engine::{JobEngine, Phase};
use crate::engine::event::{ItemEnd, Now};
use crate::engine::fire::{ExecutionSource, Fire, FireRecord};
use crate::engine::planted::Bug;
use crate::engine::proposal::{Proposal, Purpose};
use crate::engine::txn::JobTransaction;
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::CreateMode;
use crate::registry::mirror::Lookup;
use crate::registry::path::{ItemNode, JobPath};

/// Why an item that was handed over did not run.
const GONE: &str = "its instance was gone before it began it";

/// Takes a manual trigger that waited for an instance that is gone. Nothing was begun for it: with failover its items are
/// handed over, so that another instance takes them over; without, it is told and written that they are not run. An item whose
/// run was lost with the instance is taken over for that run alone.
pub(super) fn hand_over(engine: &mut JobEngine, now: Now) -> Step {
    if engine.leadership.is_none() || engine.phase != Phase::Active || !engine.is_registered() {
        return Step::Pass;
    }
    let is_gone = |id: &&InstanceId| !engine.mirror.exists(&JobPath::Instance((*id).clone()));
    let is_stuck = |id: &&InstanceId| engine.is_obstructed(&JobPath::Trigger((*id).clone()));
    let Some(instance) = engine.mirror.triggers().filter(is_gone).find(|id| !is_stuck(id)).cloned() else {
        return Step::Pass;
    };
    let Some(configuration) = engine.configuration.clone() else { return Step::Pass };
    let path = JobPath::Trigger(instance.clone());
    let fire = match engine.look(&path) {
        Lookup::Known(asked) => Fire::Manual { trigger: asked.czxid, at: asked.ctime },
        Lookup::Missing => return Step::Pass,
        // It moves the items, from then on it is not known which ones were meant.
        Lookup::Unread => return Step::Stop,
    };
    let Some(meant) = meant_items(engine, &instance, configuration.sharding_total_count()) else { return Step::Stop };
    let (is_monitored, is_failover_on) = (engine.is_monitored(), engine.is_failover_on());
    let attempt = engine.next_attempt();
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    txn.check(&JobPath::LeaderInstance);
    txn.check_missing(&JobPath::Instance(instance.clone()));
    let (mut handed_over, mut dropped) = (Vec::new(), Vec::new());
    let mut is_whole = true;
    for item in meant {
        let known = match engine.look(&JobPath::fire(item)) {
            Lookup::Known(known) if is_monitored => known,
            Lookup::Unread if is_monitored => return Step::Stop,
            _ => {
                dropped.push(item);
                continue;
            }
        };
        let record = FireRecord::parse(&known.data);
        let is_lost = engine.mirror.exists(&JobPath::running(item)) || record.running().is_some();
        if record.covers(fire) || engine.mirror.exists(&JobPath::FailoverItem(item)) {
            continue;
        }
        if is_lost {
            dropped.extend((!is_failover_on).then_some(item));
            continue;
        }
        // The others follow in the next one.
        if txn.is_full() {
            is_whole = false;
            break;
        }
        let end = ItemEnd::cut_off(GONE);
        let record = record.begin(now.wall, fire, ExecutionSource::NormalTrigger, instance.clone(), attempt.clone());
        txn.set(&JobPath::fire(item), record.end(now.wall, &end, None).to_bytes(), Some(known.version));
        if is_failover_on && !engine.planted.has(Bug::DroppedTrigger) {
            txn.create(&JobPath::FailoverItem(item), "", CreateMode::Persistent);
            handed_over.push(item);
        } else {
            dropped.push(item);
        }
    }
    if is_whole {
        txn.delete(&path, None);
    }
    Step::Write(Proposal { transaction: txn.build(), purpose: Purpose::HandOver { instance, handed_over, dropped } })
}

/// The items that an instance which is gone owned and that are not disabled; `None` while data are missing.
fn meant_items(engine: &JobEngine, instance: &InstanceId, total: u32) -> Option<Vec<ShardingItem>> {
    let (mut complete, mut meant) = (true, Vec::new());
    for item in 0..total {
        match engine.look(&JobPath::owner_of(item)) {
            Lookup::Unread => complete = false,
            Lookup::Known(owner) if owner.text() == Some(instance.as_str()) => meant.push(item),
            Lookup::Known(_) | Lookup::Missing => {}
        }
    }
    meant.retain(|item| !engine.mirror.exists(&JobPath::Item(*item, ItemNode::Disabled)));
    complete.then_some(meant)
}

/// Writes a trigger for each enabled instance that has none waiting. Requests that wait together are served together.
pub(super) fn trigger(engine: &mut JobEngine, _: Now) -> Step {
    if engine.triggers.is_empty() || engine.phase != Phase::Active {
        return Step::Pass;
    }
    let Some(instances) = engine.available_instances() else { return Step::Pass };
    if instances.is_empty() {
        engine.answer_triggers(&TriggerAnswer::NoEnabledInstance);
        return Step::Pass;
    }
    if engine.planted.has(Bug::LostTrigger) {
        engine.answer_triggers(&TriggerAnswer::Queued);
        return Step::Pass;
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
    let asked = engine.triggers.drain(..).collect();
    Step::Write(Proposal { transaction: txn.build(), purpose: Purpose::Trigger { asked, answer } })
}
