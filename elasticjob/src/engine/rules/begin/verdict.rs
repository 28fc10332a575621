//! Decides on each item of an open fire: it begins, it waits, or it is skipped for a reason.

use crate::clock::Now;
use crate::engine::dependencies::Release;
use crate::engine::engine::JobEngine;
use crate::engine::late::{GivesUp, lateness};
use crate::engine::planted::Bug;
use crate::engine::state::open_fire::{BEGIN_TRIES, LATE_ACQUISITION, OpenFire};
use crate::engine::state::runs::BegunItem;
use crate::fire::{Attempt, ExecutionSource, Fire, FireRecord, SkipReason};
use crate::ident::ShardingItem;
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::mirror::{Unread, read_all};

/// Fires that are decided further ahead than this, in milliseconds, were decided by another clock.
const CLOCKS_DIFFER: i64 = 60_000;

/// The decision on an item of an open fire.
pub(super) enum Verdict {
    Begin,
    Skip(SkipReason),
    /// The fire does not concern this item, or there is nothing to report.
    Pass,
    /// Another run of the item comes first: with misfire on this fire is made up for.
    Busy(SkipReason),
    /// What the item follows has not ended.
    Hold,
}

impl Verdict {
    /// Whether the item is to run for the fire: now, or later as a missed one.
    pub(super) fn is_due(&self) -> bool {
        matches!(self, Verdict::Begin | Verdict::Busy(_))
    }
}

/// Decides on every item of this instance that is not decided yet.
pub(super) fn judge_all(
    engine: &JobEngine,
    now: Now,
    mine: &[ShardingItem],
) -> Result<Vec<(ShardingItem, Verdict)>, Unread> {
    let Some(open) = engine.fires.open.as_ref() else { return Ok(Vec::new()) };
    let meant = |item: &&ShardingItem| open.key.source != ExecutionSource::Misfire || engine.is_to_make_up(**item);
    let undecided = mine.iter().filter(|item| !open.begun.contains(item) && !open.dropped.contains(item));
    let undecided = undecided.filter(meant);
    read_all(undecided.map(|item| Ok((*item, judge(engine, now, open, *item)?))))
}

/// The items that the verdicts let begin, or would let begin if no other run of them came first.
pub(super) fn due_items(verdicts: &[(ShardingItem, Verdict)]) -> Vec<ShardingItem> {
    let due = verdicts.iter().filter(|(_, verdict)| verdict.is_due());
    due.map(|(item, _)| *item).collect()
}

/// Notes what the verdicts say of items that do not begin, and returns those that do.
pub(super) fn take_verdicts(
    engine: &mut JobEngine,
    fire: Fire,
    misfire: bool,
    verdicts: Vec<(ShardingItem, Verdict)>,
) -> Vec<ShardingItem> {
    let mut items = Vec::new();
    for (item, verdict) in verdicts {
        match verdict {
            Verdict::Begin => items.push(item),
            Verdict::Skip(reason) => drop_item(engine, item, reason),
            Verdict::Hold => {}
            Verdict::Pass => {
                engine.fires.open.iter_mut().for_each(|open| {
                    open.dropped.insert(item);
                });
            }
            Verdict::Busy(reason) => {
                if let Fire::Scheduled(at) = fire
                    && misfire
                {
                    // A later fire may have come while this one was being made up for.
                    let missed = engine.fires.missed_items.entry(item).or_insert(at);
                    *missed = (*missed).max(at);
                }
                drop_item(engine, item, reason);
            }
        }
    }
    items
}

/// Why an item whose record covers the fire is not begun.
fn decided(engine: &JobEngine, record: FireRecord) -> SkipReason {
    let now = engine.seen.map_or(i64::MAX, |now| now.wall);
    let ahead = record.through.map_or(0, |through| through.saturating_sub(now));
    let by = record.last.map(|begun| begun.instance);
    if ahead > CLOCKS_DIFFER {
        SkipReason::DecidedAhead { by, seconds: ahead / 1_000 }
    } else {
        SkipReason::AlreadyBegun { by }
    }
}

fn judge(engine: &JobEngine, now: Now, open: &OpenFire, item: ShardingItem) -> Result<Verdict, Unread> {
    if open.looked && engine.planted.has(Bug::DroppedAcquired) {
        return Ok(Verdict::Pass);
    }
    let is_disabled = engine.mirror.is_item_disabled(item);
    if is_disabled && !open.looks_back {
        return Ok(Verdict::Skip(SkipReason::ItemDisabled));
    }
    if open.refusals.get(&item).is_some_and(|times| *times >= BEGIN_TRIES) {
        return Ok(Verdict::Skip(SkipReason::Refused));
    }
    let record = engine.record_of(item).inspect_err(|_| {
        // Both are needed: ask for both at once.
        let _ = engine.mirror.need(&JobPath::running(item));
    })?;
    // What an operator cancelled before it was started is not begun again.
    let is_abandoned = |attempt: &Attempt| record.is_attempt(attempt) && record.cancel_request(attempt).is_none();
    let abandoned = open.abandoned.as_ref().is_some_and(is_abandoned);
    if !abandoned && record.covers(open.key.fire) && !engine.planted.has(Bug::LookThenOverwrite) {
        // Long after a fire, or for a fire from before the instance joined, it is normal that the record covers the
        // fire.
        let is_news = !open.looks_back
            && (!open.looked || lateness(now, engine.due_time_of(open.key.fire.at(), item)) <= LATE_ACQUISITION);
        return Ok(if is_news { Verdict::Skip(decided(engine, record)) } else { Verdict::Pass });
    }
    if is_disabled {
        return Ok(Verdict::Skip(SkipReason::ItemDisabled));
    }
    match engine.release(open.key.fire, item) {
        Release::Held if engine.planted.has(Bug::EarlyItem) => {}
        Release::Held => return Ok(Verdict::Hold),
        Release::Skipped(unmet) => return Ok(Verdict::Skip(unmet.reason_of_items())),
        Release::NotPart => return Ok(Verdict::Pass),
        Release::Since(_) => {}
    }
    if engine.planted.has(Bug::DroppedNew)
        && engine.mirror.need(&JobPath::fire(item))?.is_some_and(|made| now.wall < made.ctime + 10_000)
    {
        return Ok(Verdict::Pass);
    }
    if engine.planted.has(Bug::DroppedEnabled) && record.through > record.last.as_ref().map(|begun| begun.at) {
        return Ok(Verdict::Pass);
    }
    if !abandoned {
        match engine.gives_up(now, open, item)? {
            GivesUp::No => {}
            GivesUp::Silently => return Ok(Verdict::Pass),
            GivesUp::Because(reason) => return Ok(Verdict::Skip(reason)),
        }
    }
    let busy = |by| Verdict::Busy(SkipReason::RunsElsewhere { by });
    // The item runs here, also where a Java peer took the mark away, and where the code of an earlier engine goes on
    // under a mark of the session.
    if engine.runs.item(item).is_some_and(BegunItem::is_executing) || engine.runs.is_left(item) {
        return Ok(busy(Some(engine.identity.instance.clone())));
    }
    // A Java peer that takes an item over says so before it marks it, and runs nothing else until then. With failover
    // off it does not begin the item any more.
    let elsewhere = engine.runs_elsewhere(&record).cloned();
    let taken = engine.configuration.is_failover_on() && engine.mirror.exists(&JobPath::Item(item, ItemNode::Failover));
    let mark = match engine.mirror.need(&JobPath::running(item))? {
        // The answer to the finish of its run got lost: the engine resolves that first.
        None if engine.runs.item(item).is_some() => return Err(Unread),
        None if taken => return Ok(busy(None)),
        None if engine.waits_for_takeover(item)? && !engine.planted.has(Bug::OvertakenLoss) => {
            return Ok(Verdict::Busy(SkipReason::AwaitingFailover));
        }
        None => return Ok(elsewhere.map_or(Verdict::Begin, |by| busy(Some(by)))),
        Some(mark) => mark,
    };
    let by = || mark.text().and_then(|text| text.parse().ok());
    // What was handed over goes first: it is taken over when the mark is gone with the session that owns it.
    if engine.is_handed_over(item)? && !engine.planted.has(Bug::OvertakenLoss) {
        return Ok(Verdict::Busy(SkipReason::AwaitingFailover));
    }
    // Left over by an earlier session, or by a begin of this one that was never started.
    if engine.membership.is_own(mark.owner)
        || engine.planted.has(Bug::LookThenOverwrite)
        || engine.planted.has(Bug::StolenMark)
    {
        return Ok(Verdict::Begin);
    }
    Ok(match engine.is_run_alive(item, mark)? {
        true => busy(by()),
        false if elsewhere.is_some() => busy(elsewhere),
        false if engine.configuration.is_failover_on() => Verdict::Busy(SkipReason::AwaitingFailover),
        false => Verdict::Begin,
    })
}

pub(super) fn drop_item(engine: &mut JobEngine, item: ShardingItem, reason: SkipReason) {
    drop_items(engine, vec![item], reason);
}

pub(super) fn drop_items(engine: &mut JobEngine, mut items: Vec<ShardingItem>, reason: SkipReason) {
    if reason == SkipReason::AwaitingFailover {
        engine.fires.losses.suspect();
    }
    let Some(open) = &mut engine.fires.open else { return };
    items.retain(|item| open.dropped.insert(*item));
    if items.is_empty() {
        return;
    }
    let fire = open.key.fire;
    let is_refused = match reason {
        SkipReason::ItemDisabled | SkipReason::ServerDisabled => open.is_regular(),
        // The jobs after this one go by the record.
        SkipReason::ItemDependencyNotMet { .. } => true,
        _ => false,
    };
    if is_refused {
        open.refused.extend(&items);
    }
    engine.tell_skip(fire, items, reason);
}
