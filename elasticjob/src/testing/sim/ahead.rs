//! Writes records of an instance that is gone and whose clock was far ahead: they cover fires of the next minutes. It was of
//! an earlier release, or its clock was compared with no other.

use super::host::EPOCH;
use super::world::World;
use crate::fire::{Attempt, ExecutionSource, Fire, FireRecord, FireState, ItemEnd};
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::{SessionId, Transaction};

impl World {
    /// An item was run for a fire that is minutes ahead. Once an item: its record names the last one alone. Other items are
    /// run for the same fire, as by one clock: of items that are removed the latest fire alone is remembered.
    pub(super) fn begin_ahead(&mut self) {
        let item = self.rng.below(u64::from(self.total)) as ShardingItem;
        // Far enough that nobody takes it for a clock that is allowed to differ so much, and not always beyond the end.
        let ahead = if self.rng.one_in(4) { 3_600_000 } else { self.rng.between(90_000, 240_000) };
        if self.shape.max_time_diff.is_none() || !self.shape.monitored || self.is_mixed() {
            return;
        }
        let period = 1_000 * i64::from(self.period);
        let now = EPOCH + self.now as i64;
        let at = self.begun_ahead.unwrap_or((now + ahead as i64) / period * period);
        if at < now + 60_000 {
            return;
        }
        let path = JobPath::fire(item).absolute(&self.job);
        let Some(node) = self.tree.get(&path).ok().flatten() else { return };
        let record = FireRecord::parse(&node.data);
        let is_marked = [ItemNode::Running, ItemNode::Failover, ItemNode::Misfire]
            .into_iter()
            .any(|node| self.tree.get(&JobPath::Item(item, node).absolute(&self.job)).is_ok_and(|node| node.is_some()));
        if is_marked || record.running().is_some() || record.ahead.is_some() || record.through > Some(now + 10_000) {
            return;
        }
        let fire = Fire::Scheduled(at);
        let (instance, attempt) = (InstanceId::of_process("10.0.9.9", 1), Attempt::new(SessionId(2), 0, 1));
        let end = ItemEnd { state: FireState::Succeeded, took: 1, error: None };
        let begun = record.begin(at, fire, ExecutionSource::NormalTrigger, instance, attempt);
        let mut transaction = Transaction::new();
        transaction.set(path, begun.end(at + 1, &end).to_bytes(), None);
        self.begun_ahead = Some(at);
        self.count("begun_by_a_clock_ahead");
        // Until then a right clock may have begun what it covers.
        let limit = 1_000 * u64::from(self.shape.max_time_diff.unwrap_or(0)) + self.session_timeout;
        (0..=limit).step_by(10_000).for_each(|later| self.incident_in(later));
        self.invariants.begun_ahead(item, now + limit as i64, fire);
        self.tell_followers(|follows| follows.begun_ahead(item, at));
        self.operate(&transaction);
    }
}
