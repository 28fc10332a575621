//! Runs that were lost with their instances, and which instance takes an item over.

use super::engine::JobEngine;
use super::state::losses::Loss;
use crate::fire::{Fire, FireRecord, FireState};
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::Zxid;
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::mirror::{Known, Lookup, Unread, read_found};

impl JobEngine {
    /// The items below `total` that an instance has to take over, in ascending order.
    pub(super) fn lost_items(&self, total: u32) -> Result<Vec<Loss>, Unread> {
        // A mark may be older than the item, which was removed and waits for the leader to create it again.
        let is_there = |item| self.mirror.exists(&JobPath::Item(item, ItemNode::Dir));
        let wanted = |item: &ShardingItem| *item < total && self.runs.item(*item).is_none() && is_there(*item);
        let marked = self.mirror.running_items().filter(wanted);
        let handed_over = self.mirror.failover_items().filter(wanted);
        let mut items: Vec<ShardingItem> = marked.chain(handed_over).collect();
        items.sort_unstable();
        items.dedup();
        read_found(items.into_iter().map(|item| self.loss_of(item)))
    }

    /// Whether the run of an item was cut off and waits for the instance that takes it over.
    pub(super) fn waits_for_takeover(&self, item: ShardingItem) -> Result<bool, Unread> {
        let is_asked_for = self.mirror.exists(&JobPath::FailoverItem(item));
        if !is_asked_for || !self.configuration.is_failover_on() {
            return Ok(false);
        }
        Ok(self.loss_of(item)?.is_some_and(|loss| !loss.is_held))
    }

    /// Whether the run of an item was cut off and handed over, and no instance has taken it over since. Its mark may be there
    /// still.
    pub(super) fn is_handed_over(&self, item: ShardingItem) -> Result<bool, Unread> {
        if !self.configuration.is_failover_on() {
            return Ok(false);
        }
        let Some(asked) = self.mirror.need(&JobPath::FailoverItem(item))? else { return Ok(false) };
        let Some(known) = self.mirror.need(&JobPath::fire(item))? else { return Ok(false) };
        let record = self.read_record(known);
        let is_cut_off = record.last.as_ref().is_some_and(|begun| begun.state.is_unfinished());
        Ok(is_cut_off && !is_answered(&record, known.mzxid, asked))
    }

    /// The loss of an item that has to be taken over.
    fn loss_of(&self, item: ShardingItem) -> Result<Option<Loss>, Unread> {
        let known = self.mirror.need(&JobPath::fire(item)).inspect_err(|_| {
            // Both are needed: ask for both at once.
            let _ = self.mirror.need(&JobPath::running(item));
        })?;
        let (record, set_by) = match known {
            None => (self.record_of(item)?, 0),
            Some(known) => (self.read_record(known), known.mzxid),
        };
        let mut by_java = false;
        let (lost_at, told_by) = match self.mirror.need(&JobPath::running(item))? {
            Some(mark) => match self.is_run_alive(item, mark)? {
                true => return Ok(None),
                false => {
                    by_java = !record.is_marked_by(mark.text());
                    (mark.ctime, mark.czxid)
                }
            },
            None => match self.mirror.need(&JobPath::FailoverItem(item))? {
                None => return Ok(None),
                Some(known) if is_answered(&record, set_by, known) => return Ok(None),
                // A Java peer takes the mark of a live run away as well.
                Some(_) if self.runs_in_live_session(&record) => return Ok(None),
                Some(known) => (known.ctime, known.czxid),
            },
        };
        let mut holds = [ItemNode::Failover, ItemNode::Disabled].into_iter();
        let is_held = holds.any(|node| self.mirror.exists(&JobPath::Item(item, node)))
            // The Java instance lost a run beside one of this implementation that goes on.
            || (by_java && self.runs_elsewhere(&record).is_some());
        // An instance of this implementation handed the item over, or was lost: the record says for which fire it was
        // begun. A Java peer shows only the time.
        let ours = record.last.as_ref().filter(|begun| begun.state.is_unfinished() && !by_java);
        let fire = ours.and_then(|_| record.last_fire()).unwrap_or(fire_at(lost_at));
        Ok(Some(Loss { item, fire, from: ours.map(|begun| begun.instance.clone()), is_held, by_java, told_by }))
    }

    /// The instances that take lost items over, in this order: available instances, the idle ones first.
    pub(super) fn takers(&self) -> Result<Vec<InstanceId>, Unread> {
        if self.is_large_group()? {
            return self.takers_of_large_group();
        }
        let runners: Vec<&str> = self
            .mirror
            .running_items()
            .filter_map(|item| match self.mirror.lookup(&JobPath::running(item)) {
                Lookup::Known(mark) => mark.text(),
                _ => None,
            })
            .collect();
        let (busy, idle): (Vec<_>, Vec<_>) =
            self.available_instances()?.into_iter().partition(|id| runners.contains(&id.as_str()));
        Ok(idle.into_iter().chain(busy).collect())
    }
}

/// Whether the request for a takeover of an item was served already, by the record that this transaction set. A slow Java
/// peer asks for an item that was taken over, and maybe finished, meanwhile. A run that was cut off waits, whatever else
/// was written into its record since.
pub(super) fn is_answered(record: &FireRecord, set_by: Zxid, asked: &Known) -> bool {
    if record.last.as_ref().is_some_and(|begun| begun.state == FireState::Cancelled) {
        return false;
    }
    asked.czxid < set_by || (record.is_over() && record.covers(fire_at(asked.ctime)))
}

/// The fire that the engine assumes for a node of this time, where nothing names the fire: schedules are in whole
/// seconds.
pub(super) fn fire_at(time: i64) -> Fire {
    Fire::Scheduled(time - time.rem_euclid(1_000))
}
