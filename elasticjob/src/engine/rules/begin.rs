//! Begins the items of a fire: opens it, decides on its items, and writes that they begin.

mod outcome;
mod transaction;
mod unmonitored;
mod verdict;

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::time::Duration;

pub(super) use self::transaction::begin_item;
use self::transaction::{begin_transaction, refuse_items, take_trigger, takes_trigger};
use self::unmonitored::begin_unmonitored;
use self::verdict::{Verdict, due_items, judge_all, take_verdicts};
use super::{Step, misfire};
use crate::clock::Now;
use crate::engine::engine::JobEngine;
use crate::engine::planted::{Bug, DEAF};
use crate::engine::state::membership::Phase;
use crate::engine::state::open_fire::OpenFire;
use crate::engine::state::proposal::{BeginPlan, Proposal, Purpose};
use crate::engine::state::runs::Run;
use crate::engine::txn::JobTransaction;
use crate::fire::{ExecutionSource, Fire, RunKey, SkipReason};
use crate::ident::ShardingItem;
use crate::registry::mirror::Unread;

/// Begins the items of the open fire that this instance owns: one transaction for all of them, several where they are too
/// many for one, none when execution is not monitored.
///
/// A manual trigger that came meanwhile is the next.
pub(super) fn begin(engine: &mut JobEngine, now: Now) -> Result<Step, Unread> {
    let is_looking = |engine: &JobEngine| engine.fires.open.as_ref().is_some_and(|open| !open.looked);
    let looks = is_looking(engine);
    let step = begin_open(engine, now)?;
    // No event may follow a fire of which nothing is to run here: a trigger, or a missed fire whose item became free before
    // the look, would wait for the next one, and for ever where each fire finds it so.
    let is_missed = |open: &OpenFire| open.key.source == ExecutionSource::Misfire;
    let waits = |engine: &JobEngine| {
        engine.mirror.exists(&engine.own_trigger())
            || (!engine.fires.open.as_deref().is_some_and(is_missed) && misfire::to_make_up(engine).is_some())
    };
    Ok(match step {
        Step::Pass if looks && !is_looking(engine) && waits(engine) => Step::Again,
        step => step,
    })
}

/// Looks at the open fire, and begins what is to begin of it.
fn begin_open(engine: &mut JobEngine, now: Now) -> Result<Step, Unread> {
    if engine.phase != Phase::Active || !engine.is_registered() || engine.fires.unresolved.is_some() {
        return Ok(Step::Pass);
    }
    open_next(engine, now);
    let Some(configuration) = engine.configuration.in_force.clone() else { return Ok(Step::Pass) };
    drop_by_planted_bug(engine, now)?;
    let Some(key) = engine.fires.open.as_ref().map(|open| open.key) else { return Ok(Step::Pass) };
    let mine = match items_to_decide(engine, now, key, configuration.sharding_total_count())? {
        ControlFlow::Continue(mine) => mine,
        ControlFlow::Break(step) => return Ok(step),
    };
    if !engine.configuration.is_monitored() {
        return begin_unmonitored(engine, now, key, mine);
    }
    if engine.fires.open.as_ref().is_some_and(|open| open.looked) {
        engine.tell_items_of_the_gone();
    }
    let mut verdicts = judge_all(engine, now, &mine)?;
    if let Some(question) = check_clock(engine, now, key.fire, &mut verdicts) {
        return Ok(Step::Write(question));
    }
    if configuration.misfire() {
        misfire::tell_collapsed(engine, key.fire, &due_items(&verdicts));
    }
    let items = take_verdicts(engine, key.fire, configuration.misfire(), verdicts);
    match items.is_empty() {
        true => begin_nothing(engine, now, key, &mine),
        false => begin_items(engine, key, items),
    }
}

/// Makes the fire that is the next one the open fire.
fn open_next(engine: &mut JobEngine, now: Now) {
    engine.decide_held_up(now);
    engine.fires.open.iter_mut().for_each(|open| open.rest_follows = false);
    // The trigger goes first: otherwise a job that always overruns would never come to it.
    if !open_manual(engine, now) {
        misfire::open(engine, now);
    }
}

/// Planted bugs: the open fire is dropped.
fn drop_by_planted_bug(engine: &mut JobEngine, now: Now) -> Result<(), Unread> {
    if engine.planted.has(Bug::DeafBesideJava) && now.mono.as_secs() % 8 < 4 && engine.has_java_peers()? {
        engine.fires.open = None;
    }
    if engine.planted.is_deaf(now.mono) {
        engine.fires.open = None;
    }
    Ok(())
}

/// The items of this instance, where the open fire may begin now. Breaks with the step to take where it may not.
fn items_to_decide(
    engine: &mut JobEngine,
    now: Now,
    key: RunKey,
    total: u32,
) -> Result<ControlFlow<Step, Vec<ShardingItem>>, Unread> {
    // The run of another fire is still being finished, or the listeners after this one are being called.
    let is_of_fire = |run: &Run| run.key == key && run.takes_items();
    if engine.runs.regular().is_some_and(|run| !is_of_fire(run)) {
        return Ok(ControlFlow::Break(Step::Pass));
    }
    if !engine.is_server_enabled()? {
        // A process that stood still does not know what the operator did meanwhile.
        let is_first = engine.fires.open.as_ref().is_some_and(|open| !open.looked);
        if is_first && !engine.session.is_proven(now) {
            engine.prove();
            return Ok(ControlFlow::Break(Step::Pass));
        }
        engine.planted.deafen(Bug::DeafAfterEnabling, now.mono + DEAF);
        return decline(engine, now, total, SkipReason::ServerDisabled).map(ControlFlow::Break);
    }
    let (mine, settled) = engine.own_items(total)?;
    if engine.planted.has(Bug::DroppedBesideRuns) && engine.runs_beside(&mine) {
        engine.fires.open = None;
        return Ok(ControlFlow::Break(Step::Pass));
    }
    engine.note_assignment(now, settled, !mine.is_empty());
    if !settled && engine.may_wait_for_assignment(now)? {
        return Ok(ControlFlow::Break(Step::Pass));
    }
    if !settled {
        engine.tell_items_without_owner(total)?;
    }
    if engine.fires.own_items_seen != mine {
        engine.fires.own_items_seen.clone_from(&mine);
        // A run may have waited for items that are not here any more.
        if engine.follows_items() {
            engine.close_runs(now);
        }
    }
    Ok(ControlFlow::Continue(mine))
}

/// Skips the items that are due where the clock is off. Returns the question for the server's time where the answer is
/// needed before: a record that is written by a wrong clock covers fires that have not come, and what it notes as missed
/// does not count.
fn check_clock(
    engine: &mut JobEngine,
    now: Now,
    fire: Fire,
    verdicts: &mut Vec<(ShardingItem, Verdict)>,
) -> Option<Proposal> {
    let due = due_items(verdicts);
    let open = engine.fires.open.as_deref().filter(|open| open.is_regular() && !due.is_empty())?;
    if engine.suspects_clock(now, open.since) {
        return Some(engine.ask_server_time());
    }
    if let Some(difference) = engine.check_clock(now) {
        verdicts.retain(|(_, verdict)| !verdict.is_due());
        engine.fires.open.iter_mut().for_each(|open| open.dropped.extend(&due));
        engine.tell_skip(fire, due, SkipReason::ClockOff { difference });
    }
    None
}

/// No item begins: writes which items are refused, takes the trigger, or notes that the fire was looked at. Whether the fire
/// came by a clock far ahead, and is not to be refused, the server's time says.
fn begin_nothing(engine: &mut JobEngine, now: Now, key: RunKey, mine: &[ShardingItem]) -> Result<Step, Unread> {
    let refuses = engine.fires.open.as_ref().is_some_and(|open| !open.refused.is_empty());
    if refuses && engine.suspects_clock(now, Duration::ZERO) {
        return Ok(Step::Write(engine.ask_server_time()));
    }
    let mut refusal = JobTransaction::new(&engine.job, &engine.mirror);
    refuse_items(engine, &mut refusal);
    let refusal = refusal.build();
    if !refusal.is_empty() {
        return Ok(Step::Write(Proposal { transaction: refusal, purpose: Purpose::Skip }));
    }
    match key.fire {
        Fire::Manual { .. } if takes_trigger(engine)? => Ok(Step::Write(take_trigger(engine, key.fire, vec![]))),
        _ => {
            if !engine.holds_own_items(key) {
                engine.tell_nothing_to_run();
            }
            engine.looked_at(now);
            Ok(match misfire::mark(engine, now)? {
                Step::Pass if engine.alternate(now, mine) => Step::Again,
                step => step,
            })
        }
    }
}

/// Begins these items, or as many of them as one transaction takes.
fn begin_items(engine: &mut JobEngine, key: RunKey, mut items: Vec<ShardingItem>) -> Result<Step, Unread> {
    let RunKey { fire, source } = key;
    // What fires again by a request is none of the schedule.
    if matches!(source, ExecutionSource::NormalTrigger | ExecutionSource::Misfire) {
        engine.tell_unbegun(fire, &items)?;
    }
    let attempt = engine.next_attempt();
    let due = items.len();
    let transaction = begin_transaction(engine, fire, source, &attempt, &mut items)?;
    let plan = BeginPlan { key, attempt: Some(attempt), is_whole: items.len() == due, items, from: None };
    Ok(Step::Write(Proposal { transaction, purpose: Purpose::Begin(plan) }))
}

/// Makes a waiting manual trigger the open fire, when no other fire is under way. Returns whether there is one.
fn open_manual(engine: &mut JobEngine, now: Now) -> bool {
    let busy = engine.runs.regular().is_some() || engine.fires.open.as_ref().is_some_and(|open| !open.looked);
    if busy {
        return false;
    }
    match engine.mirror.need(&engine.own_trigger()) {
        Ok(None) => false,
        Err(Unread) => true,
        Ok(Some(known)) => {
            let fire = Fire::of_trigger(known.czxid, known.ctime, &known.data);
            engine.open_instead(OpenFire::new(fire, ExecutionSource::NormalTrigger, now.mono));
            true
        }
    }
}

/// Decides that the whole fire is not run here.
fn decline(engine: &mut JobEngine, now: Now, total: u32, reason: SkipReason) -> Result<Step, Unread> {
    let monitored = engine.configuration.is_monitored();
    let disabled_at = engine.server_disabled_at();
    if let Some(open) = engine.fires.open.as_deref().filter(|open| monitored && open.is_regular()) {
        // The fire stays due for items that come here from another server when this server is enabled again; and for
        // items of this server where it was disabled after the fire came.
        let (fire, is_first) = (open.key.fire, !open.looked);
        let declined = match disabled_at.is_none_or(|at| at <= fire.at()) {
            true => engine.items_of_own_server(total),
            false => Ok(BTreeSet::new()),
        };
        let declined = declined?;
        if let Some(mut open) = engine.fires.open.take_if(|_| is_first) {
            open.looked = true;
            open.declined = declined;
            engine.skip_rest(&open, reason);
            engine.fires.open = Some(open);
            engine.close_runs(now);
        }
        return Ok(Step::Pass);
    }
    let takes_trigger = takes_trigger(engine)?;
    let Some(open) = engine.fires.open.take() else { return Ok(Step::Pass) };
    engine.fires.open = engine.fires.standing.take();
    if !open.looked {
        engine.skip_rest(&open, reason);
        engine.close_runs(now);
    }
    match takes_trigger {
        true => Ok(Step::Write(take_trigger(engine, open.key.fire, vec![]))),
        false => Ok(Step::Pass),
    }
}
