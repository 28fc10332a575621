//! Beginning the items of a fire.

use std::collections::BTreeSet;

use super::{Step, Unresolved};
use crate::engine::engine::{JobEngine, Phase, Proposal, Purpose};
use crate::engine::event::Now;
use crate::engine::fire::{Attempt, Fire, FireRecord};
use crate::engine::notice::{Notice, SkipReason};
use crate::engine::planted::Bug;
use crate::engine::run::{BEGIN_TRIES, OpenFire};
use crate::engine::txn::JobTransaction;
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::mirror::Lookup;
use crate::registry::path::{ItemNode, JobPath};
use crate::registry::{CreateMode, Transaction, Zxid};

/// What a begin in flight will have begun.
#[derive(Debug, Clone)]
pub(in crate::engine) struct BeginPlan {
    pub(in crate::engine) fire: Fire,
    /// `None` when execution is not monitored.
    pub(in crate::engine) attempt: Option<Attempt>,
    pub(in crate::engine) items: Vec<ShardingItem>,
}

/// What is to be done with an item of an open fire.
enum Verdict {
    Begin,
    Skip(SkipReason),
}

/// Begins the items of the open fire that this instance owns: one transaction for all of them, none when execution is
/// not monitored.
pub(super) fn begin(engine: &mut JobEngine, now: Now) -> Step {
    if engine.phase != Phase::Active || !engine.is_registered() || engine.unresolved.is_some() {
        return Step::Pass;
    }
    open_manual(engine, now);
    let Some(configuration) = engine.configuration.clone() else { return Step::Pass };
    let Some(open) = &engine.open else { return Step::Pass };
    let fire = open.fire;
    // The run of another fire is still being finished.
    if engine.run.as_ref().is_some_and(|run| run.fire != fire) {
        return Step::Pass;
    }
    match engine.is_server_enabled() {
        None => return Step::Pass,
        Some(true) => {}
        Some(false) => return decline(engine, SkipReason::ServerDisabled),
    }
    let Some((mine, settled)) = engine.own_items(configuration.sharding_total_count()) else { return Step::Pass };
    engine.note_assignment(now, settled, !mine.is_empty());
    if !settled && engine.may_wait_for_assignment(now) {
        return Step::Pass;
    }
    if !configuration.monitor_execution() {
        return begin_unmonitored(engine, now, fire, mine);
    }
    let Some(verdicts) = judge_all(engine, &mine) else { return Step::Pass };
    let mut items = Vec::new();
    for (item, verdict) in verdicts {
        match verdict {
            Verdict::Begin => items.push(item),
            Verdict::Skip(reason) => drop_item(engine, item, reason),
        }
    }
    if items.is_empty() {
        return match fire {
            Fire::Manual { .. } if takes_trigger(engine) => Step::Write(take_trigger(engine, fire, vec![])),
            _ => {
                engine.looked_at();
                Step::Pass
            }
        };
    }
    let attempt = engine.next_attempt();
    let transaction = begin_transaction(engine, fire, &attempt, &items);
    Step::Write(Proposal { transaction, purpose: Purpose::Begin(BeginPlan { fire, attempt: Some(attempt), items }) })
}

/// Makes a waiting manual trigger the open fire, when no other is under way.
fn open_manual(engine: &mut JobEngine, now: Now) {
    let busy = engine.run.is_some() || engine.open.as_ref().is_some_and(|open| !open.looked);
    if busy {
        return;
    }
    if let Lookup::Known(known) = engine.look(&engine.own_trigger()) {
        let fire = Fire::Manual { trigger: known.czxid, at: known.ctime };
        engine.open = Some(OpenFire::new(fire, now.mono));
    }
}

/// The whole fire is not run here.
fn decline(engine: &mut JobEngine, reason: SkipReason) -> Step {
    let Some(open) = engine.open.take() else { return Step::Pass };
    if !open.looked {
        engine.skip_fire(open.fire, reason);
    }
    match open.fire {
        Fire::Manual { .. } if !open.looked && engine.mirror.exists(&engine.own_trigger()) => {
            Step::Write(take_trigger(engine, open.fire, vec![]))
        }
        _ => Step::Pass,
    }
}

/// Whether beginning the open fire takes the own trigger: at its first begin, where it is still there. It is gone when
/// the answer to an earlier begin got lost, or when a Java peer made room for its own triggers; the fire goes on without
/// it. A trigger that is there later, or was created by another transaction, is another one.
fn takes_trigger(engine: &JobEngine) -> bool {
    let Some(open) = engine.open.as_ref().filter(|open| !open.looked) else { return false };
    match (open.fire, engine.mirror.lookup(&engine.own_trigger())) {
        (Fire::Manual { trigger, .. }, Lookup::Known(known)) => known.czxid == trigger,
        (Fire::Manual { .. }, Lookup::Unread) => true,
        _ => false,
    }
}

/// Takes the own trigger without marking anything; these items are started then.
fn take_trigger(engine: &JobEngine, fire: Fire, items: Vec<ShardingItem>) -> Proposal {
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    txn.delete(&engine.own_trigger(), None);
    let plan = BeginPlan { fire, attempt: None, items };
    Proposal { transaction: txn.build(), purpose: Purpose::Begin(plan) }
}

/// Without monitoring the registry is not asked, so the session has to be proven before. Without a record nobody could
/// tell what was begun before, so items acquired later are not looked at.
fn begin_unmonitored(engine: &mut JobEngine, now: Now, fire: Fire, mine: Vec<ShardingItem>) -> Step {
    if engine.open.as_ref().is_some_and(|open| open.looked) {
        engine.open = None;
        return Step::Pass;
    }
    if !engine.session.is_proven(now.mono) {
        engine.prove();
        return Step::Pass;
    }
    let (disabled, items): (Vec<_>, Vec<_>) =
        mine.into_iter().partition(|item| engine.mirror.exists(&JobPath::Item(*item, ItemNode::Disabled)));
    for item in disabled {
        drop_item(engine, item, SkipReason::ItemDisabled);
    }
    // Only this instance takes its trigger: once it is gone and nothing was started, that is still to be done.
    if takes_trigger(engine) {
        return Step::Write(take_trigger(engine, fire, items));
    }
    let items: Vec<_> = items.into_iter().map(|item| (item, None)).collect();
    if !items.is_empty() {
        engine.start_items(fire, None, items);
    }
    engine.looked_at();
    engine.open = None;
    Step::Pass
}

/// Decides on every item of this instance that is not decided yet; `None` while data are missing.
fn judge_all(engine: &JobEngine, mine: &[ShardingItem]) -> Option<Vec<(ShardingItem, Verdict)>> {
    let open = engine.open.as_ref()?;
    let undecided = mine.iter().filter(|item| !open.begun.contains(item) && !open.dropped.contains(item));
    let verdicts: Vec<_> = undecided.map(|item| judge(engine, open, *item).map(|verdict| (*item, verdict))).collect();
    verdicts.into_iter().collect()
}

fn judge(engine: &JobEngine, open: &OpenFire, item: ShardingItem) -> Option<Verdict> {
    if engine.mirror.exists(&JobPath::Item(item, ItemNode::Disabled)) {
        return Some(Verdict::Skip(SkipReason::ItemDisabled));
    }
    if open.refusals.get(&item).is_some_and(|times| *times >= BEGIN_TRIES) {
        return Some(Verdict::Skip(SkipReason::Refused));
    }
    let record = match engine.look(&JobPath::fire(item)) {
        Lookup::Missing => FireRecord::empty(),
        Lookup::Known(known) => FireRecord::parse(&known.data),
        // Both are needed: ask for both at once.
        Lookup::Unread => {
            engine.look(&JobPath::running(item));
            return None;
        }
    };
    let abandoned = open.abandoned.as_ref().is_some_and(|attempt| record.is_attempt(attempt));
    if !abandoned && record.covers(open.fire) && !engine.planted.has(Bug::LookThenOverwrite) {
        return Some(Verdict::Skip(SkipReason::AlreadyBegun { by: record.last.map(|begun| begun.instance) }));
    }
    match engine.look(&JobPath::running(item)) {
        Lookup::Missing => Some(Verdict::Begin),
        Lookup::Unread => None,
        // Left over by an earlier session, or by a begin of this one that was never started.
        Lookup::Known(known) if known.owner.is_some_and(|owner| engine.membership.own_sessions.contains(&owner)) => {
            Some(Verdict::Begin)
        }
        Lookup::Known(_) if engine.planted.has(Bug::LookThenOverwrite) || engine.planted.has(Bug::StolenMark) => {
            Some(Verdict::Begin)
        }
        Lookup::Known(known) => {
            let by: Option<InstanceId> = known.text().and_then(|text| text.parse().ok());
            Some(Verdict::Skip(SkipReason::RunsElsewhere { by }))
        }
    }
}

fn drop_item(engine: &mut JobEngine, item: ShardingItem, reason: SkipReason) {
    let Some(open) = &mut engine.open else { return };
    if open.dropped.insert(item) {
        let fire = open.fire;
        engine.tell(Notice::Skipped { fire, items: vec![item], reason });
    }
}

fn begin_transaction(engine: &JobEngine, fire: Fire, attempt: &Attempt, items: &[ShardingItem]) -> Transaction {
    let unguarded = engine.planted.has(Bug::LookThenOverwrite);
    let me = &engine.identity.instance;
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    if takes_trigger(engine) {
        txn.delete(&engine.own_trigger(), None);
    }
    for item in items {
        let path = JobPath::fire(*item);
        let record = |data: &[u8]| FireRecord::parse(data).begin(fire, me.clone(), attempt.clone()).to_bytes();
        match engine.mirror.lookup(&path) {
            Lookup::Known(known) => {
                txn.set(&path, record(&known.data), (!unguarded).then_some(known.version));
            }
            // A Java leader does not make this node. Created and set: only a set tells the id of the transaction.
            _ => {
                txn.create(&path, "", CreateMode::Persistent);
                txn.set(&path, record(b""), Some(0));
            }
        }
        txn.replace(&JobPath::running(*item), me.as_str(), CreateMode::Ephemeral);
    }
    txn.build()
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
        if !in_live_session || !self.session.is_proven(now.mono) {
            // Begun in the registry, not started here: once the session is proven again it is adopted or begun anew.
            self.on_begin_unresolved(plan);
            return;
        }
        if !plan.items.is_empty() {
            let items = plan.items.iter().map(|item| (*item, token.filter(|_| plan.attempt.is_some()))).collect();
            self.start_items(plan.fire, plan.attempt.as_ref(), items);
        }
        self.looked_at();
    }

    /// Whether the begin went through is not known, or it came too late to start anything.
    pub(in crate::engine) fn on_begin_unresolved(&mut self, plan: BeginPlan) {
        if self.planted.has(Bug::BlindRetry) {
            return;
        }
        if let Some(attempt) = plan.attempt {
            self.unresolved = Some(Unresolved { fire: plan.fire, attempt, items: plan.items });
        }
    }

    /// The registry refused a begin because of these items, or of something else when there are none.
    pub(in crate::engine) fn on_begin_refused(&mut self, plan: &BeginPlan, item: Option<ShardingItem>) {
        let Some(open) = self.open.as_mut().filter(|open| open.fire == plan.fire) else { return };
        let refused: BTreeSet<ShardingItem> = match item {
            Some(item) => BTreeSet::from([item]),
            None => plan.items.iter().copied().collect(),
        };
        for item in refused {
            *open.refusals.entry(item).or_default() += 1;
        }
    }
}
