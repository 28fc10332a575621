//! Runs that were lost with their instances, and which instance takes an item over.

use std::collections::BTreeMap;
use std::time::Duration;

use super::engine::JobEngine;
use super::fire::Fire;
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::mirror::Lookup;
use crate::registry::path::{ItemNode, JobPath};
use crate::registry::{SessionId, Zxid};

/// How long the next instance in order waits for the one before it to take an item: somewhat longer than most
/// registries take to report a takeover. An instance that comes too early is refused, and loses nothing but the
/// request.
const STAGGER: Duration = Duration::from_millis(25);

/// How long a Java instance has to be gone before its runs are taken over: when its connection comes back it deletes
/// its node and creates it again, and its runs go on.
const JAVA_GRACE: Duration = Duration::from_secs(3);

/// The state that an engine keeps about lost runs, so that it looks for them only when an instance or a session went
/// away.
#[derive(Debug, Default)]
pub(super) struct Losses {
    /// The instances and sessions that were there when every mark was found to be of a live run.
    checked: Option<Witnesses>,
    /// When this instance may take each lost item.
    turns: BTreeMap<ShardingItem, Turn>,
}

#[derive(Debug, PartialEq, Eq)]
struct Witnesses {
    /// The generation of the mirror: after a watch gap an instance may have gone unseen.
    generation: u32,
    instances: Vec<InstanceId>,
    sessions: Vec<SessionId>,
}

#[derive(Debug)]
struct Turn {
    told_by: Zxid,
    at: Duration,
}

/// A run that was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Loss {
    pub(super) item: ShardingItem,
    /// The fire that it was begun for.
    pub(super) fire: Fire,
    /// The instance that ran it.
    pub(super) from: Option<InstanceId>,
    /// No instance may take it now: the instance that took it has not begun yet, the item is disabled, or it runs.
    pub(super) is_held: bool,
    /// The mark is that of a Java instance.
    by_java: bool,
    /// The transaction that created the node which shows the loss. It tells one loss of an item from the next.
    told_by: Zxid,
}

impl Losses {
    /// The next time at which an item may be taken.
    pub(super) fn next_turn(&self, seen: Option<Duration>) -> Option<Duration> {
        self.turns.values().map(|turn| turn.at).filter(|at| Some(*at) > seen).min()
    }

    /// Looks again at every mark.
    pub(super) fn suspect(&mut self) {
        self.checked = None;
    }

    /// Forgets all turns: this instance takes nothing over.
    pub(super) fn stand_down(&mut self) {
        self.turns.clear();
    }

    /// The first item whose turn has come. The turns are set when a loss is seen first: the k-th item is for the k-th
    /// instance in the order of takers. For a moment only that instance may take it, then the next one may too.
    pub(super) fn take_turn(
        &mut self,
        lost: &[Loss],
        takers: &[InstanceId],
        me: &InstanceId,
        now: Duration,
    ) -> Option<Loss> {
        self.turns.retain(|item, turn| lost.iter().any(|loss| loss.item == *item && loss.told_by == turn.told_by));
        let mine = takers.iter().position(|taker| taker == me)?;
        for (k, loss) in lost.iter().enumerate() {
            let position = (mine + takers.len() - k % takers.len()) % takers.len();
            let grace = if loss.by_java { JAVA_GRACE } else { Duration::ZERO };
            let wait = grace + STAGGER * u32::try_from(position).unwrap_or(u32::MAX);
            self.turns.entry(loss.item).or_insert(Turn { told_by: loss.told_by, at: now + wait });
        }
        lost.iter().find(|loss| self.turns.get(&loss.item).is_some_and(|turn| turn.at <= now)).cloned()
    }
}

impl JobEngine {
    /// Whether an instance or a session went away since all marks were found to be of live runs, or an item waits to be
    /// taken over.
    pub(super) fn suspects_losses(&mut self) -> bool {
        let Some(checked) = &mut self.losses.checked else { return true };
        let gone = checked.instances.iter().any(|id| !self.mirror.exists(&JobPath::Instance(id.clone())))
            || checked.sessions.iter().any(|id| !self.mirror.exists(&JobPath::Session(*id)));
        if gone || checked.generation != self.mirror.generation() || self.mirror.failover_items().next().is_some() {
            return true;
        }
        // The engine looks for the instances and sessions that came, too, from now on.
        if !self.mirror.instances().eq(&checked.instances) {
            checked.instances = self.mirror.instances().cloned().collect();
        }
        if !self.mirror.sessions().eq(checked.sessions.iter().copied()) {
            checked.sessions = self.mirror.sessions().collect();
        }
        false
    }

    /// Notes that every mark is of a live run.
    pub(super) fn found_no_losses(&mut self) {
        self.losses.turns.clear();
        self.losses.checked = Some(Witnesses {
            generation: self.mirror.generation(),
            instances: self.mirror.instances().cloned().collect(),
            sessions: self.mirror.sessions().collect(),
        });
    }

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
        let (record, set_by) = match self.look(&JobPath::fire(item)) {
            // Both are needed: ask for both at once.
            Lookup::Unread => {
                self.look(&JobPath::running(item));
                return None;
            }
            Lookup::Missing => (self.record_of(item)?, 0),
            Lookup::Known(known) => (self.read_record(known), known.mzxid),
        };
        let mut by_java = false;
        let (lost_at, told_by) = match self.look(&JobPath::running(item)) {
            Lookup::Unread => return None,
            Lookup::Known(mark) => match self.is_run_alive(item, mark)? {
                true => return Some(None),
                false => {
                    by_java = !record.is_marked_by(mark.text());
                    (mark.ctime, mark.czxid)
                }
            },
            Lookup::Missing => match self.look(&JobPath::FailoverItem(item)) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(n: u32) -> Vec<InstanceId> {
        (1..=n).map(|n| InstanceId::of_process(&format!("10.0.0.{n}"), 7)).collect()
    }

    fn losses(items: u32) -> Vec<Loss> {
        let loss =
            |item| Loss { item, fire: Fire::Scheduled(0), from: None, is_held: false, by_java: false, told_by: 1 };
        (0..items).map(loss).collect()
    }

    /// When each of the takers may take each item, in steps of the stagger.
    fn turns(takers: u32, items: u32) -> Vec<Vec<u32>> {
        let takers = ids(takers);
        let turns = takers.iter().map(|me| {
            let mut losses_of = Losses::default();
            losses_of.take_turn(&losses(items), &takers, me, Duration::ZERO);
            losses_of.turns.values().map(|turn| (turn.at.as_millis() / STAGGER.as_millis()) as u32).collect()
        });
        turns.collect()
    }

    #[test]
    fn every_item_has_one_taker_at_first_and_everybody_in_the_end() {
        assert_eq!(turns(3, 4), [[0, 2, 1, 0], [1, 0, 2, 1], [2, 1, 0, 2]]);
        assert_eq!(turns(1, 3), [[0, 0, 0]]);
    }

    #[test]
    fn a_turn_is_dealt_once_for_each_loss() {
        let takers = ids(2);
        let mut state = Losses::default();
        let at = Duration::from_secs(1);
        assert_eq!(state.take_turn(&losses(1), &takers, &takers[1], at), None);
        assert_eq!(state.next_turn(Some(at)), Some(at + STAGGER));
        assert_eq!(state.take_turn(&losses(1), &takers, &takers[1], at + STAGGER), Some(losses(1)[0].clone()));
        let again = [Loss { told_by: 2, ..losses(1)[0].clone() }];
        assert_eq!(state.take_turn(&again, &takers, &takers[1], at + STAGGER), None);
    }

    #[test]
    fn who_is_not_available_takes_nothing() {
        let takers = ids(2);
        let stranger = InstanceId::of_process("10.0.0.9", 7);
        assert_eq!(Losses::default().take_turn(&losses(1), &takers, &stranger, Duration::ZERO), None);
    }
}
