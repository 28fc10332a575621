//! The reasons to assign the items again.

use std::collections::BTreeSet;

use super::item_states::ItemStates;
use crate::config::JobConfiguration;
use crate::engine::engine::JobEngine;
use crate::engine::planted::Bug;
use crate::engine::state::leadership::Basis;
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::layout::JobPath;

/// The reason for a resharding, if there is one.
///
/// With static sharding, instances and servers that come and go are no reason: an item that has an owner keeps it, also
/// an owner that is gone. And the first assignment waits for the first fire, so that instances which start together
/// share the items; otherwise the very first instance would have all of them for good.
pub(super) fn to_assign_again(
    engine: &JobEngine,
    configuration: &JobConfiguration,
    items: &ItemStates<'_>,
    basis: &Basis,
    last: Option<&Basis>,
    pinned: &BTreeSet<ShardingItem>,
) -> Option<String> {
    let is_static = configuration.static_sharding() && !engine.planted.has(Bug::StaticItemsMove);
    if is_static && items.owners.is_empty() && !engine.awaits_items() {
        return None;
    }
    let available = basis.available();
    let owned_well = |item: ShardingItem| {
        let in_place = |owner: &str| is_static || available.contains(owner);
        items.owner(item).map_or(items.busy.contains(&item), in_place)
    };
    if let Some(item) = (0..basis.total).find(|item| !owned_well(*item)) {
        return Some(match items.owner(item) {
            None => format!("item {item} has no owner"),
            Some(owner) => format!("item {item} belongs to {owner}, which is not available"),
        });
    }
    let removable = |item: &ShardingItem| !items.busy.contains(item) && !engine.link.is_item_obstructed(*item);
    if let Some(item) = engine.mirror.items().find(|item| *item >= basis.total && removable(item)) {
        return Some(format!("item {item} is beyond the total count of {}", basis.total));
    }
    if engine.mirror.exists(&JobPath::Processing) {
        return Some("another leader began to assign the items and did not end".to_owned());
    }
    if let Some(item) = pinned.iter().find(|item| !items.busy.contains(item)) {
        return Some(format!("item {item}, which stayed while it was busy, is free"));
    }
    match last {
        // A new leader trusts an assignment in which all instances take part.
        None if is_static => None,
        None => {
            let owners: BTreeSet<&str> = items.owners.values().copied().collect();
            let expected = basis.instances.len().min(basis.total as usize);
            let without = basis.instances.iter().find(|id| !owners.contains(id.as_str()));
            without.filter(|_| owners.len() < expected).map(|id| format!("{id} has no item"))
        }
        Some(last) if (last.total, &last.strategy) != (basis.total, &basis.strategy) => {
            Some("the sharding configuration changed".to_owned())
        }
        Some(last) if last.instances != basis.instances && !is_static => Some(format!(
            "the available instances changed from [{}] to [{}]",
            list(&last.instances),
            list(&basis.instances)
        )),
        Some(_) => None,
    }
}

fn list(instances: &[InstanceId]) -> String {
    instances.iter().map(InstanceId::as_str).collect::<Vec<_>>().join(", ")
}
