//! The states of the items, as the leader sees them.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::engine::JobEngine;
use crate::engine::planted::Bug;
use crate::engine::state::leadership::Basis;
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::layout::JobPath;
use crate::registry::mirror::{Known, Unread, read_found, read_known};

/// Owners and busy items.
pub(super) struct ItemStates<'a> {
    /// Owner of each item that has one, as the node says.
    pub(super) owners: BTreeMap<ShardingItem, &'a str>,
    /// Items that an instance runs, and those that are triggered.
    pub(super) busy: BTreeSet<ShardingItem>,
    /// Items that their owner is to run for a manual trigger: a trigger asks instances, and would be lost for an item
    /// that moves to an instance that has answered it already.
    triggered: BTreeSet<ShardingItem>,
    /// The instances that are there and have not taken a manual trigger.
    asked: BTreeSet<&'a str>,
}

impl<'a> ItemStates<'a> {
    /// The states as they stand. The data of a mark are only read where they matter: with every fire there are new marks.
    pub(super) fn take(
        engine: &'a JobEngine,
        basis: &Basis,
        pinned: &BTreeSet<ShardingItem>,
        requested: bool,
    ) -> Result<Self, Unread> {
        let owners = (0..basis.total).map(|item| {
            let node = engine.mirror.need(&JobPath::owner_of(item))?;
            Ok(node.and_then(Known::text).map(|owner| (item, owner)))
        });
        let (owners, all_owners): (BTreeMap<ShardingItem, &str>, _) = read_known(owners.filter_map(Result::transpose));
        let available = basis.available();
        let asked = asked_instances(engine);
        let is_triggered = |owner: &str| asked.contains(owner) && available.contains(owner);
        let triggered: BTreeSet<ShardingItem> =
            owners.iter().filter(|(_, owner)| is_triggered(owner)).map(|(item, _)| *item).collect();
        let running = engine.mirror.running_items().map(|item| {
            let owned_well = owners.get(&item).is_some_and(|owner| available.contains(owner));
            if owned_well && !requested && !pinned.contains(&item) {
                return Ok(Some(item));
            }
            let Some(mark) = engine.mirror.need(&JobPath::running(item))? else { return Ok(None) };
            // A lost run is run again, or not at all; it holds no instance up.
            Ok(engine.is_run_alive(item, mark)?.then_some(item))
        });
        let running: Vec<ShardingItem> = read_found(running)?;
        all_owners?;
        let busy = triggered.iter().copied().chain(running).collect();
        Ok(Self { owners, busy, triggered, asked })
    }

    /// Whether an item stays with its owner for now, so that its run is not disturbed. It does not stay twice for its
    /// runs: the next run of a job that always overruns has begun before the leader could move the item. The new owner
    /// waits for the run.
    pub(super) fn stays(&self, item: ShardingItem, has_stayed: bool) -> bool {
        self.triggered.contains(&item) || (self.busy.contains(&item) && !has_stayed)
    }

    /// Whether an owner has not taken a manual trigger. A leader that an operator removed may have one, and gives its items away.
    pub(super) fn is_asked(&self, owner: Option<&str>) -> bool {
        owner.is_some_and(|owner| self.asked.contains(owner))
    }

    pub(super) fn owner(&self, item: ShardingItem) -> Option<&'a str> {
        self.owners.get(&item).copied()
    }
}

fn asked_instances(engine: &JobEngine) -> BTreeSet<&str> {
    if engine.planted.has(Bug::OutrunTrigger) {
        return BTreeSet::new();
    }
    engine.mirror.triggers().map(InstanceId::as_str).collect()
}

impl Basis {
    /// The instances that may own items.
    pub(super) fn available(&self) -> BTreeSet<&str> {
        self.instances.iter().map(InstanceId::as_str).collect()
    }
}
