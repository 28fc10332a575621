//! Runs that were lost with their instances, and which instance takes an item over.

use super::engine::JobEngine;
use super::fire::Fire;
use super::state::losses::Loss;
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::mirror::Lookup;
use crate::registry::path::{ItemNode, JobPath};

impl JobEngine {
    /// The items below `total` that an instance has to take over, in ascending order; `None` while data are missing.
    pub(super) fn lost_items(&self, total: u32) -> Option<Vec<Loss>> {
        let mut complete = true;
        let mut lost = Vec::new();
        let wanted = |item: &ShardingItem| *item < total && self.runs.item(*item).is_none();
        let marked = self.mirror.running_items().filter(wanted);
        let handed_over = self.mirror.failover_items().filter(wanted);
        let mut items: Vec<ShardingItem> = marked.chain(handed_over).collect();
        items.sort_unstable();
        items.dedup();
        for item in items {
            match self.loss_of(item) {
                None => complete = false,
                Some(loss) => lost.extend(loss),
            }
        }
        complete.then_some(lost)
    }

    /// Whether an item has to be taken over; `None` while data are missing.
    fn loss_of(&self, item: ShardingItem) -> Option<Option<Loss>> {
        let (record, set_by) = match self.mirror.look(&JobPath::fire(item)) {
            // Both are needed: ask for both at once.
            Lookup::Unread => {
                self.mirror.look(&JobPath::running(item));
                return None;
            }
            Lookup::Missing => (self.record_of(item)?, 0),
            Lookup::Known(known) => (self.read_record(known), known.mzxid),
        };
        let mut by_java = false;
        let (lost_at, told_by) = match self.mirror.look(&JobPath::running(item)) {
            Lookup::Unread => return None,
            Lookup::Known(mark) => match self.is_run_alive(item, mark)? {
                true => return Some(None),
                false => {
                    by_java = !record.is_marked_by(mark.text());
                    (mark.ctime, mark.czxid)
                }
            },
            Lookup::Missing => match self.mirror.look(&JobPath::FailoverItem(item)) {
                Lookup::Missing => return Some(None),
                Lookup::Unread => return None,
                // A slow Java peer asks for a takeover of an item that was taken over, and maybe finished, meanwhile.
                Lookup::Known(known) if known.czxid < set_by => return Some(None),
                Lookup::Known(known) if record.is_over() && record.covers(fire_at(known.ctime)) => {
                    return Some(None);
                }
                // A Java peer takes the mark of a live run away as well.
                Lookup::Known(_) if self.runs_in_live_session(&record) => return Some(None),
                Lookup::Known(known) => (known.ctime, known.czxid),
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
        Some(Some(Loss { item, fire, from: ours.map(|begun| begun.instance.clone()), is_held, by_java, told_by }))
    }

    /// The instances that take lost items over, in this order: available instances, the idle ones first. `None` while
    /// data are missing.
    pub(super) fn takers(&self) -> Option<Vec<InstanceId>> {
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
        Some(idle.into_iter().chain(busy).collect())
    }
}

/// The fire that the engine assumes for a node of this time, where nothing names the fire: schedules are in whole
/// seconds.
pub(super) fn fire_at(time: i64) -> Fire {
    Fire::Scheduled(time - time.rem_euclid(1_000))
}
