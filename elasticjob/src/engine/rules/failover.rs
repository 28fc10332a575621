//! Failover: taking over items whose runs were lost with their instances.

use super::Step;
use super::begin::begin_item;
use super::cancel::conclude;
use crate::clock::Now;
use crate::engine::engine::JobEngine;
use crate::engine::planted::Bug;
use crate::engine::state::losses::Loss;
use crate::engine::state::membership::Phase;
use crate::engine::state::proposal::{BeginPlan, Proposal, Purpose};
use crate::engine::txn::JobTransaction;
use crate::fire::{Cause, ExecutionSource, Fire, RunKey};
use crate::registry::CreateMode;
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::mirror::Unread;

/// Takes over one lost item, in a slot of its own beside the other runs of this instance. The next lost item follows
/// when this one has begun. Of an item that an operator cancelled it writes the end instead.
///
/// Each instance looks at all marks when an instance or a session went away. So no instance needs a message, and it
/// makes no difference how many instances are left or come back.
pub(super) fn failover(engine: &mut JobEngine, now: Now) -> Result<Step, Unread> {
    if !engine.configuration.is_failover_on() {
        engine.fires.losses.stand_down();
        return Ok(Step::Pass);
    }
    if engine.phase != Phase::Active || !engine.is_registered() || engine.fires.unresolved.is_some() {
        return Ok(Step::Pass);
    }
    let Some(total) = engine.configuration.in_force.as_ref().map(|configuration| configuration.sharding_total_count())
    else {
        return Ok(Step::Pass);
    };
    if !engine.fires.losses.are_suspected(&engine.mirror) {
        return Ok(Step::Pass);
    }
    let mut lost = engine.lost_items(total)?;
    if lost.is_empty() {
        engine.fires.losses.found_none(&engine.mirror);
        return Ok(Step::Pass);
    }
    lost.retain(|loss| !loss.is_held);
    if lost.is_empty() {
        return Ok(Step::Pass);
    }
    let takers = engine.takers()?;
    let me = engine.identity.instance.clone();
    match engine.fires.losses.take_turn(&lost, &takers, &me, now.mono) {
        Some(loss) => {
            let cancelled =
                if engine.planted.has(Bug::CancelledTakenOver) { None } else { conclude(engine, now, &loss)? };
            Ok(Step::Write(cancelled.unwrap_or_else(|| take(engine, loss))))
        }
        None => Ok(Step::Pass),
    }
}

/// One transaction: it sets the record, with the version that was looked at as the guard, and replaces the marks; the
/// item waits no more.
fn take(engine: &mut JobEngine, mut loss: Loss) -> Proposal {
    if let Fire::Manual { rerun, cause, .. } = &mut loss.fire {
        if engine.planted.has(Bug::ForgottenRerun) {
            *rerun = None;
        }
        if engine.planted.has(Bug::ForgottenCause) {
            *cause = Cause::UNKNOWN;
        }
    }
    let attempt = engine.next_attempt();
    let me = engine.identity.instance.clone();
    let source = ExecutionSource::Failover;
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    begin_item(engine, &mut txn, loss.item, loss.fire, source, &attempt);
    if !engine.planted.has(Bug::UnguardedTakeover) {
        txn.create(&JobPath::Item(loss.item, ItemNode::Failover), me.as_str(), CreateMode::Ephemeral);
        let failovering = JobPath::Item(loss.item, ItemNode::Failovering);
        if engine.mirror.exists(&failovering) {
            txn.set(&failovering, me.as_str(), None);
        } else {
            txn.create(&failovering, me.as_str(), CreateMode::Persistent);
        }
    }
    let plan = BeginPlan {
        key: RunKey::new(loss.fire, source),
        attempt: Some(attempt),
        items: vec![loss.item],
        from: loss.from,
        is_whole: true,
    };
    Proposal { transaction: txn.build(), purpose: Purpose::Begin(plan) }
}
