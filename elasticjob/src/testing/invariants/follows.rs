//! A job that runs after another one: each of its fires is a fire of that job which has ended as it has to, and no fire that
//! ended so is left out.
//!
//! That no item of it runs twice for a fire, and that no two instances run it at a time, is looked at as for all jobs.

use std::collections::{BTreeMap, BTreeSet};

use super::Observation;
use crate::config::{Dependency, DependencyItems, When, wire};
use crate::engine::{DependencyRecord, DueFire, Notice};
use crate::fire::{Begun, Fire, FireRecord, FireState, Rerun, SkipReason};
use crate::ident::{InstanceId, JobName, ShardingItem};
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::tree::Tree;
use crate::registry::{Op, Transaction};
use crate::testing::sim::{EPOCH, Millis};

/// How long the leader may take to decide, once nothing goes wrong.
const DECIDES: Millis = 8_000;

/// The same where items follow items with the same number: a fire leaves time to the one before it.
const DECIDES_ITEMS: Millis = 25_000;

/// For so long it does, in milliseconds.
const LEAVES_TIME: i64 = 10_000;

/// The same by a clock that is too fast.
const LEAVES_TIME_AT_LEAST: Millis = 9_000;

/// How long an instance may take to begin what it was triggered for: the run before ends first.
const BEGINS: Millis = 40_000;

/// What is further ahead than this came by a wrong clock, in milliseconds.
const FAR: i64 = 60_000;

/// What is known of the job before it.
#[derive(Debug)]
pub(crate) struct Follows {
    parent: JobName,
    child: JobName,
    when: When,
    items: DependencyItems,
    /// How the items of that job ended for its scheduled fires, or that they run.
    ends: BTreeMap<i64, BTreeMap<ShardingItem, FireState>>,
    /// When all items had ended.
    complete: BTreeMap<i64, Millis>,
    /// The fire that was due last. Items that the job before gets after the decision may still begin that fire.
    due: Option<i64>,
    /// What the leader wrote last.
    record: Option<DependencyRecord>,
    /// When items were released, by the time of the fire and that of the release.
    released: BTreeMap<(i64, i64), Millis>,
    /// Items that were disabled at some time: they may begin a fire after it was decided without them.
    disabled: BTreeSet<ShardingItem>,
    /// Fires that an instance said that it does not run, as its items still ran for an earlier one.
    busy: BTreeSet<(i64, InstanceId)>,
    calm_since: Option<Millis>,
    reruns: BTreeMap<Rerun, FollowsAgain>,
}

/// A fire of the job before it that an operator runs again.
#[derive(Debug, Default)]
struct FollowsAgain {
    /// How the items of that job ended for it, or that they run.
    ends: BTreeMap<ShardingItem, FireState>,
    /// When all items had ended.
    complete: Option<Millis>,
    /// When the job after it was triggered.
    triggered: Option<Millis>,
    /// The items of that job which have begun for it.
    begun: BTreeSet<ShardingItem>,
}

impl Follows {
    pub(crate) fn new(child: JobName, after: &Dependency) -> Self {
        Self {
            parent: after.job.clone(),
            child,
            when: after.when,
            items: after.items,
            ends: BTreeMap::new(),
            complete: BTreeMap::new(),
            due: None,
            record: None,
            released: BTreeMap::new(),
            disabled: BTreeSet::new(),
            busy: BTreeSet::new(),
            calm_since: None,
            reruns: BTreeMap::new(),
        }
    }

    /// An item of the job before it has a record of a run by a clock that was ahead. Its fire is over for that item.
    pub(crate) fn begun_ahead(&mut self, item: ShardingItem, at: i64) {
        self.ends.entry(at).or_default().insert(item, FireState::Succeeded);
    }

    /// An instance of the job says something.
    pub(crate) fn hear(&mut self, instance: &InstanceId, notice: &Notice) {
        if let Notice::Skipped { fire: Fire::Scheduled(at), reason: SkipReason::StillRunning { .. }, .. } = notice {
            self.busy.insert((*at, instance.clone()));
        }
    }

    /// Looks at what happened, in a group whose first job has so many items.
    pub(crate) fn check(
        &mut self,
        now: Millis,
        total: u32,
        tree: &Tree,
        observation: &Observation<'_>,
    ) -> Result<(), String> {
        match observation {
            Observation::Committed { transaction, .. } => {
                self.learn(now, total, tree, transaction);
                self.learn_reruns(now, total, transaction);
                self.check_reruns(now, total, tree, transaction)?;
                self.check_decision(now, total, tree, transaction)?;
                self.check_begins(tree, transaction)
            }
            Observation::Converged => {
                self.calm_since = Some(now);
                Ok(())
            }
            Observation::Calm { .. } => {
                self.check_reruns_complete(now, total, tree)?;
                self.check_complete(now, total, tree)
            }
            _ => Ok(()),
        }
    }

    fn learn(&mut self, now: Millis, total: u32, tree: &Tree, transaction: &Transaction) {
        for op in transaction.ops() {
            let (Op::Set { path, data, .. }, parent) = (op, &self.parent) else { continue };
            let Some(JobPath::Item(item, ItemNode::Fire)) = JobPath::parse(parent, path) else { continue };
            let Some(begun) = FireRecord::parse(data).last.filter(|begun| !begun.manual) else { continue };
            self.ends.entry(begun.at).or_default().insert(item, begun.state);
            let items = &self.ends[&begun.at];
            if (0..total).all(|item| items.get(&item).is_some_and(|state| !state.is_unfinished())) {
                self.complete.entry(begun.at).or_insert(now);
            }
        }
        let is_disabled = |item: &ShardingItem| exists(tree, &self.parent, &JobPath::Item(*item, ItemNode::Disabled));
        self.disabled.extend((0..total).filter(is_disabled));
    }

    fn learn_reruns(&mut self, now: Millis, total: u32, transaction: &Transaction) {
        for op in transaction.ops() {
            let Op::Set { path, data, .. } = op else { continue };
            let of_parent = JobPath::parse(&self.parent, path);
            let path = of_parent.clone().or_else(|| JobPath::parse(&self.child, path));
            let Some(JobPath::Item(item, ItemNode::Fire)) = path else { continue };
            let Some(begun) = FireRecord::parse(data).last else { continue };
            let Some(rerun) = begun.rerun() else { continue };
            let known = self.reruns.entry(rerun).or_default();
            if of_parent.is_none() {
                known.begun.insert(item);
                continue;
            }
            known.ends.insert(item, begun.state);
            if (0..total).all(|item| known.ends.get(&item).is_some_and(|state| !state.is_unfinished())) {
                known.complete.get_or_insert(now);
            }
        }
    }

    /// A fire is followed again with this transaction.
    fn check_reruns(&mut self, now: Millis, total: u32, tree: &Tree, transaction: &Transaction) -> Result<(), String> {
        let node = JobPath::Dependencies.absolute(&self.child);
        let written = transaction.ops().iter().find_map(|op| match op {
            Op::Set { path, data, .. } if *path == node => DependencyRecord::parse(data),
            _ => None,
        });
        let followed = written.into_iter().flat_map(|record| record.reruns);
        for rerun in
            followed.filter(|known| known.decided.is_some() && known.skipped.is_none()).map(|known| known.rerun)
        {
            let known = self.reruns.entry(rerun).or_default();
            if known.triggered.replace(now).is_some() {
                continue;
            }
            // Of one that was asked for long ago it may be known no more how it ended.
            let is_young = EPOCH + now as i64 - rerun.asked < FAR;
            if is_young && known.ends.is_empty() {
                return Err(format!("{rerun:?} is followed, and no item of job '{}' has begun for it", self.parent));
            }
            for (item, state) in known.ends.iter().filter(|_| is_young) {
                // One that was lost has no end of its own, and may have gone on with a later fire.
                let record = data(tree, &self.parent, &JobPath::fire(*item)).map(|data| FireRecord::parse(&data));
                let runs = record.is_some_and(|record| record.running().and_then(Begun::rerun) == Some(rerun));
                // An item that the job has no more is not taken over: it runs as long as it has its mark.
                let is_lost = *item >= total && !exists(tree, &self.parent, &JobPath::running(*item));
                if runs && !is_lost {
                    return Err(format!("{rerun:?} is followed, and item {item} of job '{}' still runs", self.parent));
                }
                if self.when == When::Succeeded && *state == FireState::Failed {
                    return Err(format!("{rerun:?} is followed, and item {item} of job '{}' failed", self.parent));
                }
            }
        }
        Ok(())
    }

    /// A stretch without faults is over.
    fn check_reruns_complete(&self, now: Millis, total: u32, tree: &Tree) -> Result<(), String> {
        let Some(since) = self.calm_since else { return Ok(()) };
        let decided = data(tree, &self.child, &JobPath::Dependencies).and_then(|data| DependencyRecord::parse(&data));
        let noted = decided.iter().flat_map(|record| &record.reruns).filter(|known| known.decided.is_none());
        for rerun in noted.map(|known| known.rerun) {
            let ended = self.reruns.get(&rerun).and_then(|known| known.complete);
            if ended.is_some_and(|at| (since..now.saturating_sub(DECIDES)).contains(&at)) {
                return Err(format!("job '{}' ended {rerun:?}, and nothing was decided on it", self.parent));
            }
        }
        for (rerun, known) in &self.reruns {
            let begins = since..now.saturating_sub(BEGINS);
            if !known.triggered.is_some_and(|at| begins.contains(&at)) {
                continue;
            }
            for item in (0..total).filter(|item| !known.begun.contains(item)) {
                let is_disabled = exists(tree, &self.child, &JobPath::Item(item, ItemNode::Disabled));
                if !is_disabled && self.is_owner_online(tree, item) {
                    return Err(format!("item {item} of job '{}' was not begun for {rerun:?}", self.child));
                }
            }
        }
        Ok(())
    }

    fn is_owner_online(&self, tree: &Tree, item: ShardingItem) -> bool {
        let owner = data(tree, &self.child, &JobPath::owner_of(item));
        let owner = owner.and_then(|owner| InstanceId::new(std::str::from_utf8(&owner).ok()?).ok());
        owner.is_some_and(|owner| exists(tree, &self.child, &JobPath::Instance(owner)))
    }

    /// The leader decides with this transaction.
    fn check_decision(
        &mut self,
        now: Millis,
        total: u32,
        tree: &Tree,
        transaction: &Transaction,
    ) -> Result<(), String> {
        let node = JobPath::Dependencies.absolute(&self.child);
        let (written, is_new) = match transaction.ops().iter().find(|op| op.path() == node) {
            Some(Op::Set { data, .. }) => (DependencyRecord::parse(data), false),
            Some(Op::Create { data, .. }) => (DependencyRecord::parse(data), true),
            _ => return Ok(()),
        };
        let Some(written) = written else { return Ok(()) };
        if let (Some(due), Some(items)) = (written.due, &written.items) {
            for released in &items.released {
                self.released.entry((due.at, released.since)).or_insert(now);
            }
        }
        let before = self.record.replace(written.clone()).filter(|_| !is_new);
        let Some(due) = written.due.filter(|_| !is_new) else { return Ok(()) };
        if self.due.replace(due.at) == Some(due.at) {
            return Ok(());
        }
        if let Some(before) = before {
            self.check_time_left(now, total, tree, &before, due)?;
        }
        let Some(items) = self.ends.get(&due.at) else {
            return Err(format!("the fire {} is due, which no item of job '{}' has begun", due.at, self.parent));
        };
        let is_released = |item: &ShardingItem| {
            let released = written.items.iter().flat_map(|items| &items.released);
            written.items.is_none() || released.into_iter().any(|released| released.items.contains(*item))
        };
        let is_meant = |item: &ShardingItem| is_released(item) && !self.disabled.contains(item);
        for (item, state) in items.iter().filter(|(item, _)| is_meant(item)) {
            let runs = self.running(tree, *item).map(|begun| begun.at);
            // An item that the job has no more is not taken over: it runs as long as it has its mark.
            let is_lost = *item >= total && !exists(tree, &self.parent, &JobPath::running(*item));
            if runs == Some(due.at) && !is_lost {
                return Err(format!("the fire {} is due, and item {item} of job '{}' still runs", due.at, self.parent));
            }
            if self.when == When::Succeeded && *state == FireState::Failed {
                return Err(format!("the fire {} is due, and item {item} of job '{}' failed", due.at, self.parent));
            }
        }
        Ok(())
    }

    /// The run of an item of the job before it, as its record says.
    fn running(&self, tree: &Tree, item: ShardingItem) -> Option<Begun> {
        let record = FireRecord::parse(&data(tree, &self.parent, &JobPath::fire(item))?);
        record.running().filter(|begun| !begun.manual).cloned()
    }

    /// Another fire becomes due: items of the one before it that were released a moment ago have to be begun, or noted as
    /// missed, by then.
    fn check_time_left(
        &self,
        now: Millis,
        total: u32,
        tree: &Tree,
        before: &DependencyRecord,
        next: DueFire,
    ) -> Result<(), String> {
        let wall = EPOCH + now as i64;
        let Some(at) = before.due.map(|due| due.at).filter(|at| *at <= wall) else { return Ok(()) };
        // With misfire off, what falls into a run is not recorded before that is over. A leader may go by earlier settings.
        let Some(config) = tree.get(&JobPath::Config.absolute(&self.child)).ok().flatten() else { return Ok(()) };
        let makes_up = wire::from_yaml(&self.child, &config.data).is_ok_and(|configuration| configuration.misfire());
        if self.items == DependencyItems::All || !makes_up || config.stat.mtime > wall - 2 * LEAVES_TIME {
            return Ok(());
        }
        for item in 0..total {
            let released = before.items.iter().flat_map(|items| &items.released);
            let since = released.into_iter().find(|released| released.items.contains(item));
            let Some(since) = since.map(|released| released.since) else { continue };
            // The clock of the leader may have been set back, and it may be too fast.
            let known_for = self.released.get(&(at, since)).map(|at| now - at);
            let is_fresh = known_for.is_some_and(|known_for| known_for < LEAVES_TIME_AT_LEAST)
                && (0..=LEAVES_TIME).contains(&(next.since - since));
            let Some(record) = data(tree, &self.child, &JobPath::fire(item)) else { continue };
            let record = FireRecord::parse(&record);
            let is_taken = record.covers(Fire::Scheduled(at)) || record.missed >= Some(at);
            let is_disabled = exists(tree, &self.child, &JobPath::Item(item, ItemNode::Disabled));
            if is_fresh && !is_taken && !is_disabled {
                return Err(format!(
                    "the fire {} is due, and item {item} was released for the fire {at} a moment before and is not begun",
                    next.at
                ));
            }
        }
        Ok(())
    }

    /// Items begin with this transaction: what they follow has ended as it has to.
    fn check_begins(&self, tree: &Tree, transaction: &Transaction) -> Result<(), String> {
        if self.items == DependencyItems::All {
            return Ok(());
        }
        for op in transaction.ops() {
            let Op::Set { path, data: written, .. } = op else { continue };
            let Some(JobPath::Item(item, ItemNode::Fire)) = JobPath::parse(&self.child, path) else { continue };
            let record = FireRecord::parse(written);
            let Some(at) = record.running().filter(|begun| !begun.manual).map(|begun| begun.at) else { continue };
            if self.disabled.contains(&item) {
                continue;
            }
            let ended = self.ends.get(&at).and_then(|items| items.get(&item));
            let before = data(tree, &self.parent, &JobPath::fire(item)).map(|data| FireRecord::parse(&data));
            let is_to_begin = before.is_some_and(|record| !record.covers(Fire::Scheduled(at)));
            let wrong = match ended {
                _ if self.running(tree, item).is_some_and(|begun| begun.at == at) => "still runs",
                None if is_to_begin => "has not begun",
                ended if self.when == When::Succeeded && ended != Some(&FireState::Succeeded) => "did not succeed",
                _ => continue,
            };
            return Err(format!(
                "item {item} begins for the fire {at}, and that item of job '{}' {wrong}",
                self.parent
            ));
        }
        Ok(())
    }

    /// A stretch without faults is over.
    fn check_complete(&self, now: Millis, total: u32, tree: &Tree) -> Result<(), String> {
        let Some(since) = self.calm_since else { return Ok(()) };
        let decides = if self.items == DependencyItems::Same { DECIDES_ITEMS } else { DECIDES };
        let decided = data(tree, &self.child, &JobPath::Dependencies).and_then(|data| DependencyRecord::parse(&data));
        let mut ended = self.complete.iter().filter(|(_, at)| (since..now.saturating_sub(decides)).contains(at));
        let Some((at, _)) = ended.next_back() else { return Ok(()) };
        // Fires that a clock that was ahead ran before their time say nothing of the others.
        let is_decided = |record: &DependencyRecord| {
            let oldest = record.decided.iter().map(|fire| fire.at).min();
            record.decided.iter().any(|fire| fire.at == *at) || oldest > Some(*at) && record.through > *at
        };
        let Some(decided) = decided.filter(is_decided) else {
            return Err(format!("job '{}' ended its fire {at}, and nothing was decided on it", self.parent));
        };
        if decided.due.map(|due| due.at) != Some(*at) {
            return Ok(());
        }
        let is_ahead = |at: i64| at > EPOCH + now as i64 + FAR;
        for item in 0..total {
            let Some(data) = data(tree, &self.child, &JobPath::fire(item)) else { continue };
            let record = FireRecord::parse(&data);
            let is_known = record.missed >= Some(*at)
                || record.running().is_some()
                || record.through >= Some(*at)
                    && record.last.as_ref().is_none_or(|last| last.at <= *at || !is_ahead(last.at));
            let is_disabled = exists(tree, &self.child, &JobPath::Item(item, ItemNode::Disabled));
            if !is_known && !is_disabled && self.is_owner_free(tree, item, *at) {
                return Err(format!("item {item} of job '{}' was not begun for its fire {at}", self.child));
            }
        }
        Ok(())
    }

    /// Whether the instance that has the item could begin it: with static sharding it may not be online, and what still ran
    /// for an earlier fire keeps it from all its items. Whether items are assigned is looked at elsewhere.
    fn is_owner_free(&self, tree: &Tree, item: ShardingItem, at: i64) -> bool {
        let owner = data(tree, &self.child, &JobPath::owner_of(item));
        let owner = owner.and_then(|owner| InstanceId::new(std::str::from_utf8(&owner).ok()?).ok());
        owner.is_none_or(|owner| {
            exists(tree, &self.child, &JobPath::Instance(owner.clone())) && !self.busy.contains(&(at, owner))
        })
    }
}

fn data(tree: &Tree, job: &JobName, path: &JobPath) -> Option<crate::registry::Data> {
    Some(tree.get(&path.absolute(job)).ok()??.data)
}

fn exists(tree: &Tree, job: &JobName, path: &JobPath) -> bool {
    data(tree, job, path).is_some()
}
