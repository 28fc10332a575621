//! The instances that may own items, and those that do.

use std::collections::BTreeSet;

use super::engine::JobEngine;
use super::liveness::is_sessionless;
use super::planted::Bug;
use crate::fire::Fire;
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::layout::JobPath;
use crate::registry::mirror::{Lookup, Unread, read_all, read_found};
use crate::sharding;

impl JobEngine {
    /// Online instances of enabled servers, in the order strategies get them.
    pub(super) fn available_instances(&self) -> Result<Vec<InstanceId>, Unread> {
        let found = self.mirror.instances().map(|id| {
            let is_available = match (self.is_alive(id), self.is_enabled(id.server_ip())) {
                (Ok(false), _) | (_, Ok(false)) => false,
                (alive, enabled) => alive? && enabled?,
            };
            Ok(is_available.then(|| id.clone()))
        });
        let mut available: Vec<InstanceId> = read_found(found)?;
        sharding::sort_as_java(&mut available);
        Ok(available)
    }

    /// Whether a session owns the node of an instance.
    fn is_alive(&self, id: &InstanceId) -> Result<bool, Unread> {
        let node = self.mirror.need(&JobPath::Instance(id.clone()))?;
        Ok(node.is_some_and(|known| !is_sessionless(known) || self.planted.has(Bug::SessionlessInstance)))
    }

    /// The items of this instance as they stand. The flag is whether the leader has nothing left to assign, as far as
    /// this side sees.
    pub(super) fn own_items(&self, total: u32) -> Result<(Vec<ShardingItem>, bool), Unread> {
        let mut own = Vec::new();
        let mut settled = !self.mirror.exists(&JobPath::Necessary) && !self.mirror.exists(&JobPath::Processing);
        let is_static = self.has_static_sharding();
        // The leader reports the items of owners that are gone, so an instance has to know here whether it leads.
        let leader = if is_static { self.mirror.need(&JobPath::LeaderInstance) } else { Ok(None) };
        let instances: BTreeSet<&str> = self.mirror.instances().map(InstanceId::as_str).collect();
        for (item, owner) in self.owners(total)? {
            let Some(owner) = owner else {
                settled = false;
                continue;
            };
            settled &= is_static || instances.contains(owner);
            if owner == self.identity.instance.as_str() {
                own.push(item);
            }
        }
        leader?;
        Ok((own, settled))
    }

    /// Each item with its owner as the node says, `None` where there is no node. Data that are no text are an empty one.
    pub(super) fn owners(&self, total: u32) -> Result<Vec<(ShardingItem, Option<&str>)>, Unread> {
        read_all((0..total).map(|item| {
            let node = self.mirror.need(&JobPath::owner_of(item))?;
            Ok((item, node.map(|known| known.text().unwrap_or_default())))
        }))
    }

    /// The items without an owner that were not begun for a manual fire, as far as this side sees: no trigger that waits reaches
    /// them. Which instance had them before is not known.
    pub(super) fn items_without_owner(&self, fire: Fire, total: u32) -> Result<Vec<ShardingItem>, Unread> {
        let is_monitored = self.configuration.is_monitored();
        let unowned = self.owners(total)?.into_iter().filter(|(_, owner)| owner.is_none());
        read_found(unowned.map(|(item, _)| {
            // In a large group only the leader hears of all records.
            let has_record = is_monitored && self.mirror.hears(&JobPath::fire(item));
            Ok((!has_record || !self.record_of(item)?.covers(fire)).then_some(item))
        }))
    }

    /// The items whose owners are on the server of this instance.
    pub(super) fn items_of_own_server(&self, total: u32) -> Result<BTreeSet<ShardingItem>, Unread> {
        let is_here = |owner: &str| {
            let owner = owner.parse::<InstanceId>();
            owner.is_ok_and(|owner| owner.server_ip() == self.identity.instance.server_ip())
        };
        let owners = self.owners(total)?.into_iter();
        Ok(owners.filter(|(_, owner)| owner.is_some_and(is_here)).map(|(item, _)| item).collect())
    }

    /// Whether some fire waits for items: one that is due here, or a manual trigger anywhere.
    pub(super) fn awaits_items(&self) -> bool {
        self.fires.open.is_some() || self.mirror.triggers().next().is_some()
    }

    /// The instance that static sharding leaves an item to although it is gone: no other runs the item meanwhile.
    pub(super) fn gone_owner(&self, item: ShardingItem) -> Option<InstanceId> {
        let Lookup::Known(known) = self.mirror.lookup(&JobPath::owner_of(item)) else { return None };
        let owner = known.text()?.parse::<InstanceId>().ok().filter(|_| self.has_static_sharding())?;
        (!self.mirror.exists(&JobPath::Instance(owner.clone()))).then_some(owner)
    }

    pub(super) fn has_static_sharding(&self) -> bool {
        self.configuration.in_force.as_ref().is_some_and(|configuration| configuration.static_sharding())
    }
}
