//! The excuses of a leader that takes an item for ended or succeeded where it is not. Each is for an item, a run and a cause,
//! and is counted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::ends::{Ends, RunOf};
use super::{exists, is_owner_online, job_data, job_node, owner_of};
use crate::config::{JobConfiguration, wire};
use crate::fire::FireState;
use crate::ident::{JobName, ShardingItem};
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::tree::Tree;
use crate::registry::{Op, Transaction, Zxid};
use crate::testing::sim::{EPOCH, Millis};

/// The configurations of the job before it, and what became of its items by them.
#[derive(Debug, Default)]
pub(super) struct Excuses {
    /// The transaction that wrote the configuration in force.
    written: Option<Zxid>,
    /// All that were in force, with the time from which on they were not any more. An unusable one changes nothing.
    configurations: Vec<(Arc<JobConfiguration>, Option<i64>)>,
    /// The one in the registry cannot be used: each instance goes by the last one that it could use.
    is_unusable: bool,
    /// Runs that were cancelled, and were so while failover was off, or may have been for the instance that wrote it: they
    /// count as ended, and an instance that has not seen the switch may take them over all the same.
    given_up: BTreeSet<(RunOf, ShardingItem)>,
    /// When the records of items were deleted that the job has no more.
    deleted: BTreeMap<ShardingItem, i64>,
    counts: BTreeMap<&'static str, u64>,
}

impl Excuses {
    /// Something happened: the configuration may be another one.
    pub(super) fn look(&mut self, now: Millis, tree: &Tree, job: &JobName, ends: &Ends) {
        let Some(node) = job_node(tree, job, &JobPath::Config) else { return };
        if self.written.replace(node.stat.mzxid) == Some(node.stat.mzxid) {
            return;
        }
        let configuration = wire::from_yaml(job, &node.data);
        self.is_unusable = configuration.is_err();
        let Ok(configuration) = configuration else { return };
        if let Some((_, until)) = self.configurations.last_mut() {
            *until = Some(EPOCH + now as i64);
        }
        self.configurations.push((Arc::new(configuration), None));
        if !self.is_failover_on() {
            self.given_up.extend(ends.cancelled());
        }
    }

    /// An item of the job ended its run so with a transaction. An instance that has not seen that failover was switched on
    /// leaves no mark that it is to be taken over.
    pub(super) fn ended(
        &mut self,
        job: &JobName,
        transaction: &Transaction,
        of: RunOf,
        item: ShardingItem,
        state: FireState,
    ) {
        let is_marked = || {
            let mark = JobPath::FailoverItem(item).absolute(job);
            transaction.ops().iter().any(|op| matches!(op, Op::Create { path, .. } if *path == mark))
        };
        if state == FireState::Cancelled && (self.is_unusable || !self.is_failover_on() || !is_marked()) {
            self.given_up.insert((of, item));
        }
    }

    /// A clock that was ahead wrote over the record of an item: nothing says any more that it was to be taken over.
    pub(super) fn begun_ahead(&mut self, item: ShardingItem, ends: &Ends) {
        self.given_up.extend(ends.cancelled().filter(|(_, cancelled)| *cancelled == item));
    }

    /// The job writes this.
    pub(super) fn learn(&mut self, now: Millis, job: &JobName, transaction: &Transaction) {
        for op in transaction.ops() {
            let Some(JobPath::Item(item, ItemNode::Fire)) = JobPath::parse(job, op.path()) else { continue };
            match op {
                Op::Delete { .. } => drop(self.deleted.insert(item, EPOCH + now as i64)),
                Op::Create { .. } => drop(self.deleted.remove(&item)),
                Op::Set { .. } | Op::Check { .. } => {}
            }
        }
    }

    /// Whether cancelled items are taken over.
    pub(super) fn is_failover_on(&self) -> bool {
        self.configurations.last().is_some_and(|(configuration, _)| configuration.failover())
    }

    /// Whether an item that was cancelled counted as ended, as failover was off.
    pub(super) fn is_given_up(&mut self, of: RunOf, item: ShardingItem) -> bool {
        let is_excused = self.given_up.contains(&(of, item));
        self.count("cancelled_without_failover", is_excused)
    }

    /// Whether the job had no fire at this time any more at some time since: it is not known then how it ended.
    pub(super) fn is_off_schedule(&mut self, at: i64) -> bool {
        let since = self.configurations.iter().filter(|(_, until)| until.is_none_or(|until| until > at));
        let mut schedules = since.filter_map(|(configuration, _)| configuration.schedule());
        let is_excused = schedules.any(|schedule| schedule.next_after(at - 1) != Some(at));
        self.count("off_schedule", is_excused)
    }

    /// Whether the leader that decides took office when the job had no such item any more: no record says what it did.
    pub(super) fn is_forgotten(&mut self, tree: &Tree, child: &JobName, item: ShardingItem) -> bool {
        let elected = job_node(tree, child, &JobPath::LeaderInstance).map(|node| node.stat.ctime);
        let is_excused = self.deleted.get(&item).is_some_and(|deleted| elected >= Some(*deleted));
        self.count("removed_before_the_leader_looked", is_excused)
    }

    /// Whether an instance of the job before it that had not heard that the job has no such item any more began it since: no
    /// leader can know of it.
    pub(super) fn is_begun_by_the_total_before(&mut self, tree: &Tree, parent: &JobName, item: ShardingItem) -> bool {
        let began = job_node(tree, parent, &JobPath::running(item)).map(|node| node.stat.ctime);
        let configured = job_node(tree, parent, &JobPath::Config).map(|node| node.stat.mtime);
        self.count("begun_by_the_total_before", configured.is_some() && began >= configured)
    }

    /// Whether the job before it has the item only since after the fire: it had no part in it.
    pub(super) fn is_new(&mut self, tree: &Tree, parent: &JobName, item: ShardingItem, at: i64) -> bool {
        let made = job_node(tree, parent, &JobPath::fire(item)).map(|node| node.stat.ctime);
        self.count("new_item", made > Some(at))
    }

    /// Whether the trigger of an item's owner still waits, as a once-listener does without a bound: with static sharding no instance
    /// runs the items of an instance that is gone, and the round of the fire before waits for them, or for the items of the job
    /// before that they follow.
    pub(super) fn waits_in_round(
        &mut self,
        tree: &Tree,
        [parent, child]: [&JobName; 2],
        item: ShardingItem,
        total: u32,
    ) -> bool {
        let config = job_data(tree, child, &JobPath::Config).and_then(|data| wire::from_yaml(child, &data).ok());
        let may_wait =
            config.is_some_and(|config| config.static_sharding() && config.listener_types().next().is_some());
        let waits = owner_of(tree, child, item).is_some_and(|owner| exists(tree, child, &JobPath::Trigger(owner)));
        let is_left = |other| [parent, child].iter().any(|job| !is_owner_online(tree, job, other));
        let is_excused = may_wait && waits && (0..total).any(is_left);
        self.count("waits_in_round", is_excused)
    }

    fn count(&mut self, excuse: &'static str, is_excused: bool) -> bool {
        if is_excused {
            *self.counts.entry(excuse).or_default() += 1;
        }
        is_excused
    }

    /// How often each excuse held.
    pub(super) fn counts(&self) -> &BTreeMap<&'static str, u64> {
        &self.counts
    }
}
