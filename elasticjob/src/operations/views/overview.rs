//! The entry of a job in a list of jobs.

use std::collections::BTreeMap;

use super::why::BEGIN;
use super::{Finding, JobSnapshot, JobState, Reason, ShardState};
use crate::config::{Dependency, Message};
use crate::fire::Begun;
use crate::ident::{JobName, ShardingItem};
use crate::schedule::{Schedule, TimeZone};

/// A job in a list: its state, what runs, what went wrong, and what should have run and did not.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobOverview {
    /// The job.
    pub job: JobName,
    /// Its state.
    pub state: JobState,
    /// Why the configuration cannot be used. The fields that come from it are empty then.
    pub problem: Option<Message>,
    /// The description in its configuration.
    pub description: String,
    /// Its cron expression; `None` for a one-off job, and for one that runs after others.
    pub cron: Option<String>,
    /// The jobs that it runs after.
    pub depends_on: Vec<Dependency>,
    /// The zone of its schedule.
    pub time_zone: Option<TimeZone>,
    /// The next scheduled fire, in milliseconds since 1970.
    pub next_fire: Option<i64>,
    /// The number of instances that are online.
    pub instances: usize,
    /// Whether one of them leads.
    pub has_leader: bool,
    /// The number of servers that it knows.
    pub servers: usize,
    /// Its items.
    pub items: ItemCounts,
    /// The fire that was begun last, of all items. Only runs of this implementation are recorded, and only where
    /// execution is monitored.
    pub last: Option<Begun>,
    /// Since when each item has not succeeded again: the earliest of the ends of their last successful runs, in
    /// milliseconds since 1970. Disabled items do not count. `None` where it is not known of an item: it never succeeded,
    /// its records are of an earlier release, or a Java instance may run it.
    pub last_success: Option<i64>,
    /// The begin of the oldest run that goes on, in milliseconds since 1970.
    pub running_since: Option<i64>,
    /// The time at which the configuration was written last, in milliseconds since 1970.
    pub configured: Option<i64>,
    /// The items whose last run failed, with the cause; it is empty where no instance finished the run and none will.
    pub failed: BTreeMap<ShardingItem, String>,
    /// Since when the job fails: of these items, the earliest end of the last run that succeeded, in milliseconds since 1970.
    /// It stays the same while one of them has not succeeded again. `None` where it is not known of one of them.
    pub failing_since: Option<i64>,
    /// Fires that no instance began: the earliest of all items.
    pub overdue: Option<Overdue>,
    /// Whether the registry center tells which fires no instance began. It does not where a Java instance takes part, which leaves
    /// no records, and where execution is not monitored.
    pub overdue_is_known: bool,
    /// The number of instances that refuse the configuration, as their programs cannot use it.
    pub refusing_instances: usize,
    /// The number of times that a process of the carried `DAEMON` job has ended soon after its start, since it was well last. 0 where
    /// none does.
    pub daemon_ends: u32,
    /// The number of items of a carried job that were launched and have not started. Of a `DAEMON` job it is 1 where a process does
    /// not start.
    pub carried_waits: usize,
    /// The obstacles that keep the job or some of its items from running. Of several items with the same obstacle it has the one
    /// that has had it for longest.
    pub obstacles: Vec<Finding>,
}

/// The numbers of items of a job by their state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ItemCounts {
    /// The number of items of a fire.
    pub total: usize,
    /// The number of items that run.
    pub running: usize,
    /// The number of items that wait for their next fire.
    pub pending: usize,
    /// The number of items that an operator disabled.
    pub disabled: usize,
    /// The number of items that have no owner that is online.
    pub unassigned: usize,
    /// The number of items that have a run that was lost, and wait for an instance that takes it over or for an operator.
    pub lost: usize,
}

/// Fires that no instance began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Overdue {
    /// The earliest of them, in milliseconds since 1970.
    pub since: i64,
    /// The number of items that it concerns.
    pub items: usize,
    /// Whether the time to begin it is over for an item.
    pub given_up: bool,
}

impl JobSnapshot {
    /// The job in a list, at a time in milliseconds since 1970.
    pub fn overview(&self, now: i64) -> JobOverview {
        let configuration = self.usable();
        let schedule = configuration.and_then(|configuration| configuration.schedule());
        let records = || self.items.values().filter_map(|item| item.record.last.as_ref());
        let mut overview = JobOverview {
            job: self.job.clone(),
            state: self.state(),
            problem: self.configuration.as_ref().and_then(|read| read.as_ref().err().cloned()),
            description: configuration.and_then(|it| it.settings().description).unwrap_or_default(),
            cron: schedule.map(|schedule| schedule.cron().to_string()),
            depends_on: configuration.map(|it| it.depends_on().to_vec()).unwrap_or_default(),
            time_zone: schedule.map(Schedule::time_zone),
            next_fire: self.next_fire(now),
            instances: self.instances().count(),
            has_leader: self.leader.is_some(),
            servers: self.servers().count(),
            items: ItemCounts { total: self.total(), ..ItemCounts::default() },
            last: records().max_by_key(|begun| (begun.at, begun.began)).cloned(),
            last_success: self.last_success(),
            running_since: None,
            configured: self.configured_since(),
            failed: BTreeMap::new(),
            failing_since: None,
            overdue: None,
            overdue_is_known: self.tells_of_fires(),
            refusing_instances: self.refusals.len(),
            daemon_ends: self.daemon.as_ref().map_or(0, |daemon| daemon.ends),
            carried_waits: usize::from(self.daemon.as_ref().is_some_and(|daemon| daemon.ends == 0)),
            obstacles: self.findings(now).into_iter().filter(Finding::is_obstacle).collect(),
        };
        for (item, nodes) in &self.items {
            let counts = &mut overview.items;
            match self.shard_state(nodes) {
                ShardState::Running if self.is_run_alive(nodes) => counts.running += 1,
                ShardState::Running => counts.lost += 1,
                ShardState::Pending if self.to_take_over.contains(item) => counts.lost += 1,
                ShardState::Pending => counts.pending += 1,
                ShardState::Disabled => counts.disabled += 1,
                ShardState::ShardingFlag => counts.unassigned += 1,
            }
            let running = nodes.running.as_ref().filter(|_| self.is_run_alive(nodes)).map(|mark| mark.since);
            overview.running_since = [overview.running_since, running].into_iter().flatten().min();
            if let Some(cause) = self.failure_of(*item, nodes) {
                overview.failed.insert(*item, cause);
            }
            for finding in self.findings_of(*item, now).into_iter().filter(Finding::is_obstacle) {
                overview.add(finding);
            }
        }
        let successes = overview.failed.keys().filter_map(|item| self.items.get(item));
        let successes: Option<Vec<i64>> = successes.map(|nodes| nodes.record.last_success()).collect();
        overview.failing_since = successes.and_then(|successes| successes.into_iter().min());
        overview
    }

    fn last_success(&self) -> Option<i64> {
        let total = u32::try_from(self.total()).unwrap_or(u32::MAX);
        let counted = self.items.iter().filter(|(item, nodes)| **item < total && !nodes.disabled);
        let ends = counted.map(|(_, nodes)| nodes.recorded_since.and(nodes.record.last_success()));
        ends.collect::<Option<Vec<_>>>()?.into_iter().min()
    }

    fn total(&self) -> usize {
        self.usable().map_or(self.items.len(), |it| usize::try_from(it.sharding_total_count()).unwrap_or(usize::MAX))
    }

    /// When [`Self::overview`] says something else although no node changes, in milliseconds since 1970; `None` where only
    /// changes of nodes do that.
    pub(in crate::operations) fn overview_changes_at(&self, overview: &JobOverview, now: i64) -> Option<i64> {
        let schedule = self.usable()?.schedule()?;
        // A fire is overdue when it had the time to begin.
        let overdue = schedule.next_after(now.saturating_sub(BEGIN)).map(|fire| fire.saturating_add(BEGIN));
        // The time to begin it is over when its limit has passed; at the next fire there are more.
        let limits = overview.obstacles.iter().filter_map(|finding| match finding.reason {
            Reason::NotBegun { first, limit: Some(limit), given_up: false, .. } => {
                let limit = i64::try_from(limit).unwrap_or(i64::MAX).saturating_mul(1_000);
                Some(first.saturating_add(limit).saturating_add(1))
            }
            _ => None,
        });
        limits.chain(overdue).chain(overview.next_fire).min()
    }
}

impl JobOverview {
    fn add(&mut self, finding: Finding) {
        if let Reason::NotBegun { first, given_up, .. } = finding.reason {
            let overdue = self.overdue.get_or_insert(Overdue { since: first, items: 0, given_up: false });
            overdue.since = overdue.since.min(first);
            overdue.items += 1;
            overdue.given_up |= given_up;
        }
        self.carried_waits += usize::from(matches!(finding.reason, Reason::CarriedWaits { .. }));
        let same = self.obstacles.iter_mut().find(|known| known.item.is_some() && known.code() == finding.code());
        let age = |finding: &Finding| finding.since.unwrap_or(i64::MAX);
        match same {
            Some(known) if age(&finding) < age(known) => *known = finding,
            Some(_) => {}
            None => self.obstacles.push(finding),
        }
    }
}
