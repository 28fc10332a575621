//! The items of other instances that a call on behalf of the group has to wait for.

use crate::engine::engine::JobEngine;
use crate::engine::event::Now;
use crate::engine::fire::{ExecutionSource, Fire};
use crate::engine::listeners::Hook;
use crate::engine::planted::Bug;
use crate::engine::state::listener_round::{PATIENCE, Waiting};
use crate::engine::state::open_fire::LATE_ACQUISITION;
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::mirror::Lookup;
use crate::registry::path::{ItemNode, JobPath};

impl JobEngine {
    /// The items that have not begun yet, or not ended yet, in the round of a run that waits; `None` while data are
    /// missing.
    pub(super) fn awaited_items(&self, now: Now, waits: &Waiting) -> Option<Vec<ShardingItem>> {
        match waits.hook {
            Hook::Before => self.items_to_begin(now, waits),
            Hook::After if self.planted.has(Bug::HastyAfter) => Some(Vec::new()),
            Hook::After => self.items_to_end(waits.fire),
        }
    }

    fn items_to_begin(&self, now: Now, waits: &Waiting) -> Option<Vec<ShardingItem>> {
        // Each instance begins an item that it makes up for, or takes over, when it can: the group does not begin it
        // together.
        if waits.source != ExecutionSource::NormalTrigger || now.mono >= waits.since + LATE_ACQUISITION {
            return Some(Vec::new());
        }
        let total = self.configuration.in_force.as_ref()?.sharding_total_count();
        let is_patient = now.mono < waits.since + PATIENCE;
        let mut missing = Vec::new();
        for item in 0..total {
            if self.will_begin(item, waits.fire, is_patient)? {
                missing.push(item);
            }
        }
        Some(missing)
    }

    /// Whether an item may be expected to begin for a fire. An item that runs has begun, or is busy with another fire and
    /// comes late.
    fn will_begin(&self, item: ShardingItem, fire: Fire, is_patient: bool) -> Option<bool> {
        let nodes = [ItemNode::Running, ItemNode::Disabled, ItemNode::Misfire, ItemNode::Failover];
        let is_out = nodes.into_iter().any(|node| self.mirror.exists(&JobPath::Item(item, node)));
        if is_out || self.mirror.exists(&JobPath::FailoverItem(item)) || self.runs.item(item).is_some() {
            return Some(false);
        }
        let owner: InstanceId = match self.mirror.look(&JobPath::owner_of(item)) {
            Lookup::Missing => return Some(false),
            Lookup::Unread => return None,
            Lookup::Known(known) => match known.text().and_then(|text| text.parse().ok()) {
                Some(owner) => owner,
                None => return Some(false),
            },
        };
        let is_there = owner != self.identity.instance && self.mirror.exists(&JobPath::Instance(owner.clone()));
        if !is_there || !self.is_enabled(owner.server_ip())? {
            return Some(false);
        }
        if matches!(fire, Fire::Manual { .. }) && !self.mirror.exists(&JobPath::Trigger(owner.clone())) {
            return Some(false);
        }
        if is_patient {
            return Some(true);
        }
        self.is_undecided(item, fire, owner)
    }

    /// Whether the owner of an item that is late may still begin it. The engine reads that only then: mostly all items
    /// begin at once.
    fn is_undecided(&self, item: ShardingItem, fire: Fire, owner: InstanceId) -> Option<bool> {
        let came_at = match self.mirror.look(&JobPath::Instance(owner.clone())) {
            Lookup::Missing => return Some(false),
            Lookup::Unread => return None,
            Lookup::Known(known) => known.ctime,
        };
        let is_covered = match self.mirror.look(&JobPath::fire(item)) {
            Lookup::Missing => false,
            Lookup::Unread => return None,
            Lookup::Known(known) => self.read_record(known).covers(fire),
        };
        let is_asked = match (fire, self.mirror.look(&JobPath::Trigger(owner))) {
            (Fire::Scheduled(at), _) => came_at <= at,
            (Fire::Manual { .. }, Lookup::Unread) => return None,
            (Fire::Manual { trigger, .. }, Lookup::Known(known)) => known.czxid == trigger,
            (Fire::Manual { .. }, Lookup::Missing) => false,
        };
        Some(is_asked && !is_covered)
    }

    /// The items that were begun for a fire and have not ended. A lost run counts while an instance will take it over.
    fn items_to_end(&self, fire: Fire) -> Option<Vec<ShardingItem>> {
        let takes_over = self.configuration.is_failover_on() && !self.available_instances()?.is_empty();
        let mut complete = true;
        let mut items: Vec<ShardingItem> = self.mirror.running_items().chain(self.mirror.failover_items()).collect();
        items.sort_unstable();
        items.dedup();
        items.retain(|item| {
            let to_end = self.is_to_end(*item, fire, takes_over);
            complete &= to_end.is_some();
            to_end == Some(true)
        });
        complete.then_some(items)
    }

    fn is_to_end(&self, item: ShardingItem, fire: Fire, takes_over: bool) -> Option<bool> {
        if let Some(run) = self.runs.iter().find(|run| run.items.contains_key(&item)) {
            return Some(run.fire == fire);
        }
        let record = match self.mirror.look(&JobPath::fire(item)) {
            Lookup::Missing => return Some(false),
            Lookup::Unread => return None,
            Lookup::Known(known) => self.read_record(known),
        };
        let is_unfinished = record.last.as_ref().is_some_and(|begun| begun.state.is_unfinished());
        if record.last_fire() != Some(fire) || !is_unfinished {
            return Some(false);
        }
        // Without failover a mark goes with the session of its run.
        if !self.configuration.is_failover_on() {
            return Some(self.mirror.exists(&JobPath::running(item)));
        }
        let is_held = self.mirror.exists(&JobPath::Item(item, ItemNode::Disabled));
        if takes_over && !is_held {
            return Some(true);
        }
        match self.mirror.look(&JobPath::running(item)) {
            Lookup::Missing => Some(false),
            Lookup::Unread => None,
            Lookup::Known(mark) => self.is_run_alive(item, mark),
        }
    }
}
