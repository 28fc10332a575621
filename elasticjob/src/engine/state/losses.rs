//! Runs that were lost with their instances, and whose turn it is to take an item over.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::fire::Fire;
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::layout::JobPath;
use crate::registry::mirror::Mirror;
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
pub(in crate::engine) struct Losses {
    /// The instances and sessions that were there when every mark was found to be of a live run.
    checked: Option<Witnesses>,
    /// Items of instances that went away, until their marks were looked at. An instance that hears of its own items alone
    /// has to hear of these too.
    left_by_the_gone: BTreeSet<ShardingItem>,
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
pub(in crate::engine) struct Loss {
    pub(in crate::engine) item: ShardingItem,
    /// The fire that it was begun for.
    pub(in crate::engine) fire: Fire,
    /// The instance that ran it.
    pub(in crate::engine) from: Option<InstanceId>,
    /// No instance may take it now: the instance that took it has not begun yet, the item is disabled, or it runs.
    pub(in crate::engine) is_held: bool,
    /// The mark is that of a Java instance.
    pub(in crate::engine) by_java: bool,
    /// The transaction that created the node which shows the loss. It tells one loss of an item from the next.
    pub(in crate::engine) told_by: Zxid,
}

impl Losses {
    /// The next time at which an item may be taken.
    pub(in crate::engine) fn next_turn(&self, seen: Option<Duration>) -> Option<Duration> {
        self.turns.values().map(|turn| turn.at).filter(|at| Some(*at) > seen).min()
    }

    /// Looks again at every mark.
    pub(in crate::engine) fn suspect(&mut self) {
        self.checked = None;
    }

    /// Forgets all turns: this instance takes nothing over.
    pub(in crate::engine) fn stand_down(&mut self) {
        self.turns.clear();
        self.left_by_the_gone.clear();
    }

    /// These items were those of an instance that went away.
    pub(in crate::engine) fn note_left(&mut self, items: impl IntoIterator<Item = ShardingItem>) {
        self.left_by_the_gone.extend(items);
    }

    /// The items of instances that went away, as far as their marks were not looked at.
    pub(in crate::engine) fn left_by_the_gone(&self) -> impl Iterator<Item = ShardingItem> {
        self.left_by_the_gone.iter().copied()
    }

    /// The first item whose turn has come. The turns are set when a loss is seen first: the k-th item is for the k-th
    /// instance in the order of takers. For a moment only that instance may take it, then the next one may too.
    pub(in crate::engine) fn take_turn(
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

    /// Whether an instance or a session went away since all marks were found to be of live runs, or an item waits to be
    /// taken over.
    pub(in crate::engine) fn are_suspected(&mut self, mirror: &Mirror) -> bool {
        let Some(checked) = &mut self.checked else { return true };
        let gone = checked.instances.iter().any(|id| !mirror.exists(&JobPath::Instance(id.clone())))
            || checked.sessions.iter().any(|id| !mirror.exists(&JobPath::Session(*id)));
        if gone || checked.generation != mirror.generation() || mirror.failover_items().next().is_some() {
            return true;
        }
        // The engine looks for the instances and sessions that came, too, from now on.
        if !mirror.instances().eq(&checked.instances) {
            checked.instances = mirror.instances().cloned().collect();
        }
        if !mirror.sessions().eq(checked.sessions.iter().copied()) {
            checked.sessions = mirror.sessions().collect();
        }
        false
    }

    /// Notes that every mark is of a live run.
    pub(in crate::engine) fn found_none(&mut self, mirror: &Mirror) {
        self.turns.clear();
        self.left_by_the_gone.clear();
        self.checked = Some(Witnesses {
            generation: mirror.generation(),
            instances: mirror.instances().cloned().collect(),
            sessions: mirror.sessions().collect(),
        });
    }
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
