//! Collects how the items of a job ended, for its fires and for its re-runs.

use std::collections::{BTreeMap, BTreeSet};

use super::job_data;
use crate::fire::{Begun, FireRecord, FireState, Rerun};
use crate::ident::{JobName, ShardingItem};
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::tree::Tree;
use crate::registry::{Op, Transaction};
use crate::testing::sim::Millis;

/// A run of a job that other jobs follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RunOf {
    /// The scheduled fire at this time.
    Fire(i64),
    /// A past fire again.
    Rerun(Rerun),
}

impl RunOf {
    /// What an item has begun; `None` where no job follows that.
    pub(super) fn of(begun: &Begun) -> Option<Self> {
        match begun.manual {
            false => Some(Self::Fire(begun.at)),
            true => begun.rerun().map(Self::Rerun),
        }
    }

    /// What the item runs, as its record says.
    pub(super) fn running(tree: &Tree, job: &JobName, item: ShardingItem) -> Option<Self> {
        FireRecord::parse(&job_data(tree, job, &JobPath::fire(item))?).running().and_then(Self::of)
    }
}

/// What a transaction writes of runs of a job that others follow.
pub(super) fn written(job: &JobName, transaction: &Transaction) -> Vec<(RunOf, ShardingItem, FireState)> {
    let of_op = |op: &Op| {
        let Op::Set { path, data, .. } = op else { return None };
        let Some(JobPath::Item(item, ItemNode::Fire)) = JobPath::parse(job, path) else { return None };
        let begun = FireRecord::parse(data).last?;
        Some((RunOf::of(&begun)?, item, begun.state))
    };
    transaction.ops().iter().filter_map(of_op).collect()
}

/// What is known of the runs of a job.
#[derive(Debug, Default)]
pub(super) struct Ends {
    states: BTreeMap<RunOf, BTreeMap<ShardingItem, FireState>>,
    complete: BTreeMap<RunOf, Millis>,
    /// What a clock that was ahead ran, and nothing else since.
    ahead: BTreeSet<(RunOf, ShardingItem)>,
}

impl Ends {
    /// An item of a job with so many items began a run, or ended it so.
    pub(super) fn learn(&mut self, now: Millis, total: u32, of: RunOf, item: ShardingItem, state: FireState) {
        self.ahead.remove(&(of, item));
        let items = self.states.entry(of).or_default();
        items.insert(item, state);
        if (0..total).all(|item| items.get(&item).is_some_and(|state| !state.is_unfinished())) {
            self.complete.entry(of).or_insert(now);
        }
    }

    /// A clock that was ahead ran this fire of an item before its time: it is over for that item.
    pub(super) fn begun_ahead(&mut self, item: ShardingItem, at: i64) {
        let of = RunOf::Fire(at);
        self.states.entry(of).or_default().insert(item, FireState::Succeeded);
        self.ahead.insert((of, item));
    }

    /// Whether a clock that was ahead ran it for this item, and nothing else did since.
    pub(super) fn is_ahead(&self, of: RunOf, item: ShardingItem) -> bool {
        self.ahead.contains(&(of, item))
    }

    /// How the items ended for it, or that they run; `None` where none has begun.
    pub(super) fn items(&self, of: RunOf) -> Option<&BTreeMap<ShardingItem, FireState>> {
        self.states.get(&of)
    }

    /// When all items had ended for it.
    pub(super) fn complete(&self, of: RunOf) -> Option<Millis> {
        self.complete.get(&of).copied()
    }

    /// The runs that all items have ended, with the time at which they had.
    pub(super) fn all_complete(&self) -> impl DoubleEndedIterator<Item = (RunOf, Millis)> {
        self.complete.iter().map(|(of, at)| (*of, *at))
    }

    /// The runs for which an item was cancelled, and not taken over yet.
    pub(super) fn cancelled(&self) -> impl Iterator<Item = (RunOf, ShardingItem)> {
        self.states.iter().flat_map(|(of, items)| {
            let cancelled = items.iter().filter(|(_, state)| **state == FireState::Cancelled);
            cancelled.map(move |(item, _)| (*of, *item))
        })
    }
}
