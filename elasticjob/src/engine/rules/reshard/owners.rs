//! The instances that may own items, and those that do.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::engine::JobEngine;
use crate::engine::planted::Bug;
use crate::engine::reasons::SkipReason;
use crate::engine::rules::sessionless::is_sessionless;
use crate::engine::strategy;
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::mirror::Lookup;
use crate::registry::path::JobPath;

impl JobEngine {
    /// Online instances of enabled servers, in the order strategies get them; `None` while data are missing.
    pub(in crate::engine) fn available_instances(&self) -> Option<Vec<InstanceId>> {
        let mut known = true;
        let mut available = Vec::new();
        for id in self.mirror.instances() {
            match (self.is_alive(id), self.is_enabled(id.server_ip())) {
                (Some(true), Some(true)) => available.push(id.clone()),
                (Some(false), _) | (_, Some(false)) => {}
                (None, _) | (_, None) => known = false,
            }
        }
        strategy::sort_as_java(&mut available);
        known.then_some(available)
    }

    /// Whether a session owns the node of an instance; `None` while it is not known.
    fn is_alive(&self, id: &InstanceId) -> Option<bool> {
        match self.mirror.look(&JobPath::Instance(id.clone())) {
            Lookup::Unread => None,
            Lookup::Missing => Some(false),
            Lookup::Known(known) => Some(!is_sessionless(known) || self.planted.has(Bug::SessionlessInstance)),
        }
    }

    /// The items of this instance as they stand, `None` while data are missing. The flag is whether the leader has
    /// nothing left to assign, as far as this side sees.
    pub(in crate::engine) fn own_items(&self, total: u32) -> Option<(Vec<ShardingItem>, bool)> {
        let mut own = Vec::new();
        let mut known = true;
        let mut settled = !self.mirror.exists(&JobPath::Necessary) && !self.mirror.exists(&JobPath::Processing);
        let is_static = self.has_static_sharding();
        // The leader reports the items of owners that are gone, so an instance has to know here whether it leads.
        known &= !is_static || !matches!(self.mirror.look(&JobPath::LeaderInstance), Lookup::Unread);
        let instances: BTreeSet<&str> = self.mirror.instances().map(InstanceId::as_str).collect();
        for item in 0..total {
            match self.mirror.look(&JobPath::owner_of(item)) {
                Lookup::Missing => settled = false,
                Lookup::Unread => known = false,
                Lookup::Known(data) => {
                    let owner = data.text().unwrap_or_default();
                    settled &= is_static || instances.contains(owner);
                    if owner == self.identity.instance.as_str() {
                        own.push(item);
                    }
                }
            }
        }
        known.then_some((own, settled))
    }

    /// The items whose owners are on the server of this instance; `None` while data are missing.
    pub(in crate::engine) fn items_of_own_server(&self, total: u32) -> Option<BTreeSet<ShardingItem>> {
        let mut known = true;
        let mut items = BTreeSet::new();
        for item in 0..total {
            match self.mirror.look(&JobPath::owner_of(item)) {
                Lookup::Missing => {}
                Lookup::Unread => known = false,
                Lookup::Known(data) => {
                    let owner = data.text().and_then(|owner| owner.parse::<InstanceId>().ok());
                    if owner.is_some_and(|owner| owner.server_ip() == self.identity.instance.server_ip()) {
                        items.insert(item);
                    }
                }
            }
        }
        known.then_some(items)
    }

    /// Whether some fire waits for items: one that is due here, or a manual trigger anywhere.
    pub(super) fn awaits_items(&self) -> bool {
        self.fires.open.is_some() || self.mirror.triggers().next().is_some()
    }

    /// The leader reports for the whole group which items of a fire are not run, because static sharding leaves them to
    /// an instance that is gone. It reports each of them once, also when the instance goes while the fire is due: then
    /// those that the instance had not begun.
    pub(in crate::engine) fn tell_items_of_the_gone(&mut self) {
        if self.leadership.term.is_none() || !self.has_static_sharding() {
            return;
        }
        let Some(open) = self.fires.open.as_deref() else { return };
        let (fire, monitored) = (open.fire, self.configuration.is_monitored());
        let mut gone: BTreeMap<InstanceId, Vec<ShardingItem>> = BTreeMap::new();
        for item in self.mirror.items() {
            let Lookup::Known(known) = self.mirror.lookup(&JobPath::owner_of(item)) else { continue };
            if let Some(owner) = known.text().and_then(|text| text.parse::<InstanceId>().ok())
                && !open.of_the_gone.contains(&item)
                && !self.mirror.exists(&JobPath::Instance(owner.clone()))
                && (!monitored || self.record_of(item).is_some_and(|record| !record.covers(fire)))
            {
                gone.entry(owner).or_default().push(item);
            }
        }
        if let Some(open) = &mut self.fires.open {
            open.of_the_gone.extend(gone.values().flatten());
        }
        for (owner, items) in gone {
            self.tell_skip(fire, items, SkipReason::OwnerGone { owner });
        }
    }

    fn has_static_sharding(&self) -> bool {
        self.configuration.in_force.as_ref().is_some_and(|configuration| configuration.static_sharding())
    }
}
