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

/// One transaction that assigns every item and takes the request back.
pub(super) fn assign(
    engine: &JobEngine,
    basis: Basis,
    survey: &Survey<'_>,
    moves_on: bool,
    last_pinned: &BTreeSet<ShardingItem>,
    request: Request,
) -> Result<(Proposal, Option<StrategyFault>), Unread> {
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
    let (wanted, fault) = ask(engine, &basis, survey.owner(0), moves_on);
    let mut moved = Vec::new();
    let mut left = BTreeSet::new();
    let mut pinned = BTreeSet::from_iter(surplus_busy);
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    txn.check(&JobPath::LeaderInstance);
    if let Some(note) = engine.first_note() {
        txn.create(&JobPath::Sharding, note, CreateMode::Persistent);
    }
    for item in 0..basis.total {
        let (owner, wanted) = (survey.owner(item), wanted.get(&item).map(InstanceId::as_str));
        let path = JobPath::owner_of(item);
        if owner != wanted {
            // A busy item whose owner is not available moves: it was taken over and runs elsewhere, and fires need an
            // owner meanwhile.
            let stays = survey.stays(item, last_pinned.contains(&item));
            if stays && owner.is_some_and(|owner| basis.is_available(owner)) {
                pinned.insert(item);
            } else {
                left.extend(owner.and_then(|owner| basis.instances.iter().find(|id| id.as_str() == owner)));
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
        // The other items are still beyond the total count: the next reshardings remove them.
        if txn.is_full() {
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
        Request::Waits { version } => txn.delete(&JobPath::Necessary, Some(version)),
        // Created and deleted in one transaction: this is the guard that there is no request.
        Request::None => {
            txn.create(&JobPath::Necessary, "", CreateMode::Persistent);
            txn.delete(&JobPath::Necessary, None)
        }
    };
    txn.delete_existing(&JobPath::Processing);
    let purpose = Purpose::Reshard(Sharding { basis, pinned, moved });
    Ok((Proposal { transaction: txn.build(), purpose }, fault))
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
