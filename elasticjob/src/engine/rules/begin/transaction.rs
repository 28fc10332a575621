//! Writes the transactions that begin the items of a fire, take its trigger, and refuse items.

use crate::engine::engine::JobEngine;
use crate::engine::planted::Bug;
use crate::engine::state::proposal::{BeginPlan, Proposal, Purpose};
use crate::engine::txn::JobTransaction;
use crate::fire::{Attempt, ExecutionSource, Fire, FireRecord, RunKey};
use crate::ident::ShardingItem;
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::mirror::{Lookup, Unread};
use crate::registry::{CreateMode, Transaction};

/// Whether the begin of the open fire takes the own trigger: the first begin does, or the last of several that begin its
/// items together, where the trigger is still there. It is gone when the answer to an earlier begin got lost, or when a
/// Java peer made room for its own triggers; the fire goes on without it. A trigger that is there later, or was created by
/// another transaction, is another one.
pub(super) fn takes_trigger(engine: &JobEngine) -> Result<bool, Unread> {
    let Some(open) = engine.fires.open.as_ref().filter(|open| !open.looked) else { return Ok(false) };
    let Fire::Manual { trigger, .. } = open.key.fire else { return Ok(false) };
    Ok(engine.mirror.need(&engine.own_trigger())?.is_some_and(|known| known.czxid == trigger))
}

/// Takes the own trigger without marking anything; these items are started then.
pub(super) fn take_trigger(engine: &JobEngine, fire: Fire, items: Vec<ShardingItem>) -> Proposal {
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    txn.delete(&engine.own_trigger(), None);
    let source = ExecutionSource::NormalTrigger;
    let plan = BeginPlan { key: RunKey::new(fire, source), attempt: None, items, from: None, is_whole: true };
    Proposal { transaction: txn.build(), purpose: Purpose::Begin(plan) }
}

/// The transaction that begins items. Where they are too many for one transaction, `items` keeps those that it begins, and
/// the others follow: until the last ones are begun, the trigger stays, so that no item of it is forgotten when the
/// instance ends in between.
pub(super) fn begin_transaction(
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
pub(super) fn refuse_items(engine: &JobEngine, txn: &mut JobTransaction<'_>) {
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
pub(in crate::engine::rules) fn begin_item(
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
