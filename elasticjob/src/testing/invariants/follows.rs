//! A job that runs after another one: each of its fires is a fire of that job which has ended as it has to, and no fire that
//! ended so is left out.
//!
//! That no item of it runs twice for a fire, and that no two instances run it at a time, is looked at as for all jobs.

mod ends;
mod excuses;
mod passed_over;
mod reruns;

use std::collections::{BTreeMap, BTreeSet};

use self::ends::{Ends, RunOf, written};
use self::excuses::Excuses;
use self::passed_over::PassedOver;
use self::reruns::FollowedReruns;
use super::Observation;
use crate::config::{Dependency, DependencyItems, When, wire};
use crate::engine::{DependencyRecord, DueFire, Notice};
use crate::fire::{Fire, FireRecord, FireState, Rerun, SkipReason};
use crate::ident::{InstanceId, JobName, ShardingItem};
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::tree::Tree;
use crate::registry::{Data, NodeData, Op, Transaction};
use crate::testing::sim::{EPOCH, Millis};

/// How long the leader may take to decide, once nothing goes wrong.
const DECIDES: Millis = 8_000;

/// The same where items follow items with the same number: a fire leaves time to the one before it.
const DECIDES_ITEMS: Millis = 25_000;

/// For so long it does, in milliseconds.
const LEAVES_TIME: i64 = 10_000;

/// The same by a clock that is too fast.
const LEAVES_TIME_AT_LEAST: Millis = 9_000;

/// What is further ahead than this came by a wrong clock, in milliseconds.
const FAR: i64 = 60_000;

/// How long it may take until the leader hears of an instance, in milliseconds.
const HEARD: i64 = 1_000;

/// What is known of the job before it.
#[derive(Debug)]
pub(crate) struct Follows {
    parent: JobName,
    child: JobName,
    when: When,
    items: DependencyItems,
    ends: Ends,
    excuses: Excuses,
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
    /// Items that moved since, and that their new owner says to be too late.
    too_late: BTreeSet<(i64, ShardingItem)>,
    passed_over: PassedOver,
    calm_since: Option<Millis>,
    reruns: FollowedReruns,
}

impl Follows {
    pub(crate) fn new(child: JobName, after: &Dependency) -> Self {
        Self {
            parent: after.job.clone(),
            child,
            when: after.when,
            items: after.items,
            ends: Ends::default(),
            excuses: Excuses::default(),
            due: None,
            record: None,
            released: BTreeMap::new(),
            disabled: BTreeSet::new(),
            busy: BTreeSet::new(),
            too_late: BTreeSet::new(),
            passed_over: PassedOver::default(),
            calm_since: None,
            reruns: FollowedReruns::default(),
        }
    }

    /// An item of the job before it has a record of a run by a clock that was ahead. Its fire is over for that item.
    pub(crate) fn begun_ahead(&mut self, item: ShardingItem, at: i64) {
        self.excuses.begun_ahead(item, &self.ends);
        self.ends.begun_ahead(item, at);
    }

    /// An operator runs a fire of the job before it again.
    pub(crate) fn asked(&mut self, rerun: Rerun) {
        self.reruns.asked(rerun);
    }

    /// How often each excuse held.
    pub(crate) fn excused(&self) -> &BTreeMap<&'static str, u64> {
        self.excuses.counts()
    }

    /// An instance of the job says something.
    pub(crate) fn hear(&mut self, instance: &InstanceId, notice: &Notice) {
        self.reruns.hear(notice);
        self.passed_over.hear(notice);
        let Notice::Skipped { fire: Fire::Scheduled(at), items, reason } = notice else { return };
        match reason {
            SkipReason::StillRunning { .. } => {
                self.busy.insert((*at, instance.clone()));
            }
            SkipReason::TooLate { .. } => self.too_late.extend(items.iter().map(|item| (*at, *item))),
            _ => {}
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
        self.excuses.look(now, tree, &self.parent, &self.ends);
        match observation {
            Observation::Committed { transaction, .. } => {
                self.learn(now, total, tree, transaction);
                self.learn_reruns(now, tree, transaction);
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
        self.excuses.learn(now, &self.parent, transaction);
        for (of, item, state) in written(&self.parent, transaction) {
            self.ends.learn(now, total, of, item, state);
            self.excuses.ended(&self.parent, transaction, of, item, state);
        }
        let is_disabled = |item: &ShardingItem| exists(tree, &self.parent, &JobPath::Item(*item, ItemNode::Disabled));
        self.disabled.extend((0..total).filter(is_disabled));
    }

    /// The leader takes the run of an item of the job before it for over, and as it has to be.
    fn check_end(
        &mut self,
        total: u32,
        tree: &Tree,
        of: RunOf,
        item: ShardingItem,
        state: FireState,
    ) -> Result<(), String> {
        let parent = &self.parent;
        // An item that the job has no more is not taken over: it runs as long as it has its mark.
        let is_former = item >= total;
        let is_lost = is_former && !exists(tree, parent, &JobPath::running(item));
        let runs = RunOf::running(tree, parent, item) == Some(of);
        let began_since = |excuses: &mut Excuses| is_former && excuses.is_begun_by_the_total_before(tree, parent, item);
        if runs && !is_lost && !self.excuses.is_given_up(of, item) && !began_since(&mut self.excuses) {
            return Err(format!("item {item} of job '{parent}' still runs"));
        }
        let is_taken_over = state == FireState::Cancelled && self.excuses.is_failover_on();
        if is_taken_over && !is_former && !self.excuses.is_given_up(of, item) {
            return Err(format!("item {item} of job '{parent}' was cancelled, and is to be taken over"));
        }
        let has_failed = self.when == When::Succeeded && state == FireState::Failed;
        if has_failed && !(is_former && self.excuses.is_forgotten(tree, &self.child, item)) {
            return Err(format!("item {item} of job '{parent}' failed"));
        }
        Ok(())
    }

    /// What a transaction writes of the decisions, and whether it creates their node.
    fn written_by(&self, transaction: &Transaction) -> Option<(DependencyRecord, bool)> {
        let node = JobPath::Dependencies.absolute(&self.child);
        let (data, is_new) = match transaction.ops().iter().find(|op| op.path() == node)? {
            Op::Set { data, .. } => (data, false),
            Op::Create { data, .. } => (data, true),
            _ => return None,
        };
        Some((DependencyRecord::parse(data)?, is_new))
    }

    /// The leader decides with this transaction.
    fn check_decision(
        &mut self,
        now: Millis,
        total: u32,
        tree: &Tree,
        transaction: &Transaction,
    ) -> Result<(), String> {
        let Some((written, is_new)) = self.written_by(transaction) else { return Ok(()) };
        if let (Some(due), Some(items)) = (written.due, &written.items) {
            for released in &items.released {
                self.released.entry((due.at, released.since)).or_insert(now);
            }
        }
        let made = || job_node(tree, &self.child, &JobPath::Config).map_or(0, |node| node.stat.mtime);
        self.passed_over.learn(now, tree, &self.parent, &written, is_new.then(made));
        let before = self.record.replace(written.clone()).filter(|_| !is_new);
        let Some(due) = written.due.filter(|_| !is_new) else { return Ok(()) };
        if self.due.replace(due.at) == Some(due.at) {
            return Ok(());
        }
        if let Some(before) = before {
            self.check_time_left(now, total, tree, &before, due)?;
        }
        let of = RunOf::Fire(due.at);
        let Some(items) = self.ends.items(of).cloned() else {
            return Err(format!("the fire {} is due, which no item of job '{}' has begun", due.at, self.parent));
        };
        let is_released = |item: ShardingItem| {
            let released = written.items.iter().flat_map(|items| &items.released);
            written.items.is_none() || released.into_iter().any(|released| released.items.contains(item))
        };
        for (item, state) in items {
            if is_released(item) && !self.disabled.contains(&item) {
                let checked = self.check_end(total, tree, of, item, state);
                checked.map_err(|why| format!("the fire {} is due, and {why}", due.at))?;
            }
        }
        Ok(())
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
        let Ok(settings) = wire::from_yaml(&self.child, &config.data) else { return Ok(()) };
        if self.items == DependencyItems::All || !settings.misfire() || config.stat.mtime > wall - 2 * LEAVES_TIME {
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
            let Some(record) = job_data(tree, &self.child, &JobPath::fire(item)) else { continue };
            let record = FireRecord::parse(&record);
            let is_taken = record.covers(Fire::Scheduled(at)) || record.missed >= Some(at);
            let is_disabled = exists(tree, &self.child, &JobPath::Item(item, ItemNode::Disabled));
            // No other instance begins what static sharding leaves to one that is gone. The leader may not have heard yet that it
            // is back.
            let may_begin = !settings.static_sharding()
                || owner_since(tree, &self.child, item).is_some_and(|since| since <= wall - HEARD);
            if is_fresh && !is_taken && !is_disabled && may_begin {
                return Err(format!(
                    "the fire {} is due, and item {item} was released for the fire {at} a moment before and is not begun",
                    next.at
                ));
            }
        }
        Ok(())
    }

    /// Items begin with this transaction: what they follow has ended as it has to.
    fn check_begins(&mut self, tree: &Tree, transaction: &Transaction) -> Result<(), String> {
        if self.items == DependencyItems::All {
            return Ok(());
        }
        for (of, item, state) in written(&self.child, transaction) {
            let RunOf::Fire(at) = of else { continue };
            if state != FireState::Running || self.disabled.contains(&item) {
                continue;
            }
            let ended = self.ends.items(of).and_then(|items| items.get(&item));
            let before = job_data(tree, &self.parent, &JobPath::fire(item)).map(|data| FireRecord::parse(&data));
            let is_to_begin = before.is_some_and(|record| !record.covers(Fire::Scheduled(at)));
            let wrong = match ended {
                _ if RunOf::running(tree, &self.parent, item) == Some(of) => {
                    if self.excuses.is_given_up(of, item) {
                        continue;
                    }
                    "still runs"
                }
                None if is_to_begin
                    && !self.excuses.is_off_schedule(at)
                    && !self.excuses.is_new(tree, &self.parent, item, at) =>
                {
                    "has not begun"
                }
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
        let decided =
            job_data(tree, &self.child, &JobPath::Dependencies).and_then(|data| DependencyRecord::parse(&data));
        let ended = self.ends.all_complete().filter(|(_, at)| (since..now.saturating_sub(decides)).contains(at));
        // The fires before it wait for an item that only a clock ahead ran, and that static sharding leaves to an instance
        // that is gone.
        let is_held_up = |of| {
            let mut ahead = (0..total).filter(|item| self.ends.is_ahead(of, *item));
            ahead.any(|item| !is_owner_online(tree, &self.parent, item))
        };
        let fires = ended.filter(|(of, _)| !is_held_up(*of)).filter_map(|(of, _)| match of {
            RunOf::Fire(at) => Some(at),
            RunOf::Rerun(_) => None,
        });
        let fires: Vec<i64> = fires.collect();
        if let Some(at) = fires.iter().find(|at| !self.passed_over.is_decided(**at)) {
            return Err(format!("job '{}' ended its fire {at}, and nothing was decided on it", self.parent));
        }
        if let Some(at) = self.passed_over.unnamed(since..now.saturating_sub(DECIDES)) {
            return Err(format!("the leader passed over the fire {at} of job '{}' and said nothing", self.parent));
        }
        let due = decided.and_then(|record| record.due).map(|due| due.at);
        let Some(at) = fires.last().copied().filter(|at| due == Some(*at)) else { return Ok(()) };
        let is_ahead = |at: i64| at > EPOCH + now as i64 + FAR;
        for item in 0..total {
            let Some(data) = job_data(tree, &self.child, &JobPath::fire(item)) else { continue };
            let record = FireRecord::parse(&data);
            let is_known = record.missed >= Some(at)
                || record.running().is_some()
                || record.through >= Some(at)
                    && record.last.as_ref().is_none_or(|last| last.at <= at || !is_ahead(last.at));
            let is_disabled = exists(tree, &self.child, &JobPath::Item(item, ItemNode::Disabled));
            let is_said = self.too_late.contains(&(at, item));
            if !is_known && !is_disabled && !is_said && self.is_owner_free(tree, item, at) {
                return Err(format!("item {item} of job '{}' was not begun for its fire {at}", self.child));
            }
        }
        Ok(())
    }

    /// Whether the instance that has the item could begin it: with static sharding it may not be online, and what still ran
    /// for an earlier fire keeps it from all its items. Whether items are assigned is looked at elsewhere.
    fn is_owner_free(&self, tree: &Tree, item: ShardingItem, at: i64) -> bool {
        owner_of(tree, &self.child, item).is_none_or(|owner| {
            exists(tree, &self.child, &JobPath::Instance(owner.clone())) && !self.busy.contains(&(at, owner))
        })
    }
}

fn job_node(tree: &Tree, job: &JobName, path: &JobPath) -> Option<NodeData> {
    tree.get(&path.absolute(job)).ok().flatten()
}

fn job_data(tree: &Tree, job: &JobName, path: &JobPath) -> Option<Data> {
    job_node(tree, job, path).map(|node| node.data)
}

fn job_children(tree: &Tree, job: &JobName, path: &JobPath) -> Vec<String> {
    tree.children(&path.absolute(job)).ok().flatten().unwrap_or_default()
}

fn exists(tree: &Tree, job: &JobName, path: &JobPath) -> bool {
    job_node(tree, job, path).is_some()
}

/// Whether the instance that has an item is there.
fn is_owner_online(tree: &Tree, job: &JobName, item: ShardingItem) -> bool {
    owner_since(tree, job, item).is_some()
}

/// Since when the instance that has an item is there, by the clock of the registry center.
fn owner_since(tree: &Tree, job: &JobName, item: ShardingItem) -> Option<i64> {
    let owner = owner_of(tree, job, item)?;
    job_node(tree, job, &JobPath::Instance(owner)).map(|node| node.stat.ctime)
}

/// The owner of an item.
fn owner_of(tree: &Tree, job: &JobName, item: ShardingItem) -> Option<InstanceId> {
    let owner = job_data(tree, job, &JobPath::owner_of(item))?;
    InstanceId::new(std::str::from_utf8(&owner).ok()?).ok()
}
