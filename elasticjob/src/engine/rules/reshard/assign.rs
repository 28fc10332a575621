//! The transaction of a resharding.

use std::collections::{BTreeMap, BTreeSet};

use super::Request;
use super::high_water_mark::Floor;
use super::item_states::Survey;
use crate::engine::engine::JobEngine;
use crate::engine::planted::Bug;
use crate::engine::state::leadership::Basis;
use crate::engine::state::proposal::{Proposal, Purpose, Sharding};
use crate::engine::txn::JobTransaction;
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::CreateMode;
use crate::registry::layout::JobPath;
use crate::registry::mirror::Unread;
use crate::sharding;
use crate::sharding::{AVG_ALLOCATION, SINGLE_SHARDING_BALANCE, StrategyFault};

/// What the assignment has come to.
pub(super) struct Assigned {
    pub(super) proposal: Proposal,
    /// The fault in the answer of the strategy, if it was asked and there is one.
    pub(super) fault: Option<StrategyFault>,
}

/// One transaction that assigns every item and takes the request back. Where that is too much for one transaction,
/// several ones follow each other: each checks that this instance leads and that the request is the same, and only the
/// last one takes the request back. Until then fires wait, and whichever instance leads next assigns what is left.
pub(super) fn assign(
    engine: &JobEngine,
    basis: Basis,
    survey: &Survey<'_>,
    moves_on: bool,
    last_pinned: &BTreeSet<ShardingItem>,
    request: Request,
) -> Result<Assigned, Unread> {
    let monitored = engine.configuration.is_monitored();
    let (kept, surplus): (Vec<ShardingItem>, Vec<ShardingItem>) =
        engine.mirror.items().partition(|item| *item < basis.total);
    let (removed, surplus_busy): (Vec<ShardingItem>, Vec<ShardingItem>) = surplus
        .into_iter()
        .filter(|item| !engine.link.is_item_obstructed(*item))
        .partition(|item| !survey.busy.contains(item));
    // It is only read when the number of items changes.
    let floor = match removed.is_empty() && kept.len() == basis.total as usize {
        true => Floor::default(),
        false => Floor::of(engine, &removed)?,
    };
    let in_part = engine.leadership.term.as_ref().and_then(|term| term.in_part.as_deref());
    let (wanted, fault) = match in_part.filter(|in_part| in_part.basis == basis) {
        Some(in_part) => (in_part.wanted.clone(), None),
        None => ask(engine, &basis, survey.owner(0), moves_on),
    };
    let mut moved = Vec::new();
    let mut left = BTreeSet::new();
    let mut pinned = BTreeSet::from_iter(surplus_busy);
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    txn.check(&JobPath::LeaderInstance);
    if let Some(note) = engine.first_note() {
        txn.create(&JobPath::Sharding, note, CreateMode::Persistent);
    }
    let (mut is_whole, available) = (true, basis.available());
    for item in 0..basis.total {
        if txn.is_full() {
            is_whole = false;
            break;
        }
        let (owner, wanted) = (survey.owner(item), wanted.get(&item).map(InstanceId::as_str));
        let path = JobPath::owner_of(item);
        if owner != wanted {
            // A busy item whose owner is not available moves: it was taken over and runs elsewhere, and fires need an
            // owner meanwhile.
            let stays = survey.stays(item, last_pinned.contains(&item));
            if stays && owner.is_some_and(|owner| available.contains(owner)) {
                pinned.insert(item);
            } else {
                let from = owner.and_then(|owner| basis.instances.iter().find(|id| id.as_str() == owner));
                if let Some(from) = from.filter(|from| left.insert(*from)) {
                    txn.reserve_check_missing(&JobPath::Trigger(from.clone()));
                }
                moved.push(format!("{item}: {} -> {}", owner.unwrap_or("no owner"), wanted.unwrap_or("no owner")));
                match wanted {
                    Some(id) if engine.mirror.exists(&path) => {
                        txn.set(&path, id, None);
                    }
                    Some(id) => {
                        txn.create(&path, id, CreateMode::Persistent);
                    }
                    None => txn.delete_existing(&path),
                }
            }
        }
        if monitored && !engine.mirror.exists(&JobPath::fire(item)) {
            txn.create(&JobPath::fire(item), floor.record(), CreateMode::Persistent);
        }
    }
    guard_triggers(engine, &mut txn, left);
    for item in removed {
        if txn.is_full() {
            is_whole = false;
            break;
        }
        moved.push(format!("{item}: removed"));
        for path in engine.mirror.item_tree(item) {
            // An instance may begin it at this moment.
            let version = (path == JobPath::fire(item)).then(|| floor.versions.get(&item).copied()).flatten();
            txn.delete(&path, version);
        }
    }
    if let Some(version) = floor.raised {
        txn.set(&JobPath::Sharding, floor.data(), Some(version));
    }
    match request {
        Request::Waits { version } if is_whole => {
            txn.delete(&JobPath::Necessary, Some(version));
        }
        Request::Waits { version } => {
            txn.check_version(&JobPath::Necessary, version);
        }
        // Created and deleted in one transaction: this is the guard that there is no request.
        Request::None if is_whole => {
            txn.create(&JobPath::Necessary, "", CreateMode::Persistent);
            txn.delete(&JobPath::Necessary, None);
        }
        // Fires have to wait between the transactions.
        Request::None => {
            let proposal = super::ask_for_resharding(engine, "the items move on to the next instance".to_owned());
            return Ok(Assigned { proposal, fault });
        }
    }
    if is_whole {
        txn.delete_existing(&JobPath::Processing);
    }
    let rest = (!is_whole).then_some(wanted);
    let purpose = Purpose::Reshard(Sharding { basis, pinned, moved, rest });
    Ok(Assigned { proposal: Proposal { transaction: txn.build(), purpose }, fault })
}

/// Guards that no trigger came meanwhile for the instances that items are taken from.
fn guard_triggers(engine: &JobEngine, txn: &mut JobTransaction<'_>, left: BTreeSet<&InstanceId>) {
    if left.is_empty() || engine.planted.has(Bug::OutrunTrigger) {
        return;
    }
    if !engine.mirror.exists(&JobPath::Triggers) {
        txn.check_missing(&JobPath::Triggers);
        return;
    }
    for id in left {
        txn.check_missing(&JobPath::Trigger(id.clone()));
    }
}

/// Asks the strategy which instance shall own each item. Also returns the fault in its answer, if there is one.
fn ask(
    engine: &JobEngine,
    basis: &Basis,
    owner: Option<&str>,
    moves_on: bool,
) -> (BTreeMap<ShardingItem, InstanceId>, Option<StrategyFault>) {
    let (job, total) = (&engine.job, basis.total);
    let instances = match basis.strategy.as_str() {
        SINGLE_SHARDING_BALANCE => &sharding::in_turn(job, &basis.instances, owner, moves_on),
        _ => &basis.instances,
    };
    let by = |name| {
        let strategy =
            engine.configuration.strategies.get(name).expect("a configuration in force names a strategy that there is");
        sharding::assign_checked(strategy.as_ref(), job, instances, total)
    };
    match by(&basis.strategy) {
        Ok(owners) => (owners, None),
        Err(fault) => (by(AVG_ALLOCATION).expect("it assigns every item to a given instance"), Some(fault)),
    }
}
