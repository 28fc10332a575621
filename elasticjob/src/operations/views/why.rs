//! Explains why items run or do not run, from the nodes in the registry center.

use std::collections::BTreeMap;

use super::finding::Finding;
use super::reason::Reason;
use super::{ItemSnapshot, JobSnapshot};
use crate::config::{Dependency, DependencyItems, JobConfiguration};
use crate::engine::{DecidedFire, Release, late_limit};
use crate::fire::Fire;
use crate::ident::{InstanceId, ShardingItem};
use crate::operations::registration::DisabledRegistration;
use crate::operations::{CarriedWait, DaemonTrouble};
use crate::registry::layout::ServerStatus;

/// How long a begin may take, in milliseconds, before it counts as missed.
pub(super) const BEGIN: i64 = 2_000;

impl JobSnapshot {
    /// What instances refuse that all programs without own types could use: those that say the same together, and since when.
    fn refused_by_instances(&self) -> Vec<(Reason, i64)> {
        let mut told: BTreeMap<(bool, &str), (Vec<InstanceId>, i64)> = BTreeMap::new();
        // One that no program can use is told by itself.
        for refusal in self.refusals.iter().filter(|_| self.usable().is_some()) {
            let (instances, since) =
                told.entry((refusal.joined, &refusal.why)).or_insert_with(|| (Vec::new(), refusal.since));
            instances.push(refusal.instance.clone());
            *since = refusal.since.min(*since);
        }
        let reasons = told.into_iter().map(|((joined, why), (instances, since))| {
            (Reason::RefusedByInstances { instances, joined, why: why.to_owned() }, since)
        });
        reasons.collect()
    }

    /// The reasons for the whole job, at a time in milliseconds since 1970.
    pub fn findings(&self, now: i64) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut add = |reason, since| findings.push(Finding::new(reason, since));
        let times = &self.times;
        match &self.configuration {
            None => add(Reason::NoConfiguration, None),
            Some(Err(reason)) => add(Reason::ConfigurationRefused(reason.clone()), times.configured),
            Some(Ok(configuration)) => {
                match configuration.schedule() {
                    None if configuration.fires_by_itself() => {
                        let jobs = configuration.depends_on().iter().map(ToString::to_string).collect();
                        add(Reason::AfterJobs(jobs), None);
                    }
                    None => add(Reason::OneOff, None),
                    Some(schedule) if schedule.next_after(now).is_none() => add(Reason::NeverFiresAgain, None),
                    Some(_) => {}
                }
                if !configuration.monitor_execution() {
                    add(Reason::NotMonitored, None);
                } else if self.members.has_java {
                    add(Reason::JavaTakesPart, None);
                }
            }
        }
        for (reason, since) in self.refused_by_instances() {
            add(reason, Some(since));
        }
        for (job, of_job) in &self.other_totals {
            let own = self.usable().map_or(0, JobConfiguration::sharding_total_count);
            add(Reason::TotalsDiffer { job: job.to_string(), of_job: *of_job, own }, None);
        }
        if let Some(DecidedFire { at, skipped: Some(unmet), .. }) =
            self.dependencies.as_ref().and_then(|it| it.decided.last())
        {
            add(Reason::SkippedAfter { at: *at, why: unmet.reason().to_string() }, None);
        }
        if let Some(DaemonTrouble { process, ends, why, since }) = self.daemon.clone() {
            let reason = match ends {
                0 => Reason::DaemonWaits { process, why },
                _ => Reason::DaemonEnds { process, ends, why },
            };
            add(reason, Some(since));
        }
        let is_empty = self.members.instances.is_empty();
        match &self.members.disabled_registration {
            Some(DisabledRegistration { app, since }) => {
                add(Reason::RegistrationDisabled { app: app.clone() }, Some(*since));
            }
            None if is_empty => add(Reason::NoInstance, self.gone.instance),
            None => {}
        }
        let all_disabled = self.servers().all(|(_, status)| status == ServerStatus::Disabled);
        if all_disabled && !(is_empty && self.members.servers.is_empty()) {
            // All are since the last one is.
            add(Reason::AllServersDisabled, self.members.servers.values().map(|server| server.changed).max());
        } else if !is_empty {
            if self.leader.is_none() {
                add(Reason::NoLeader, self.gone.leader);
            }
            if self.resharding {
                add(Reason::Resharding, times.resharding);
            }
            if self.items.is_empty() {
                add(Reason::NotAssignedYet, None);
            }
        }
        if !self.members.sessionless.is_empty() {
            let instances = self.members.sessionless.keys().cloned().collect();
            let since = self.members.sessionless.keys().filter_map(|id| self.members.since(id)).min();
            add(Reason::SessionlessInstances(instances), since);
        }
        if !self.own_types.is_empty() {
            add(Reason::OwnTypes(self.own_types.clone()), times.configured);
        }
        if !self.bound_to_programs.is_empty() {
            add(Reason::BoundToPrograms(self.bound_to_programs.clone()), None);
        }
        if !self.triggered.is_empty() {
            let since = times.triggered.values().min().copied();
            add(Reason::Triggered(self.triggered.iter().cloned().collect()), since);
        }
        findings
    }

    /// The reasons for an item, at a time in milliseconds since 1970.
    pub fn findings_of(&self, item: ShardingItem, now: i64) -> Vec<Finding> {
        let Some(nodes) = self.items.get(&item) else {
            let count = u32::try_from(self.items.len()).unwrap_or(u32::MAX);
            return vec![Finding::new(Reason::NoSuchItem(count), None).of_item(item)];
        };
        let mut findings = Vec::new();
        if nodes.disabled {
            findings.push(Finding::new(Reason::ItemDisabled, nodes.disabled_since));
        }
        findings.extend(self.about_owner(nodes));
        findings.extend(self.about_same_items(item, nodes));
        findings.extend(self.about_fires(item, nodes, now));
        findings.push(self.about_run(item, nodes));
        if nodes.misfired {
            findings.push(Finding::new(Reason::Misfired(nodes.record.to_make_up()), nodes.misfired_since));
        }
        findings.into_iter().map(|finding| finding.of_item(item)).collect()
    }

    fn about_owner(&self, nodes: &ItemSnapshot) -> Option<Finding> {
        let Some(owner) = &nodes.owner else { return Some(Finding::new(Reason::NoOwner, None)) };
        match self.members.instances.get(owner) {
            None => Some(Finding::new(Reason::OwnerOffline(owner.clone()), None)),
            Some(server) if !self.members.is_enabled(server) => {
                let since = self.members.servers.get(server).map(|server| server.changed);
                Some(Finding::new(Reason::OwnerDisabled(owner.clone()), since))
            }
            Some(_) => None,
        }
    }

    /// What became of the fire that is due after other jobs, where the item follows their items with its number.
    fn about_same_items(&self, item: ShardingItem, nodes: &ItemSnapshot) -> Option<Finding> {
        let record = self.dependencies.as_ref()?;
        let (at, _) = (record.due?.at, record.items.as_ref()?);
        let is_same = |dependency: &&Dependency| dependency.items == DependencyItems::Same;
        let reason = match record.release(at, item)? {
            Release::Held if !nodes.record.covers(Fire::Scheduled(at)) => {
                let jobs = self.usable()?.depends_on().iter().filter(is_same);
                Reason::WaitsForItem { at, jobs: jobs.map(|dependency| dependency.job.to_string()).collect() }
            }
            Release::Skipped(unmet) => Reason::SkippedAfter { at, why: unmet.reason_of_items().to_string() },
            Release::Held | Release::Since(_) | Release::NotPart => return None,
        };
        Some(Finding::new(reason, None))
    }

    /// Whether the nodes show which fires no instance began: Java instances leave no records.
    pub(in crate::operations) fn tells_of_fires(&self) -> bool {
        self.usable().is_some_and(JobConfiguration::monitor_execution) && !self.members.has_java
    }

    /// Fires that no instance began. It does not report fires that came during a run or while a run was lost: the
    /// finding about that run covers them. Where Java instances take part, the nodes do not show such fires.
    fn about_fires(&self, item: ShardingItem, nodes: &ItemSnapshot, now: i64) -> Option<Finding> {
        let configuration = self.usable().filter(|_| self.tells_of_fires())?;
        let has_other_reason = nodes.disabled || nodes.misfired || nodes.running.is_some();
        if has_other_reason || self.to_take_over.contains(&item) {
            return None;
        }
        let record = &nodes.record;
        let (first, since, more) = match configuration.schedule() {
            Some(schedule) => {
                let ended = record.last.as_ref().and_then(|begun| begun.ended);
                let since = [self.followed_since?, nodes.recorded_since?];
                let first = schedule.next_after(since.into_iter().chain(record.through).chain(ended).max()?)?;
                (first, first, schedule.next_after(first).is_some_and(|next| next <= now))
            }
            None => {
                let decided = self.dependencies.as_ref()?;
                let first = decided.due_after(record.through.max(nodes.recorded_since)?, item)?;
                (first.at, first.since, decided.due_after(first.at, item).is_some())
            }
        };
        if now - since < BEGIN {
            return None;
        }
        let limit = late_limit(configuration).map(|limit| limit.as_secs());
        let is_over =
            limit.is_some_and(|limit| now - since > i64::try_from(limit).unwrap_or(i64::MAX).saturating_mul(1_000));
        Some(Finding::new(Reason::NotBegun { first, more, limit, given_up: more || is_over }, Some(since)))
    }

    /// The launch of the run that goes on, while its process has not started.
    fn wait_of(&self, item: ShardingItem, nodes: &ItemSnapshot) -> Option<&CarriedWait> {
        let run = nodes.record.running()?;
        self.waits.iter().find(|wait| (wait.at, wait.manual) == (run.at, run.manual) && wait.items.contains(&item))
    }

    fn about_run(&self, item: ShardingItem, nodes: &ItemSnapshot) -> Finding {
        if let Some(CarriedWait { at, manual, carrier, why, since, .. }) = self.wait_of(item, nodes).cloned()
            && self.is_run_alive(nodes)
        {
            return Finding::new(Reason::CarriedWaits { at, manual, carrier, why }, Some(since));
        }
        let (reason, since) = match (&nodes.running, nodes.record.last.clone()) {
            (Some(mark), _) if self.is_run_alive(nodes) => {
                let (instance, taken_over) = (mark.instance.clone(), nodes.taken_over_by.is_some());
                (Reason::Running { instance, since: mark.since, taken_over }, Some(mark.since))
            }
            (Some(mark), _) => {
                let failover = self.usable().map(JobConfiguration::failover);
                (Reason::RunLost { instance: mark.instance.clone(), failover }, None)
            }
            (None, _) if self.to_take_over.contains(&item) => {
                (Reason::AwaitsFailover, self.times.to_take_over.get(&item).copied())
            }
            (None, Some(begun)) if begun.state.is_unfinished() => {
                let since = begun.ended;
                (Reason::LeftUndone(begun), since)
            }
            (None, Some(begun)) => {
                let since = begun.ended;
                (Reason::Ended(begun), since)
            }
            (None, None) => (Reason::NeverRun, None),
        };
        Finding::new(reason, since)
    }
}
