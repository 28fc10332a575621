//! Re-runs of the job before it: the job after it follows each when it has ended as it has to, and once.

use std::collections::{BTreeMap, BTreeSet};

use super::ends::{RunOf, written};
use super::excuses::Excuses;
use super::{Follows, exists, is_owner_online, job_children, job_data};
use crate::engine::{DependencyRecord, Notice};
use crate::fire::{Fire, Rerun, SkipReason};
use crate::ident::ShardingItem;
use crate::registry::Transaction;
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::tree::Tree;
use crate::testing::sim::Millis;

/// How long the leader waits at least for an item to begin a re-run that none has begun, by a clock that is too fast.
const SETTLES_AT_LEAST: Millis = 11_000;

/// The same at most, by a clock that is too slow.
const SETTLES: Millis = 13_000;

/// How long an instance may take to begin what it was triggered for: the run before ends first.
const BEGINS: Millis = 40_000;

/// What is known of the re-runs that were asked for.
#[derive(Debug, Default)]
pub(super) struct FollowedReruns(BTreeMap<Rerun, FollowedRerun>);

#[derive(Debug, Default)]
struct FollowedRerun {
    /// When no trigger waited at the job before it first.
    taken: Option<Millis>,
    /// Since when none waits, for whatever it was triggered.
    free_since: Option<Millis>,
    /// When the job after it was triggered.
    triggered: Option<Millis>,
    /// The items of that job which have begun for it.
    begun: BTreeSet<ShardingItem>,
    /// The items whose owners said that they still run where they were before: nobody begins them for it.
    ran_elsewhere: BTreeSet<ShardingItem>,
}

impl FollowedReruns {
    /// An operator asks for one.
    pub(super) fn asked(&mut self, rerun: Rerun) {
        self.0.entry(rerun).or_default();
    }

    /// An instance of the job after it says something.
    pub(super) fn hear(&mut self, notice: &Notice) {
        if let Notice::Skipped { fire: Fire::Manual { rerun: Some(rerun), .. }, items, reason } = notice
            && matches!(reason, SkipReason::RunsElsewhere { .. })
        {
            self.0.entry(*rerun).or_default().ran_elsewhere.extend(items);
        }
    }
}

impl Follows {
    pub(super) fn learn_reruns(&mut self, now: Millis, tree: &Tree, transaction: &Transaction) {
        for (of, item, _) in written(&self.child, transaction) {
            if let RunOf::Rerun(rerun) = of {
                self.reruns.0.entry(rerun).or_default().begun.insert(item);
            }
        }
        let is_free = job_children(tree, &self.parent, &JobPath::Triggers).is_empty();
        for known in self.reruns.0.values_mut() {
            if is_free {
                known.taken.get_or_insert(now);
                known.free_since.get_or_insert(now);
            } else {
                known.free_since = None;
            }
        }
    }

    /// A fire is followed again with this transaction.
    pub(super) fn check_reruns(
        &mut self,
        now: Millis,
        total: u32,
        tree: &Tree,
        transaction: &Transaction,
    ) -> Result<(), String> {
        let written = self.written_by(transaction).filter(|(_, is_new)| !is_new);
        let followed = written.into_iter().flat_map(|(record, _)| record.reruns);
        let followed = followed.filter(|known| known.decided.is_some() && known.skipped.is_none());
        for rerun in followed.map(|known| known.rerun) {
            let known = self.reruns.0.entry(rerun).or_default();
            if known.triggered.is_some() {
                continue;
            }
            known.triggered = Some(now);
            let of = RunOf::Rerun(rerun);
            let is_settled = known.taken.is_some_and(|taken| now >= taken + SETTLES_AT_LEAST);
            if self.ends.items(of).is_none() && !is_settled {
                return Err(format!("{rerun:?} is followed, and no item of job '{}' has begun for it", self.parent));
            }
            for (item, state) in self.ends.items(of).cloned().unwrap_or_default() {
                self.check_end(total, tree, of, item, state)
                    .map_err(|why| format!("{rerun:?} is followed, and {why}"))?;
            }
        }
        Ok(())
    }

    /// A stretch without faults is over.
    pub(super) fn check_reruns_complete(&mut self, now: Millis, total: u32, tree: &Tree) -> Result<(), String> {
        let Some(since) = self.calm_since else { return Ok(()) };
        let decided = job_data(tree, &self.child, &JobPath::Dependencies);
        let decided = decided.and_then(|data| DependencyRecord::parse(&data));
        let noted = decided.iter().flat_map(|record| &record.reruns).filter(|known| known.decided.is_none());
        for rerun in noted.map(|known| known.rerun) {
            let over = self.is_over_since(since, rerun);
            // An instance has one trigger at a time: the next one is not written while one waits.
            let jobs = [&self.parent, &self.child];
            let waits = |excuses: &mut Excuses| (0..total).any(|item| excuses.waits_in_round(tree, jobs, item, total));
            if over.is_some_and(|at| (since..now.saturating_sub(super::DECIDES)).contains(&at))
                && !waits(&mut self.excuses)
            {
                return Err(format!("{rerun:?} of job '{}' is over, and nothing was decided on it", self.parent));
            }
        }
        for (rerun, known) in &self.reruns.0 {
            let begins = since..now.saturating_sub(BEGINS);
            if !known.triggered.is_some_and(|at| begins.contains(&at)) {
                continue;
            }
            let is_settled = |item: &ShardingItem| known.begun.contains(item) || known.ran_elsewhere.contains(item);
            for item in (0..total).filter(|item| !is_settled(item)) {
                let is_disabled = exists(tree, &self.child, &JobPath::Item(item, ItemNode::Disabled));
                let is_free = is_owner_online(tree, &self.child, item)
                    && !self.excuses.waits_in_round(tree, [&self.parent, &self.child], item, total);
                if !is_disabled && is_free {
                    return Err(format!("item {item} of job '{}' was not begun for {rerun:?}", self.child));
                }
            }
        }
        Ok(())
    }

    /// Since when a re-run is over: all items have ended, or none has begun for long after the triggers were taken.
    fn is_over_since(&self, calm_since: Millis, rerun: Rerun) -> Option<Millis> {
        let of = RunOf::Rerun(rerun);
        if self.ends.items(of).is_some() {
            return self.ends.complete(of);
        }
        // The leader sees a trigger that waits for something else, too.
        let free_since = self.reruns.0.get(&rerun).and_then(|known| known.free_since)?;
        Some(free_since.max(calm_since) + SETTLES)
    }
}
