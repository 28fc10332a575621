//! Chooses which nodes of the job this instance watches.
//!
//! In a small group each instance hears everything. In a large one an instance hears of the group, of the items that it
//! owns or has to do with, and of those of an instance that went away, as it may have to take them over. The leader hears
//! everything. No promise depends on it: each transaction has its guards, and the leader finds every run that is lost.

use std::collections::BTreeSet;

use super::action::Action;
use super::engine::JobEngine;
use super::planted::Bug;
use super::state::listener_round::Round;
use super::state::membership::Phase;
use crate::config::JobConfiguration;
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::layout::{JobPath, is_of_java};
use crate::registry::mirror::{Known, Lookup, Parts, Unread, read_all, read_found};
use crate::registry::{SessionId, WatchEvent};

/// Of how many items the owners are watched one by one. Each of these watches is kept by the registry center for each
/// instance, and added again with each connection.
const MOST_ITEMS: u32 = 1_000;

impl JobEngine {
    /// Brings the watches in line with what this instance has to hear of now.
    pub(super) fn choose_watches(&mut self) {
        let Ok(parts) = self.parts_to_hear() else { return };
        let changes = self.mirror.hear(parts.as_ref());
        if changes.is_empty() {
            return;
        }
        if !changes.add.is_empty() {
            // What is below an item that comes here may be of a lost run.
            self.fires.losses.suspect();
        }
        self.act(Action::Watch(changes));
    }

    /// The parts of the job that this instance has to hear of; `None` where that is everything.
    ///
    /// After a gap, and while items move, something of what decides it has to be read. Until then it is as it was: what is
    /// dropped too early has to be listed again.
    ///
    /// # Errors
    /// Unknown yet, and everything is heard.
    fn parts_to_hear(&self) -> Result<Option<Parts>, Unread> {
        let Some(configuration) = self.configuration.in_force.as_deref() else { return Ok(None) };
        // A round goes on with the listeners with which it began, also when the configuration names others by now.
        let calls_once = |round: &Round| round.plan.iter().any(|spec| spec.once.is_some());
        let is_member = !matches!(self.phase, Phase::Joining | Phase::Stopped);
        let is_large = self.or_as_before(self.hears_of_large_group(configuration), true);
        if !is_member || !is_large? || self.or_as_before(self.leads(), false)? {
            return Ok(None);
        }
        if self.runs.rounds().any(calls_once) {
            return Ok(None);
        }
        if self.configuration.is_failover_on() {
            // Which instance a session is of has to be known before the session ends.
            self.mirror.sessions().for_each(|session| {
                let _ = self.mirror.need(&JobPath::Session(session));
            });
        }
        let total = configuration.sharding_total_count();
        Ok(Some(Parts { total, items: self.items_to_hear(total)? }))
    }

    /// What is found; where it is not known, what was so when this instance began to hear of parts.
    fn or_as_before(&self, found: Result<bool, Unread>, before: bool) -> Result<bool, Unread> {
        let hears_parts = self.mirror.hears_parts() && !self.planted.has(Bug::LateWatches);
        found.or_else(|unread| if hears_parts { Ok(before) } else { Err(unread) })
    }

    /// Whether this instance leads, or is about to know that it does.
    fn leads(&self) -> Result<bool, Unread> {
        if self.planted.has(Bug::DeafLeader) {
            return Ok(false);
        }
        if self.leadership.term.is_some() {
            return Ok(true);
        }
        self.mirror.need(&JobPath::LeaderInstance)?;
        Ok(self.is_leader())
    }

    /// Whether the group is large enough. It stays so when a peer comes or goes at the limit.
    fn hears_of_large_group(&self, configuration: &JobConfiguration) -> Result<bool, Unread> {
        let missing = usize::from(self.mirror.hears_parts());
        Ok(self.mirror.instances().count() + missing >= self.large_group && self.may_hear_parts(configuration)?)
    }

    /// Whether the group is so large that its members do not hear everything. All members find the same.
    pub(super) fn is_large_group(&self) -> Result<bool, Unread> {
        let Some(configuration) = self.configuration.in_force.as_deref() else { return Ok(false) };
        Ok(self.mirror.instances().count() >= self.large_group && self.may_hear_parts(configuration)?)
    }

    /// Whether parts of the job are enough to hear of. A listener that is called once for the group waits for the items of
    /// all. Java instances change marks without looking whose they are. Without monitoring a fire writes nothing.
    fn may_hear_parts(&self, configuration: &JobConfiguration) -> Result<bool, Unread> {
        let has_once_listeners = || match self.configuration.listeners.plan(configuration) {
            Ok(plan) => plan.is_some_and(|plan| plan.iter().any(|spec| spec.once.is_some())),
            Err(_) => true,
        };
        if !self.configuration.is_monitored()
            || configuration.sharding_total_count() > MOST_ITEMS
            || has_once_listeners()
        {
            return Ok(false);
        }
        let is_of_java = |id: &InstanceId| {
            let node = self.mirror.need(&JobPath::Instance(id.clone()))?;
            Ok(node.is_some_and(|known| is_of_java(&known.data)))
        };
        let are_of_java: Vec<bool> = read_all(self.mirror.instances().map(is_of_java))?;
        Ok(!are_of_java.contains(&true))
    }

    fn items_to_hear(&self, total: u32) -> Result<BTreeSet<ShardingItem>, Unread> {
        let there: BTreeSet<&str> = self.mirror.instances().map(InstanceId::as_str).collect();
        let takes_over = self.configuration.is_failover_on();
        let concerns = |owner: &str| owner == self.identity.instance.as_str() || takes_over && !there.contains(owner);
        let owned = (0..total).map(|item| {
            let owner = self.mirror.need(&JobPath::owner_of(item));
            let found = owner.map(|owner| owner.and_then(Known::text).is_some_and(concerns));
            Ok(self.or_as_before(found, self.mirror.hears(&JobPath::running(item)))?.then_some(item))
        });
        let mut items: BTreeSet<ShardingItem> = read_found(owned)?;
        items.extend(self.runs.iter().flat_map(|run| run.items.keys().copied()));
        items.extend(self.fires.unresolved.iter().flat_map(|unresolved| unresolved.items.iter().copied()));
        let fires = self.fires.open.iter().chain(&self.fires.standing);
        items.extend(fires.flat_map(|open| open.refused.iter().copied()));
        items.extend(self.fires.missed_items.keys());
        items.extend(self.fires.declined_unknown.iter().map(|(item, _)| *item));
        if takes_over {
            items.extend(self.fires.losses.left_by_the_gone());
            items.extend(self.mirror.failover_items());
        }
        Ok(items)
    }

    /// The owner of an item, as far as it is known.
    fn known_owner(&self, item: ShardingItem) -> Option<&str> {
        match self.mirror.lookup(&JobPath::owner_of(item)) {
            Lookup::Known(known) => known.text(),
            Lookup::Missing | Lookup::Unread => None,
        }
    }

    /// Notes the items of an instance that goes away with this event, before their owners change.
    pub(super) fn note_departure(&mut self, event: &WatchEvent) {
        let WatchEvent::Deleted(path) = event else { return };
        if !self.mirror.hears_parts() || !self.configuration.is_failover_on() {
            return;
        }
        let gone = match JobPath::parse(&self.job, path) {
            Some(JobPath::Instance(id)) => Some(id.as_str().to_owned()),
            Some(JobPath::Session(session)) => self.instance_of(session).map(str::to_owned),
            _ => None,
        };
        let total =
            self.configuration.in_force.as_ref().map_or(0, |configuration| configuration.sharding_total_count());
        let Some(gone) = gone else { return };
        let left: Vec<ShardingItem> =
            (0..total).filter(|item| self.known_owner(*item) == Some(gone.as_str())).collect();
        self.fires.losses.note_left(left);
    }

    fn instance_of(&self, session: SessionId) -> Option<&str> {
        match self.mirror.lookup(&JobPath::Session(session)) {
            Lookup::Known(known) => known.text(),
            Lookup::Missing | Lookup::Unread => None,
        }
    }

    /// The instances that take lost items over in a large group: those that own no item first. An instance does not hear
    /// there which of the others run something.
    pub(super) fn takers_of_large_group(&self) -> Result<Vec<InstanceId>, Unread> {
        let total =
            self.configuration.in_force.as_ref().map_or(0, |configuration| configuration.sharding_total_count());
        let owners: BTreeSet<&str> = self.owners(total)?.into_iter().filter_map(|(_, owner)| owner).collect();
        let (busy, idle): (Vec<_>, Vec<_>) =
            self.available_instances()?.into_iter().partition(|id| owners.contains(id.as_str()));
        Ok(idle.into_iter().chain(busy).collect())
    }

    /// The engine of a group that counts as large from so many instances on.
    #[cfg(any(test, feature = "testing"))]
    #[must_use]
    pub fn with_large_groups_from(mut self, instances: usize) -> Self {
        self.large_group = instances;
        self
    }

    /// A node that is not heard of and that was taken to be missing all the same.
    #[cfg(feature = "testing")]
    pub fn take_trusted(&self) -> Option<JobPath> {
        self.mirror.take_trusted()
    }
}
