//! Begins the items of a job whose execution is not monitored: the registry keeps no record of its runs.

use std::collections::BTreeMap;

use super::super::Step;
use super::decline;
use super::transaction::{take_trigger, takes_trigger};
use super::verdict::{drop_item, drop_items};
use crate::clock::Now;
use crate::engine::engine::JobEngine;
use crate::fire::{Fire, RunKey, SkipReason};
use crate::ident::ShardingItem;
use crate::registry::mirror::Unread;

/// Without monitoring the registry is not asked, so the session has to be proven before. Without a record no instance
/// could know what was begun before, so the engine does not look at items acquired later.
pub(super) fn begin_unmonitored(
    engine: &mut JobEngine,
    now: Now,
    key: RunKey,
    mine: Vec<ShardingItem>,
) -> Result<Step, Unread> {
    if engine.fires.open.as_ref().is_some_and(|open| open.looked) {
        engine.fires.open = engine.fires.standing.take();
        return Ok(Step::Pass);
    }
    if !engine.session.is_proven(now) {
        engine.prove();
        return Ok(Step::Pass);
    }
    let since = engine.fires.open.as_ref().map_or(now.mono, |open| open.since);
    if engine.needs_server_time(now) || engine.suspects_clock(now, since) {
        return Ok(Step::Write(engine.ask_server_time()));
    }
    if let Some(difference) = engine.check_clock(now) {
        return decline(engine, now, 0, SkipReason::ClockOff { difference });
    }
    // Some were begun, or decided against, while execution was monitored.
    let is_decided = |item: &ShardingItem| {
        engine.fires.open.as_ref().is_some_and(|open| open.begun.contains(item) || open.dropped.contains(item))
    };
    let undecided = mine.into_iter().filter(|item| !is_decided(item));
    let (disabled, items): (Vec<_>, Vec<_>) = undecided.partition(|item| engine.mirror.is_item_disabled(*item));
    // Items that were begun while execution was monitored may still run.
    let running: BTreeMap<ShardingItem, Fire> =
        items.iter().filter_map(|item| Some((*item, engine.runs.of_item(*item)?.key.fire))).collect();
    let items: Vec<_> = items.into_iter().filter(|item| !running.contains_key(item)).collect();
    for item in disabled {
        drop_item(engine, item, SkipReason::ItemDisabled);
    }
    for run in engine.runs.iter().map(|run| run.key.fire).collect::<Vec<_>>() {
        let items = running.iter().filter_map(|(item, since)| (*since == run).then_some(*item));
        drop_items(engine, items.collect(), SkipReason::StillRunning { since: run });
    }
    // Only this instance takes its trigger: once the trigger is gone and no item was started, the items have still to
    // be started.
    if takes_trigger(engine)? {
        return Ok(Step::Write(take_trigger(engine, key.fire, items)));
    }
    let items: Vec<_> = items.into_iter().map(|item| (item, None)).collect();
    if items.is_empty() {
        if running.is_empty() {
            engine.tell_nothing_to_run();
        }
    } else {
        engine.start_items(now, key, None, items);
    }
    engine.looked_at(now);
    engine.fires.open = None;
    Ok(Step::Pass)
}
