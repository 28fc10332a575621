//! Beginning the items of a fire.

use std::collections::{BTreeMap, BTreeSet};

use super::{Step, misfire};
use crate::clock::Now;
use crate::engine::dependencies::Release;
use crate::engine::engine::JobEngine;
use crate::engine::late::{GivesUp, lateness};
use crate::engine::notice::Notice;
use crate::engine::planted::{Bug, DEAF};
use crate::engine::state::fires::Unresolved;
use crate::engine::state::membership::Phase;
use crate::engine::state::open_fire::{BEGIN_TRIES, LATE_ACQUISITION, OpenFire};
use crate::engine::state::proposal::{BeginPlan, Proposal, Purpose};
use crate::engine::state::runs::{BegunItem, Run};
use crate::engine::txn::JobTransaction;
use crate::fire::{Attempt, ExecutionSource, Fire, FireRecord, RunKey, SkipReason};
use crate::ident::ShardingItem;
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::mirror::{Lookup, Unread, read_all};
use crate::registry::{CreateMode, Transaction, Zxid};

/// Fires that are decided further ahead than this, in milliseconds, were decided by another clock.
const CLOCKS_DIFFER: i64 = 60_000;

/// The decision on an item of an open fire.
enum Verdict {
    Begin,
    Skip(SkipReason),
    /// The fire does not concern this item, or there is nothing to report.
    Pass,
    /// Another run of the item comes first: with misfire on this fire is made up for.
    Busy(SkipReason),
    /// What the item follows has not ended.
    Hold,
}

/// Begins the items of the open fire that this instance owns: one transaction for all of them, several where they are too
/// many for one, none when execution is not monitored.
///
/// A manual trigger that came meanwhile is the next.
pub(super) fn begin(engine: &mut JobEngine, now: Now) -> Result<Step, Unread> {
    let is_looking = |engine: &JobEngine| engine.fires.open.as_ref().is_some_and(|open| !open.looked);
    let looks = is_looking(engine);
    let step = begin_open(engine, now)?;
    // No event may follow a fire of which nothing is to run here: the trigger would wait for the next one, and for ever
    // where each fire finds it so.
    let waits = || looks && !is_looking(engine) && engine.mirror.exists(&engine.own_trigger());
    Ok(match step {
        Step::Pass if waits() => Step::Again,
        step => step,
    })
}

/// Looks at the open fire, and begins what is to begin of it.
fn begin_open(engine: &mut JobEngine, now: Now) -> Result<Step, Unread> {
    if engine.phase != Phase::Active || !engine.is_registered() || engine.fires.unresolved.is_some() {
        return Ok(Step::Pass);
    }
    engine.decide_held_up(now);
    engine.fires.open.iter_mut().for_each(|open| open.rest_follows = false);
    // The trigger goes first: otherwise a job that always overruns would never come to it.
    if !open_manual(engine, now) {
        misfire::open(engine, now);
    }
    let Some(configuration) = engine.configuration.in_force.clone() else { return Ok(Step::Pass) };
    if engine.planted.has(Bug::DeafBesideJava) && now.mono.as_secs() % 8 < 4 && engine.has_java_peers()? {
        engine.fires.open = None;
    }
    if engine.planted.is_deaf(now.mono) {
        engine.fires.open = None;
    }
    let Some(open) = &engine.fires.open else { return Ok(Step::Pass) };
    let (key, is_first) = (open.key, !open.looked);
    let RunKey { fire, source } = key;
    // The run of another fire is still being finished, or the listeners after this one are being called.
    let is_of_fire = |run: &Run| run.key == key && run.takes_items();
    if engine.runs.regular().is_some_and(|run| !is_of_fire(run)) {
        return Ok(Step::Pass);
    }
    if !engine.is_server_enabled()? {
        // A process that stood still does not know what the operator did meanwhile.
        if is_first && !engine.session.is_proven(now) {
            engine.prove();
            return Ok(Step::Pass);
        }
        engine.planted.deafen(Bug::DeafAfterEnabling, now.mono + DEAF);
        return decline(engine, now, configuration.sharding_total_count(), SkipReason::ServerDisabled);
    }
    let (mine, settled) = engine.own_items(configuration.sharding_total_count())?;
    if engine.planted.has(Bug::DroppedBesideRuns) && engine.runs_beside(&mine) {
        engine.fires.open = None;
        return Ok(Step::Pass);
    }
    engine.note_assignment(now, settled, !mine.is_empty());
    if !settled && engine.may_wait_for_assignment(now)? {
        return Ok(Step::Pass);
    }
    if engine.fires.own_items_seen != mine {
        engine.fires.own_items_seen.clone_from(&mine);
        // A run may have waited for items that are not here any more.
        if engine.follows_items() {
            engine.close_runs(now);
        }
    }
    if !engine.configuration.is_monitored() {
        return begin_unmonitored(engine, now, key, mine);
    }
    if engine.fires.open.as_ref().is_some_and(|open| open.looked) {
        engine.tell_items_of_the_gone();
    }
    let mut verdicts = judge_all(engine, now, &mine)?;
    let is_due = |(item, verdict): &(ShardingItem, Verdict)| {
        matches!(verdict, Verdict::Begin | Verdict::Busy(_)).then_some(*item)
    };
    let mut due: Vec<_> = verdicts.iter().filter_map(is_due).collect();
    // A record that is written by a wrong clock covers fires that have not come, and what it notes as missed does not count.
    if let Some(open) = engine.fires.open.as_deref().filter(|open| open.is_regular() && !due.is_empty()) {
        if engine.suspects_clock(now, open.since) {
            return Ok(Step::Write(engine.ask_server_time()));
        }
        if let Some(difference) = engine.check_clock(now) {
            verdicts.retain(|verdict| is_due(verdict).is_none());
            let skipped = std::mem::take(&mut due);
            engine.fires.open.iter_mut().for_each(|open| open.dropped.extend(&skipped));
            engine.tell_skip(fire, skipped, SkipReason::ClockOff { difference });
        }
    }
    if configuration.misfire() {
        misfire::tell_collapsed(engine, fire, &due);
    }
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
                    && configuration.misfire()
                {
                    // A later fire may have come while this one was being made up for.
                    let missed = engine.fires.missed_items.entry(item).or_insert(at);
                    *missed = (*missed).max(at);
                }
                drop_item(engine, item, reason);
            }
        }
    }
    if items.is_empty() {
        let mut refusal = JobTransaction::new(&engine.job, &engine.mirror);
        refuse_items(engine, &mut refusal);
        let refusal = refusal.build();
        if !refusal.is_empty() {
            return Ok(Step::Write(Proposal { transaction: refusal, purpose: Purpose::Skip }));
        }
        return match fire {
            Fire::Manual { .. } if takes_trigger(engine)? => Ok(Step::Write(take_trigger(engine, fire, vec![]))),
            _ => {
                if !engine.holds_own_items(key) {
                    engine.tell_nothing_to_run();
                }
                engine.looked_at(now);
                Ok(match misfire::mark(engine, now)? {
                    Step::Pass if engine.alternate(now, &mine) => Step::Again,
                    step => step,
                })
            }
        };
    }
    if source == ExecutionSource::NormalTrigger {
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

/// Whether the begin of the open fire takes the own trigger: the first begin does, or the last of several that begin its
/// items together, where the trigger is still there. It is gone when the answer to an earlier begin got lost, or when a
/// Java peer made room for its own triggers; the fire goes on without it. A trigger that is there later, or was created by
/// another transaction, is another one.
fn takes_trigger(engine: &JobEngine) -> Result<bool, Unread> {
    let Some(open) = engine.fires.open.as_ref().filter(|open| !open.looked) else { return Ok(false) };
    let Fire::Manual { trigger, .. } = open.key.fire else { return Ok(false) };
    Ok(engine.mirror.need(&engine.own_trigger())?.is_some_and(|known| known.czxid == trigger))
}

/// Takes the own trigger without marking anything; these items are started then.
fn take_trigger(engine: &JobEngine, fire: Fire, items: Vec<ShardingItem>) -> Proposal {
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    txn.delete(&engine.own_trigger(), None);
    let source = ExecutionSource::NormalTrigger;
    let plan = BeginPlan { key: RunKey::new(fire, source), attempt: None, items, from: None, is_whole: true };
    Proposal { transaction: txn.build(), purpose: Purpose::Begin(plan) }
}

/// Without monitoring the registry is not asked, so the session has to be proven before. Without a record no instance
/// could know what was begun before, so the engine does not look at items acquired later.
fn begin_unmonitored(engine: &mut JobEngine, now: Now, key: RunKey, mine: Vec<ShardingItem>) -> Result<Step, Unread> {
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
    let (disabled, items): (Vec<_>, Vec<_>) =
        mine.into_iter().partition(|item| engine.mirror.exists(&JobPath::Item(*item, ItemNode::Disabled)));
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

/// Decides on every item of this instance that is not decided yet.
fn judge_all(engine: &JobEngine, now: Now, mine: &[ShardingItem]) -> Result<Vec<(ShardingItem, Verdict)>, Unread> {
    let Some(open) = engine.fires.open.as_ref() else { return Ok(Vec::new()) };
    let meant = |item: &&ShardingItem| open.key.source != ExecutionSource::Misfire || engine.is_to_make_up(**item);
    let undecided = mine.iter().filter(|item| !open.begun.contains(item) && !open.dropped.contains(item));
    let undecided = undecided.filter(meant);
    read_all(undecided.map(|item| Ok((*item, judge(engine, now, open, *item)?))))
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
    let is_disabled = engine.mirror.exists(&JobPath::Item(item, ItemNode::Disabled));
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

fn drop_item(engine: &mut JobEngine, item: ShardingItem, reason: SkipReason) {
    drop_items(engine, vec![item], reason);
}

fn drop_items(engine: &mut JobEngine, mut items: Vec<ShardingItem>, reason: SkipReason) {
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

/// The transaction that begins items. Where they are too many for one transaction, `items` keeps those that it begins, and
/// the others follow: until the last ones are begun, the trigger stays, so that no item of it is forgotten when the
/// instance ends in between.
fn begin_transaction(
    engine: &JobEngine,
    fire: Fire,
    source: ExecutionSource,
    attempt: &Attempt,
    items: &mut Vec<ShardingItem>,
) -> Result<Transaction, Unread> {
    let takes_trigger = takes_trigger(engine)?;
    let begin = |items: &[ShardingItem], is_last: bool| {
        let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
        match takes_trigger {
            true if is_last => {
                txn.delete(&engine.own_trigger(), None);
            }
            true => {
                txn.check(&engine.own_trigger());
            }
            false => {}
        }
        let mut begun = 0;
        while let Some(item) = items.get(begun)
            && (begun == 0 || !txn.is_full())
        {
            begin_item(engine, &mut txn, *item, fire, source, attempt);
            begun += 1;
        }
        (txn, begun)
    };
    let (mut txn, begun) = begin(items, true);
    if begun < items.len() {
        items.truncate(begun);
        return Ok(begin(items, false).0.build());
    }
    refuse_items(engine, &mut txn);
    Ok(txn.build())
}

/// Writes that the fire is decided against for items that an operator disabled, or whose server was disabled: when they are
/// enabled again they wait for the next fire, whichever instance owns them then. The same for items that follow an item which
/// ended otherwise than they wait for.
fn refuse_items(engine: &JobEngine, txn: &mut JobTransaction<'_>) {
    // A fire that came by a clock far ahead comes again.
    let is_early = |at: i64| engine.seen.is_some_and(|now| engine.is_far_ahead(now, at));
    let Some(open) = engine.fires.open.as_deref().filter(|open| !is_early(open.key.fire.at())) else { return };
    for item in &open.refused {
        let path = JobPath::fire(*item);
        let Ok(Some(known)) = engine.mirror.need(&path) else { continue };
        let record = engine.read_record(known);
        if !record.covers(open.key.fire) && !txn.is_full() {
            txn.set(&path, record.skip(open.key.fire.at()).to_bytes(), Some(known.version));
        }
    }
}

/// Adds the operations that begin an item: they set its record, with the version that was looked at as the guard, and
/// create its mark. With failover the mark outlives the instance, and a node of the session says whether the run lives.
pub(super) fn begin_item(
    engine: &JobEngine,
    txn: &mut JobTransaction<'_>,
    item: ShardingItem,
    fire: Fire,
    source: ExecutionSource,
    attempt: &Attempt,
) {
    let guarded = !engine.planted.has(Bug::LookThenOverwrite) && !engine.planted.has(Bug::UnguardedTakeover);
    let me = &engine.identity.instance;
    let path = JobPath::fire(item);
    // The engine has read the record before it begins the item.
    let before = engine.record_of(item).unwrap_or(FireRecord::empty());
    let now = engine.seen.map_or(fire.at(), |now| now.wall);
    let record = before.begin(now, fire, source, me.clone(), attempt.clone());
    match engine.mirror.lookup(&path) {
        Lookup::Known(known) => {
            txn.set(&path, record.to_bytes(), guarded.then_some(known.version));
        }
        // A Java leader does not create this node. The transaction creates and sets it: only the answer to a set has
        // the id of the transaction.
        _ => {
            txn.create(&path, "", CreateMode::Persistent);
            txn.set(&path, record.to_bytes(), Some(0));
        }
    }
    let mark = JobPath::running(item);
    // A mark of a Java instance that is gone. That instance may be back: it creates its node again whenever its
    // connection comes back.
    if let Lookup::Known(known) = engine.mirror.lookup(&mark)
        && let Some(id) = known.text().filter(|text| known.owner.is_none() && *text != me.as_str())
        && !before.is_marked_by(Some(id))
        && let Ok(id) = id.parse()
    {
        txn.check_missing(&JobPath::Instance(id));
    }
    if engine.configuration.is_failover_on() {
        txn.replace(&mark, me.as_str(), CreateMode::Persistent);
        if let Some(session) = engine.own_session() {
            txn.create_missing(&session, me.as_str(), CreateMode::Ephemeral);
        }
        txn.delete_existing(&JobPath::FailoverItem(item));
    } else {
        txn.replace(&mark, me.as_str(), CreateMode::Ephemeral);
    }
    // A trigger that goes before a missed fire does not make up for it.
    if record.to_make_up().is_none() {
        txn.delete_existing(&JobPath::Item(item, ItemNode::Misfire));
    }
}

impl JobEngine {
    /// The begin went through, unless it is too late to trust it.
    pub(in crate::engine) fn on_begun(
        &mut self,
        now: Now,
        plan: BeginPlan,
        token: Option<Zxid>,
        in_live_session: bool,
    ) {
        let is_recorded = plan.attempt.is_some() && !plan.key.is_takeover();
        if !in_live_session || !self.session.is_proven(now) || (is_recorded && self.needs_server_time(now)) {
            // Begun in the registry, not started here: once the session is proven again, and the server's time is known
            // where the machine was suspended meanwhile, the engine adopts the begin or begins again.
            self.on_begin_unresolved(plan);
            return;
        }
        // Otherwise the other items of the fire follow.
        let is_decided = plan.is_whole && !plan.key.is_takeover();
        if self.is_refused_by_clock(now, &plan) {
            if is_decided {
                self.looked_at(now);
            }
            return;
        }
        if plan.items.is_empty() {
            self.tell_nothing_to_run();
        } else {
            let items = plan.items.iter().map(|item| (*item, token.filter(|_| plan.attempt.is_some()))).collect();
            if plan.key.is_takeover() {
                for item in &plan.items {
                    self.tell(Notice::TakenOver { fire: plan.key.fire, item: *item, from: plan.from.clone() });
                }
            }
            self.start_items(now, plan.key, plan.attempt.as_ref(), items);
        }
        if is_decided {
            self.looked_at(now);
        } else if !plan.is_whole && self.planted.has(Bug::DroppedRest) {
            self.fires.open = None;
        } else if let Some(open) = self.fires.open.as_mut().filter(|open| !plan.is_whole && open.key == plan.key) {
            open.rest_follows = true;
        }
    }

    /// Whether the begin went through is not known, or it came too late to start anything.
    pub(in crate::engine) fn on_begin_unresolved(&mut self, plan: BeginPlan) {
        if self.planted.has(Bug::BlindRetry) {
            return;
        }
        if let Some(attempt) = plan.attempt {
            let unresolved = Unresolved { key: plan.key, attempt, items: plan.items };
            self.fires.unresolved = Some(Box::new(unresolved));
        }
    }

    /// The registry refused a begin because of this node, which may be one of an item.
    pub(in crate::engine) fn on_begin_refused(&mut self, plan: &BeginPlan, path: Option<&JobPath>) {
        let of_open = |open: &&mut OpenFire| open.key == plan.key;
        let Some(open) = self.fires.open.as_deref_mut().filter(of_open) else { return };
        let refused: BTreeSet<ShardingItem> = match path {
            Some(JobPath::Item(item, _)) => BTreeSet::from([*item]),
            _ => plan.items.iter().copied().collect(),
        };
        for item in refused {
            *open.refusals.entry(item).or_default() += 1;
        }
    }
}
