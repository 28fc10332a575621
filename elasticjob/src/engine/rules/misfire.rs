//! Misfire: a fire that fell into a run is made up for at once after that run.

use std::collections::{BTreeMap, BTreeSet};

use super::Step;
use crate::clock::Now;
use crate::engine::dependencies::Release;
use crate::engine::engine::JobEngine;
use crate::engine::late::{Evidence, lateness};
use crate::engine::notice::Notice;
use crate::engine::planted::Bug;
use crate::engine::state::fires::{Missed, Noted};
use crate::engine::state::membership::Phase;
use crate::engine::state::open_fire::{LATE_ACQUISITION, OpenFire};
use crate::engine::state::proposal::{Proposal, Purpose};
use crate::engine::txn::JobTransaction;
use crate::fire::{ExecutionSource, Fire, FireRecord, SkipReason};
use crate::ident::ShardingItem;
use crate::registry::CreateMode;
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::mirror::{Lookup, Unread};

/// Writes which items missed a fire, while the run before goes on: peers and consoles see it, and the instance that
/// owns the items after that run makes up for it.
pub(super) fn mark(engine: &mut JobEngine, now: Now) -> Result<Step, Unread> {
    let Some(configuration) = engine.configuration.in_force.clone() else { return Ok(Step::Pass) };
    if !configuration.misfire() {
        match engine.fires.missed {
            // The run counts it.
            Some(Missed::OfTheRun(at)) => {
                let (mine, _) = engine.own_items(configuration.sharding_total_count())?;
                let unsaid = mine.into_iter().filter(|item| misses(engine, *item, at)).collect();
                tell_missed_of_the_run(engine, at, unsaid);
            }
            Some(Missed::Whole(_)) => engine.fires.over += 1,
            None => {}
        }
        engine.fires.missed = None;
        engine.fires.missed_items.clear();
        return Ok(Step::Pass);
    }
    if !engine.configuration.is_monitored() {
        give_way_to_unmonitored(engine);
        return Ok(Step::Pass);
    }
    let takes_part = matches!(engine.phase, Phase::Active | Phase::Leaving { .. });
    if !takes_part || !engine.is_registered() {
        return Ok(Step::Pass);
    }
    spread(engine, now, configuration.sharding_total_count())?;
    // Where the run is over already, the begin of the missed fire says the same.
    let runs_elsewhere = |item: &ShardingItem| engine.mirror.exists(&JobPath::running(*item));
    let waiting: BTreeMap<ShardingItem, i64> = engine
        .fires
        .missed_items
        .iter()
        .filter(|(item, _)| engine.runs.regular().is_some() || runs_elsewhere(item))
        .map(|(item, at)| (*item, *at))
        .collect();
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    let mut items = Vec::new();
    let mut settled = Vec::new();
    let mut collapsed = BTreeSet::new();
    for (item, at) in waiting {
        // The other items follow in the next transaction.
        if txn.is_full() {
            break;
        }
        let path = JobPath::fire(item);
        let Ok(Some(known)) = engine.mirror.need(&path) else { continue };
        let record = engine.read_record(known);
        let node = JobPath::Item(item, ItemNode::Misfire);
        let is_marked = engine.mirror.exists(&node);
        // Where the record has the fire and the mark is gone, a Java instance has made up for it; without such, misfire was
        // switched off for a while, and the leader deleted the mark.
        let is_noted = record.missed >= Some(at);
        if record.covers(Fire::Scheduled(at)) || (is_noted && (is_marked || engine.has_java_peers()?)) {
            settled.push(item);
            continue;
        }
        collapsed.extend(record.to_make_up().filter(|earlier| *earlier < at).map(|earlier| (earlier, at)));
        txn.set(&path, record.miss(at).to_bytes(), Some(known.version));
        if !is_marked {
            txn.create(&node, "", CreateMode::Persistent);
        }
        items.push((item, at));
    }
    let transaction = txn.build();
    for item in settled {
        engine.fires.missed_items.remove(&item);
    }
    for (earlier, into) in collapsed {
        // The engine reports it once, also where the registry center refuses the write at first.
        let mut noted = engine.fires.noted.as_deref_mut().filter(|noted| noted.at == into);
        if noted.as_mut().is_none_or(|noted| noted.collapsed.insert(earlier)) {
            engine.tell(Notice::Collapsed { earlier, into });
            engine.fires.over += 1;
        }
    }
    if items.is_empty() {
        return Ok(Step::Pass);
    }
    let mut by_fire: BTreeMap<i64, Vec<ShardingItem>> = BTreeMap::new();
    items.iter().for_each(|(item, at)| by_fire.entry(*at).or_default().push(*item));
    for (at, items) in by_fire {
        engine.tell_unbegun(Fire::Scheduled(at), &items)?;
    }
    Ok(Step::Write(Proposal { transaction, purpose: Purpose::Miss { items } }))
}

/// Forgets what single items missed while execution was monitored, once a later fire has come: it has no record, so a fire
/// before it would seem to be missed still when monitoring is switched on again.
fn give_way_to_unmonitored(engine: &mut JobEngine) {
    let Some(last) = engine.fires.calendar.last() else { return };
    let mut earlier = BTreeSet::new();
    engine.fires.missed_items.retain(|_, at| {
        let is_earlier = *at < last;
        if is_earlier {
            earlier.insert(*at);
        }
        !is_earlier
    });
    engine.tell_collapsed_into(&earlier, last);
}

/// Notes a fire that was missed as a whole for the own items, and for those acquired soon after it.
fn spread(engine: &mut JobEngine, now: Now, total: u32) -> Result<(), Unread> {
    let Some(missed) = engine.fires.missed else {
        note_acquired(engine, now, total);
        return Ok(());
    };
    let (mine, _) = engine.own_items(total)?;
    // A process that stood still does not know what the operator enabled meanwhile.
    if mine.iter().any(|item| engine.mirror.is_item_disabled(*item)) && !engine.session.is_proven(now) {
        engine.prove();
        return Ok(());
    }
    engine.fires.missed = None;
    let at = missed.at();
    let mut collapsed = BTreeSet::new();
    let items = mine.iter().copied().collect();
    let mut unsaid = Vec::new();
    for item in mine {
        if !misses(engine, item, at) {
            continue;
        }
        if missed == Missed::OfTheRun(at) {
            unsaid.push(item);
        }
        // The engine sees the earlier missed fires of the record when it writes the record.
        if let Some(earlier) = engine.fires.missed_items.insert(item, at).filter(|earlier| *earlier < at) {
            engine.note_skip(Fire::Scheduled(earlier), &[item]);
            collapsed.insert(earlier);
        }
    }
    tell_missed_of_the_run(engine, at, unsaid);
    engine.tell_collapsed_into(&collapsed, at);
    engine.fires.noted = Some(Box::new(Noted { at, items, collapsed }));
    Ok(())
}

/// Whether an item of this instance misses a fire that comes while the run before goes on.
fn misses(engine: &JobEngine, item: ShardingItem, at: i64) -> bool {
    !engine.mirror.is_item_disabled(item) && !is_covered(engine, item, at) && is_part(engine, item, at)
}

/// Whether an item is a part of a fire: there may have been no such item when the fire was decided.
fn is_part(engine: &JobEngine, item: ShardingItem, at: i64) -> bool {
    engine.release(Fire::Scheduled(at), item) != Release::NotPart
}

/// Reports the items that were not begun with the run whose own fire came again.
fn tell_missed_of_the_run(engine: &mut JobEngine, at: i64, items: Vec<ShardingItem>) {
    if !items.is_empty() {
        let since = Fire::Scheduled(at);
        engine.tell_skip(since, items, SkipReason::StillRunning { since });
    }
}

/// Notes the last missed fire for items that moved here since, unless it was begun or noted where they were.
fn note_acquired(engine: &mut JobEngine, now: Now, total: u32) {
    let limit = engine.late_limit();
    let due = engine.fires.noted.as_ref().map(|noted| engine.due_time(noted.at));
    let is_due = due.is_some_and(|due| limit.is_none_or(|limit| lateness(now, due) <= limit));
    let Some(mut noted) = engine.fires.noted.take().filter(|_| is_due) else { return };
    if let Ok((mine, _)) = engine.own_items(total) {
        let mine = BTreeSet::from_iter(mine);
        noted.items.retain(|item| mine.contains(item));
        for item in mine {
            if noted.items.contains(&item) {
                continue;
            }
            // While the record is being read, the item is new the next time as well.
            let Ok(record) = engine.record_of(item) else { continue };
            let is_known = record.covers(Fire::Scheduled(noted.at)) || record.to_make_up() >= Some(noted.at);
            let is_late = lateness(now, engine.due_time_of(noted.at, item)) > LATE_ACQUISITION;
            let evidence = if is_known || !is_late { Ok(Evidence::NotBegun) } else { engine.evidence(item, noted.at) };
            let Ok(evidence) = evidence else { continue };
            noted.items.insert(item);
            let is_missed = !is_known && evidence == Evidence::NotBegun;
            if is_missed && !engine.mirror.is_item_disabled(item) && is_part(engine, item, noted.at) {
                engine.fires.missed_items.insert(item, noted.at);
            }
        }
    }
    engine.fires.noted = Some(noted);
}

/// Whether the registry is known to say that an item was begun for this fire.
fn is_covered(engine: &JobEngine, item: ShardingItem, at: i64) -> bool {
    match engine.mirror.lookup(&JobPath::fire(item)) {
        Lookup::Known(known) => engine.read_record(known).covers(Fire::Scheduled(at)),
        Lookup::Missing | Lookup::Unread => false,
    }
}

/// Reports which missed fires are not made up for by themselves, as the open fire takes their place: their items begin
/// for it, or it is made up for instead.
pub(super) fn tell_collapsed(engine: &mut JobEngine, fire: Fire, items: &[ShardingItem]) {
    let Fire::Scheduled(at) = fire else { return };
    let mut earlier = BTreeSet::new();
    for item in items {
        let Ok(record) = engine.record_of(*item) else { continue };
        let missed = [record.to_make_up(), engine.fires.missed_items.get(item).copied()];
        let is_left_out = |missed: &i64| *missed < at && !record.covers(Fire::Scheduled(*missed));
        earlier.extend(missed.into_iter().flatten().filter(is_left_out));
    }
    // These were reported when the fire that is made up for was missed.
    if let Some(noted) = engine.fires.noted.as_deref().filter(|noted| noted.at == at) {
        earlier.retain(|earlier| !noted.collapsed.contains(earlier));
    }
    for earlier in earlier {
        let is_new = engine.fires.open.as_deref_mut().is_some_and(|open| open.takes_place_of.insert(earlier));
        if is_new && !engine.planted.has(Bug::SilentCollapse) {
            engine.tell(Notice::Collapsed { earlier, into: at });
            engine.fires.over += 1;
        }
    }
}

/// Deletes `misfire` nodes that no instance will act on: the leader deletes all of them when misfire is off, an owner
/// deletes those of its items that are disabled or were begun for a later fire. A missed fire of a disabled item is decided
/// against. Where execution is not monitored any more, the next fire takes the place of the missed one: it has no record, so
/// nothing else would say that the missed one is over.
pub(super) fn clear(engine: &mut JobEngine, _: Now) -> Result<Step, Unread> {
    let Some(configuration) = engine.configuration.in_force.clone() else { return Ok(Step::Pass) };
    if engine.phase != Phase::Active || !engine.is_registered() {
        return Ok(Step::Pass);
    }
    engine.resolve_declined();
    let marked: Vec<ShardingItem> = engine.mirror.misfired_items().collect();
    if marked.is_empty() {
        return Ok(Step::Pass);
    }
    let useless: Vec<ShardingItem> = if configuration.misfire() {
        let (mine, _) = engine.own_items(configuration.sharding_total_count())?;
        let is_settled = |item: ShardingItem| engine.misfire_of(item) == Ok(None);
        let mine = BTreeSet::from_iter(mine);
        let own = marked.into_iter().filter(|item| mine.contains(item));
        let is_over = |item: ShardingItem| gives_way_to_unmonitored(engine, item).is_some();
        own.filter(|item| engine.mirror.is_item_disabled(*item) || is_settled(*item) || is_over(*item)).collect()
    } else {
        marked.into_iter().filter(|_| engine.leadership.term.is_some()).collect()
    };
    if useless.is_empty() {
        return Ok(Step::Pass);
    }
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    // A leader that has not heard yet that misfire was switched on would take away what was noted since.
    if !configuration.misfire() && !engine.guard_configuration(&mut txn)? {
        return Ok(Step::Pass);
    }
    let mut declined = Vec::new();
    let mut collapsed = BTreeSet::new();
    for item in useless {
        // The other items follow in the next transaction.
        if txn.is_full() {
            break;
        }
        if configuration.misfire()
            && engine.mirror.is_item_disabled(item)
            && let Some(known) = engine.mirror.need(&JobPath::fire(item))?
        {
            let record = engine.read_record(known);
            if let Some(at) = record.to_make_up() {
                txn.set(&JobPath::fire(item), record.skip(at).to_bytes(), Some(known.version));
                declined.push((item, at));
            }
        }
        if configuration.misfire() && !engine.mirror.is_item_disabled(item) {
            collapsed.extend(gives_way_to_unmonitored(engine, item));
        }
        txn.delete(&JobPath::Item(item, ItemNode::Misfire), None);
    }
    Ok(Step::Write(Proposal { transaction: txn.build(), purpose: Purpose::ClearMissed { declined, collapsed } }))
}

/// The missed fire of an item whose place a later one has taken that has no record, as execution is not monitored.
fn gives_way_to_unmonitored(engine: &JobEngine, item: ShardingItem) -> Option<i64> {
    let last = engine.fires.calendar.last().filter(|_| !engine.configuration.is_monitored())?;
    engine.misfire_of(item).ok().flatten().filter(|missed| *missed < last)
}

/// Makes a missed fire the open one, once nothing of the job runs here and the items are free.
pub(super) fn open(engine: &mut JobEngine, now: Now) {
    if engine.fires.open.as_ref().is_some_and(|open| !open.looked) {
        return;
    }
    let Some(at) = to_make_up(engine) else { return };
    if !engine.configuration.is_monitored() {
        engine.fires.missed = None;
    }
    engine.open_instead(OpenFire::new(Fire::Scheduled(at), ExecutionSource::Misfire, now.mono));
}

/// The missed fire that may be made up for now.
pub(super) fn to_make_up(engine: &JobEngine) -> Option<i64> {
    let configuration = engine.configuration.in_force.as_deref().filter(|configuration| configuration.misfire())?;
    if engine.runs.regular().is_some() || engine.planted.has(Bug::ForgottenMisfire) {
        return None;
    }
    let at = if engine.configuration.is_monitored() {
        let (mine, _) = engine.own_items(configuration.sharding_total_count()).ok()?;
        mine.into_iter()
            .filter(|item| engine.is_to_make_up(*item))
            .filter_map(|item| Some((item, engine.misfire_of(item).ok()??)))
            // To open it would decide nothing.
            .filter(|(item, at)| !matches!(engine.is_from_before(*item, *at), Ok(Some(_))))
            .map(|(_, at)| at)
            .max()
    } else {
        engine.fires.missed.map(Missed::at)
    };
    // Items that moved here while a later fire is open are begun for that one, which makes up for the earlier ones too.
    let is_later = |open: &OpenFire, at| matches!(open.key.fire, Fire::Scheduled(later) if later > at);
    at.filter(|at| !engine.fires.open.as_deref().is_some_and(|open| is_later(open, *at)))
}

impl JobEngine {
    /// The registry knows which fires the items missed.
    pub(in crate::engine) fn on_marked(&mut self, items: Vec<(ShardingItem, i64)>) {
        for (item, at) in items {
            if self.fires.missed_items.get(&item) == Some(&at) {
                self.fires.missed_items.remove(&item);
            }
        }
    }

    /// Missed fires of disabled items were decided against.
    pub(in crate::engine) fn on_missed_declined(&mut self, declined: Vec<(ShardingItem, i64)>) {
        let mut fires: BTreeMap<i64, Vec<ShardingItem>> = BTreeMap::new();
        for (item, at) in declined {
            self.fires.missed_items.remove(&item);
            fires.entry(at).or_default().push(item);
        }
        for (at, items) in fires {
            self.tell_skip(Fire::Scheduled(at), items, SkipReason::ItemDisabled);
        }
    }

    /// The mark of these missed fires is deleted, as a later fire has taken their place.
    pub(in crate::engine) fn on_missed_collapsed(&mut self, collapsed: BTreeSet<i64>) {
        if let Some(last) = self.fires.calendar.last() {
            self.tell_collapsed_into(&collapsed, last);
        }
    }

    fn tell_collapsed_into(&mut self, earlier: &BTreeSet<i64>, into: i64) {
        for earlier in earlier {
            self.tell(Notice::Collapsed { earlier: *earlier, into });
            self.fires.over += 1;
        }
    }

    /// The answer is lost: the records show whether the missed fires were decided against.
    pub(in crate::engine) fn on_missed_declined_unknown(&mut self, declined: Vec<(ShardingItem, i64)>) {
        self.fires.declined_unknown.extend(declined);
    }

    /// Reports what was decided against by a transaction whose answer was lost. What did not go through is decided again.
    fn resolve_declined(&mut self) {
        for (item, at) in std::mem::take(&mut self.fires.declined_unknown) {
            match self.record_of(item) {
                // A later fire, or this one, was begun since or decided against.
                Ok(record) if record.through != Some(at) || record.last_fire() == Some(Fire::Scheduled(at)) => {}
                Ok(_) => self.on_missed_declined(vec![(item, at)]),
                Err(Unread) => self.fires.declined_unknown.push((item, at)),
            }
        }
    }

    /// Whether an item has a missed fire to be made up for now.
    pub(super) fn is_to_make_up(&self, item: ShardingItem) -> bool {
        let is_marked = self.mirror.exists(&JobPath::Item(item, ItemNode::Misfire));
        let missed = is_marked || self.fires.missed_items.contains_key(&item);
        missed
            && !self.mirror.is_item_disabled(item)
            && !self.is_missed_fire_held(item)
            && (self.is_free(item) || self.planted.has(Bug::CirclingMisfire))
    }

    /// Whether an item is not released yet for the fire that it missed.
    fn is_missed_fire_held(&self, item: ShardingItem) -> bool {
        self.follows_items()
            && self
                .misfire_of(item)
                .ok()
                .flatten()
                .is_some_and(|at| self.release(Fire::Scheduled(at), item) == Release::Held)
    }

    /// Whether nothing else of an item comes first, here or elsewhere. Where something does, its end is an event, and the
    /// missed fire is looked at again then; to open it before would decide nothing.
    fn is_free(&self, item: ShardingItem) -> bool {
        let exists = |node| self.mirror.exists(&JobPath::Item(item, node));
        // A run that was cut off before is taken over first: making up for a later fire would take its place.
        let is_taken_over = self.mirror.exists(&JobPath::FailoverItem(item)) || exists(ItemNode::Failover);
        if exists(ItemNode::Running) || (self.configuration.is_failover_on() && is_taken_over) {
            return false;
        }
        // A Java peer may have taken the mark of the run away.
        let runs_elsewhere = |record: FireRecord| self.runs_elsewhere(&record).is_some();
        self.runs.item(item).is_none() && self.record_of(item).is_ok_and(|record| !runs_elsewhere(record))
    }

    /// The fire that an item missed, if it is a part of that fire, and was not begun for it or a later one. A Java peer
    /// shows only that there is a missed fire: then it is the last fire.
    pub(super) fn misfire_of(&self, item: ShardingItem) -> Result<Option<i64>, Unread> {
        let record = self.record_of(item)?;
        let here = self.fires.missed_items.get(&item).copied();
        // A Java peer does not write which fire was missed.
        let of_java = self.fires.calendar.last().filter(|_| record.missed.is_none());
        let missed = record.to_make_up().max(here).or(of_java);
        Ok(missed.filter(|at| !record.covers(Fire::Scheduled(*at)) && is_part(self, item, *at)))
    }
}
