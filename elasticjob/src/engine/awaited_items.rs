//! The items of other instances that a call on behalf of the group has to wait for.

use super::dependencies::Release;
use super::engine::JobEngine;
use super::once_calls::OnceCalls;
use super::planted::Bug;
use super::state::listener_round::{ITEMS_WAIT, Waiting};
use super::state::open_fire::LATE_ACQUISITION;
use crate::clock::Now;
use crate::fire::{ExecutionSource, Fire, Hook, WaitedFor};
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::mirror::{Known, Lookup, Unread, read_found};

impl JobEngine {
    /// What a waiting round waits for.
    pub(super) fn waited_for(&self, now: Now, waits: &Waiting) -> WaitedFor {
        if let Some(items) = self.awaited_items(now, waits).ok().filter(|items| !items.is_empty()) {
            return WaitedFor::Items(items);
        }
        let Lookup::Known(known) = self.mirror.lookup(&JobPath::Rounds) else { return WaitedFor::Registry };
        match known.parsed(OnceCalls::parse).find(waits.key.fire, &waits.listener, waits.hook) {
            Some(call) if call.instance != self.identity.instance => WaitedFor::Call { by: call.instance.clone() },
            _ => WaitedFor::Registry,
        }
    }

    /// The items that have not begun yet, or not ended yet, in the round of a run that waits.
    pub(super) fn awaited_items(&self, now: Now, waits: &Waiting) -> Result<Vec<ShardingItem>, Unread> {
        // In a large group the watches of all items come with the first round that calls such a listener, which the job may not
        // have had until now.
        if !self.mirror.hears_everything() {
            return Err(Unread);
        }
        match waits.hook {
            Hook::Before => self.items_to_begin(now, waits),
            Hook::After if self.planted.has(Bug::HastyAfter) => Ok(Vec::new()),
            Hook::After => self.items_to_end(now, waits.key.fire),
        }
    }

    fn items_to_begin(&self, now: Now, waits: &Waiting) -> Result<Vec<ShardingItem>, Unread> {
        // Each instance begins an item that it makes up for, or takes over, when it can: the group does not begin it
        // together.
        if waits.key.source != ExecutionSource::NormalTrigger || now.mono >= waits.since + LATE_ACQUISITION {
            return Ok(Vec::new());
        }
        let Some(configuration) = &self.configuration.in_force else { return Err(Unread) };
        let total = configuration.sharding_total_count();
        let is_patient = now.mono < waits.since + ITEMS_WAIT;
        let mut missing = Vec::new();
        for item in 0..total {
            if self.will_begin(item, waits.key.fire, is_patient)? {
                missing.push(item);
            }
        }
        Ok(missing)
    }

    /// Whether an item may be expected to begin for a fire. An item that runs has begun, or is busy with another fire and
    /// comes late.
    fn will_begin(&self, item: ShardingItem, fire: Fire, is_patient: bool) -> Result<bool, Unread> {
        // It begins when what it follows has ended, or not at all: the group does not begin it together with the others.
        if !matches!(self.release(fire, item), Release::Since(_)) {
            return Ok(false);
        }
        let nodes = [ItemNode::Running, ItemNode::Disabled, ItemNode::Misfire, ItemNode::Failover];
        let is_out = nodes.into_iter().any(|node| self.mirror.exists(&JobPath::Item(item, node)));
        if is_out || self.mirror.exists(&JobPath::FailoverItem(item)) || self.runs.item(item).is_some() {
            return Ok(false);
        }
        let owner = self.mirror.need(&JobPath::owner_of(item))?.and_then(Known::text);
        let Some(owner) = owner.and_then(|text| text.parse::<InstanceId>().ok()) else { return Ok(false) };
        let is_there = owner != self.identity.instance && self.mirror.exists(&JobPath::Instance(owner.clone()));
        if !is_there || !self.is_enabled(owner.server_ip())? {
            return Ok(false);
        }
        if matches!(fire, Fire::Manual { .. }) && !self.mirror.exists(&JobPath::Trigger(owner.clone())) {
            return Ok(false);
        }
        if is_patient {
            return Ok(true);
        }
        self.is_undecided(item, fire, owner)
    }

    /// Whether the owner of an item that is late may still begin it. The engine reads that only then: mostly all items
    /// begin at once.
    fn is_undecided(&self, item: ShardingItem, fire: Fire, owner: InstanceId) -> Result<bool, Unread> {
        let Some(instance) = self.mirror.need(&JobPath::Instance(owner.clone()))? else { return Ok(false) };
        let record = self.mirror.need(&JobPath::fire(item))?;
        let is_covered = record.is_some_and(|known| self.read_record(known).covers(fire));
        let asked = self.mirror.need(&JobPath::Trigger(owner));
        let is_asked = match fire {
            Fire::Scheduled(at) => instance.ctime <= at,
            Fire::Manual { trigger, .. } => asked?.is_some_and(|known| known.czxid == trigger),
        };
        Ok(is_asked && !is_covered)
    }

    /// The items that were begun for a fire and have not ended. A lost run counts while an instance will take it over.
    fn items_to_end(&self, now: Now, fire: Fire) -> Result<Vec<ShardingItem>, Unread> {
        let takes_over = self.configuration.is_failover_on() && !self.available_instances()?.is_empty();
        let mut items: Vec<ShardingItem> = self.mirror.running_items().chain(self.mirror.failover_items()).collect();
        items.sort_unstable();
        items.dedup();
        let ended = items.into_iter().map(|item| Ok(self.is_to_end(item, fire, takes_over)?.then_some(item)));
        let to_begin = self.items_to_begin_elsewhere(now, fire)?;
        read_found(ended.chain(to_begin.into_iter().map(|item| Ok(Some(item)))))
    }

    /// The items that other instances are to begin: when what they follow has ended, or as it has a moment ago. For its own
    /// an instance waits before it comes to the listeners after them; one that comes here since then is left out.
    fn items_to_begin_elsewhere(&self, now: Now, fire: Fire) -> Result<Vec<ShardingItem>, Unread> {
        let configuration = self.configuration.in_force.as_ref().filter(|_| self.follows_items());
        let (Some(configuration), Fire::Scheduled(at)) = (configuration, fire) else { return Ok(Vec::new()) };
        let is_young = self.dependencies.released_until.is_some_and(|until| now.mono < until);
        let to_begin = |item| {
            let is_to_begin = match self.release(fire, item) {
                Release::Held => !self.mirror.is_item_disabled(item),
                Release::Since(_) => is_young && !self.has_taken(configuration, at, item)?,
                Release::Skipped(_) | Release::NotPart => false,
            };
            let owner = self.mirror.need(&JobPath::owner_of(item))?.and_then(Known::text);
            let is_of_another = owner.is_some_and(|owner| owner != self.identity.instance.as_str());
            Ok((is_to_begin && is_of_another).then_some(item))
        };
        read_found((0..configuration.sharding_total_count()).map(to_begin))
    }

    fn is_to_end(&self, item: ShardingItem, fire: Fire, takes_over: bool) -> Result<bool, Unread> {
        // A run that was cut off here may go on while the item runs for a later fire elsewhere: its record tells.
        if self.runs.iter().any(|run| run.key.fire == fire && run.items.contains_key(&item)) {
            return Ok(true);
        }
        let Some(known) = self.mirror.need(&JobPath::fire(item))? else { return Ok(false) };
        let record = self.read_record(known);
        let is_unfinished = record.last.as_ref().is_some_and(|begun| begun.state.is_unfinished());
        if !is_unfinished || !record.last_fire().is_some_and(|last| last.is_same(fire)) {
            return Ok(false);
        }
        // Without failover a mark goes with the session of its run.
        if !self.configuration.is_failover_on() {
            return Ok(self.mirror.exists(&JobPath::running(item)));
        }
        let is_held = self.mirror.is_item_disabled(item);
        if takes_over && !is_held {
            return Ok(true);
        }
        match self.mirror.need(&JobPath::running(item))? {
            None => Ok(false),
            Some(mark) => self.is_run_alive(item, mark),
        }
    }
}
