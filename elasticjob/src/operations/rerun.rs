//! Runs past fires again, with the jobs after them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;

use super::audit::Action;
use super::commit::{Plan, Step};
use super::{InstanceOfJob, ItemOfJob, JobSnapshot, NotRerun, OperationError, Operations, Target, read};
use crate::config::JobConfiguration;
use crate::engine::{DependencyRecord, FollowedRerun};
use crate::fire::{Begun, Rerun, TriggerData};
use crate::ident::JobName;
use crate::registry::layout::JobPath;
use crate::registry::{CreateMode, Op};
use crate::schedule::{Schedule, TimeZone, format_rfc3339};
use crate::trace::now;

/// How far back the fire before a time is looked for: by then each schedule but the rarest has one. In milliseconds.
const FURTHEST: [i64; 5] = [60_000, 3_600_000, 86_400_000, 31 * 86_400_000, 366 * 86_400_000];

/// The leaders of the jobs have sessions that are mostly not longer.
const LONG_SESSION: Duration = Duration::from_mins(1);

/// How many fires an error names.
const NAMED: usize = 3;

/// A past fire that is run again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RerunAsked {
    /// The job.
    pub job: JobName,
    /// The fire, and when it was asked for.
    #[serde(flatten)]
    pub rerun: Rerun,
    /// The instances that were asked to run their items.
    pub instances: Vec<InstanceOfJob>,
    /// The items that do not run, as no instance has them that is online and enabled, as with a
    /// [trigger](super::TriggerOutcome::without_instance).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without_instance: Vec<ItemOfJob>,
    /// The jobs after this one, over any number of others: each runs again when the jobs before it have ended as it waits for.
    pub follow: Vec<JobName>,
}

impl Operations {
    /// Runs a past fire of a job again: the fire that was scheduled for this time, in milliseconds since 1970. Its items see
    /// that time as their scheduled time, as in the first run, and [`Rerun`] tells them that it is another one. It is a manual
    /// trigger in all else: it waits for the run that goes on, and changes nothing of the schedule.
    ///
    /// The jobs after this one follow, as they follow a fire: those that wait for its success when it has succeeded, and so
    /// on. Of a job that runs after others, the jobs before it are not asked: it runs again whatever they did.
    ///
    /// # Errors
    /// [`OperationError::NotRerun`] where the job has no such fire, its fires have no records, or a job after it has too many
    /// re-runs to follow;
    /// [`OperationError::NoEnabledInstance`] when no instance could run it; [`OperationError::NoSuchJob`],
    /// [`OperationError::NoConfiguration`].
    pub async fn rerun(&self, job: &JobName, fire: i64) -> Result<RerunAsked, OperationError> {
        self.rerun_if(job, fire, |_| true).await
    }

    /// The same where `may` allows it for each job that runs after this one, over any number of others: they run again with it.
    ///
    /// # Errors
    /// [`NotRerun::NotAllowed`] with the first job that `may` refuses: nothing runs again then. Else those of
    /// [`rerun`](Self::rerun).
    pub async fn rerun_if(
        &self,
        job: &JobName,
        fire: i64,
        may: impl Fn(&JobName) -> bool + Sync,
    ) -> Result<RerunAsked, OperationError> {
        let rerun = Rerun::new(fire, now().timestamp_millis());
        let follow = Mutex::new(Vec::new());
        let action = Action::on("rerun", &Target::Job(job.clone())).fire(fire);
        let without_instance = self.await_assignment(&Target::Job(job.clone())).await;
        let outcome = self.carry_out(action, || self.plan_rerun(job, rerun, &may, &follow)).await?;
        let follow = follow.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(RerunAsked { job: job.clone(), rerun, instances: outcome.changed, without_instance, follow })
    }

    async fn plan_rerun(
        &self,
        job: &JobName,
        rerun: Rerun,
        may: &(impl Fn(&JobName) -> bool + Sync),
        follow: &Mutex<Vec<JobName>>,
    ) -> Result<Plan<InstanceOfJob>, OperationError> {
        let snapshot = self.snapshot(job).await?;
        let not = |why| OperationError::NotRerun { job: job.clone(), why };
        let configuration = match &snapshot.configuration {
            None => return Err(OperationError::NoConfiguration { job: job.clone() }),
            Some(Err(reason)) => return Err(not(NotRerun::Unusable(reason.clone()))),
            Some(Ok(configuration)) => configuration,
        };
        check(&snapshot, configuration, rerun).map_err(not)?;
        let members = &snapshot.members;
        let enabled = members.instances.iter().filter(|(_, server)| members.is_enabled(server));
        let instances: Vec<InstanceOfJob> = enabled
            .map(|(id, server)| InstanceOfJob { job: job.clone(), instance: id.clone(), server: server.clone() })
            .collect();
        if instances.is_empty() {
            let online = members.instances.len();
            let is_disabled = members.disabled_registration.is_some();
            return Err(OperationError::NoEnabledInstance { target: Target::Job(job.clone()), online, is_disabled });
        }
        // An instance has one trigger at a time, and the items of one that is left out would be missing.
        if let Some(one) = instances.iter().find(|one| snapshot.triggered.contains(&one.instance)) {
            return Err(not(NotRerun::TriggerWaits(one.instance.clone())));
        }
        let mut ops = Vec::new();
        if self.children(JobPath::Triggers.absolute(job)).await?.is_none() {
            let path = JobPath::Triggers.absolute(job);
            ops.push(Op::Create { path, data: "".into(), mode: CreateMode::Persistent });
        }
        ops.extend(members.guard_assignment(job));
        let data = TriggerData { rerun: Some(rerun), trace_parent: self.trace_parent }.to_bytes();
        for one in &instances {
            ops.push(Op::Check { path: JobPath::Instance(one.instance.clone()).absolute(job), version: None });
            let path = JobPath::Trigger(one.instance.clone()).absolute(job);
            ops.push(Op::Create { path, data: (&data[..]).into(), mode: CreateMode::Persistent });
        }
        let (after, notes): (Vec<JobName>, Vec<Op>) = self.notes(job, rerun, may).await?.into_iter().unzip();
        ops.extend(notes);
        *follow.lock().unwrap_or_else(PoisonError::into_inner) = after;
        // In one transaction: a job that follows has to know it before the first one has ended.
        Ok(Plan { steps: vec![Step::new(instances, ops)], unchanged: Vec::new() })
    }

    /// The note for each job that runs after this one, over any number of others. A job of which no leader has decided on
    /// any fire yet gets none.
    async fn notes(
        &self,
        from: &JobName,
        rerun: Rerun,
        may: &(impl Fn(&JobName) -> bool + Sync),
    ) -> Result<Vec<(JobName, Op)>, OperationError> {
        let edges = self.edges().await?;
        let after = after(from, &edges);
        if let Some(refused) = after.iter().find(|job| !may(job)) {
            let why = NotRerun::NotAllowed(refused.clone());
            return Err(OperationError::NotRerun { job: from.clone(), why });
        }
        let read = read::all(after.into_iter().map(|job| self.decided(job))).await?;
        let known: BTreeMap<JobName, (DependencyRecord, i32)> = read.into_iter().flatten().collect();
        if let Some((behind, _)) = known.iter().find(|(_, (record, _))| !record.has_room_for_rerun()) {
            let why = NotRerun::FollowerIsBehind(behind.clone());
            return Err(OperationError::NotRerun { job: from.clone(), why });
        }
        let note = |(job, (record, version)): (&JobName, &(DependencyRecord, i32))| {
            let before = edges.iter().filter(|(child, _)| child == job).map(|(_, parent)| parent);
            let with = before.filter(|parent| known.contains_key(*parent)).cloned().collect();
            let record = record.with_rerun(FollowedRerun::new(rerun, from.clone(), with));
            let path = JobPath::Dependencies.absolute(job);
            (job.clone(), Op::Set { path, data: record.to_bytes().into(), version: Some(*version) })
        };
        Ok(known.iter().map(note).collect())
    }

    /// Each job after another one, with that.
    async fn edges(&self) -> Result<Vec<(JobName, JobName)>, OperationError> {
        let names = self.job_names().await?;
        let edges = read::all(names.iter().map(|job| self.after_others(job))).await?;
        Ok(edges.into_iter().flatten().collect())
    }

    /// What the leader of a job after others has decided, with the version of that.
    async fn decided(&self, job: JobName) -> Result<Option<(JobName, (DependencyRecord, i32))>, OperationError> {
        let (view, version) = self.decided_view(&job).await?;
        // The note makes the node younger: what it holds of a clock that was ahead would count from then on.
        let record = view.counted(LONG_SESSION).decided;
        Ok(record.zip(version).map(|read| (job, read)))
    }
}

/// The jobs that run after a job, over any number of others.
fn after(job: &JobName, edges: &[(JobName, JobName)]) -> BTreeSet<JobName> {
    let (mut found, mut next) = (BTreeSet::new(), vec![job]);
    while let Some(before) = next.pop() {
        for (child, _) in edges.iter().filter(|(_, parent)| parent == before) {
            if child != job && found.insert(child.clone()) {
                next.push(child);
            }
        }
    }
    found
}

/// Whether the job had such a fire, and keeps records of them.
fn check(snapshot: &JobSnapshot, configuration: &JobConfiguration, rerun: Rerun) -> Result<(), NotRerun> {
    if !configuration.monitor_execution() {
        return Err(NotRerun::NotMonitored);
    }
    let Rerun { of: fire, asked } = rerun;
    if let Some(schedule) = configuration.schedule() {
        if fire > asked {
            return Err(NotRerun::NotYet(schedule.format_rfc3339(fire)));
        }
        if schedule.next_after(fire - 1) != Some(fire) {
            let before = fire_before(schedule, fire);
            let after = schedule.next_after(fire).filter(|after| *after <= asked);
            let nearest = before.into_iter().chain(after).map(|at| schedule.format_rfc3339(at)).collect();
            return Err(NotRerun::NoSuchFire { at: schedule.format_rfc3339(fire), nearest });
        }
        return Ok(());
    }
    if configuration.depends_on().is_empty() {
        return Err(NotRerun::NoFires);
    }
    let known = known_fires(snapshot);
    if known.contains(&fire) {
        return Ok(());
    }
    let mut nearest: Vec<i64> = known.into_iter().collect();
    nearest.sort_by_key(|at| at.abs_diff(fire));
    nearest.truncate(NAMED);
    nearest.sort_unstable();
    let zone = TimeZone::local().unwrap_or(TimeZone::UTC);
    let text = |at: i64| format_rfc3339(at, zone);
    Err(NotRerun::UnknownFire { at: text(fire), known: nearest.into_iter().map(text).collect() })
}

/// The fires of a job after others that the registry center knows: those that were decided, and those that items began last.
fn known_fires(snapshot: &JobSnapshot) -> BTreeSet<i64> {
    let decided = snapshot.dependencies.iter().flat_map(|record| &record.decided).map(|fire| fire.at);
    let last = snapshot.items.values().filter_map(|item| item.record.last.as_ref());
    let begun = |begun: &Begun| match begun.manual {
        true => begun.rerun().map(|rerun| rerun.of),
        false => Some(begun.at),
    };
    decided.chain(last.filter_map(begun)).collect()
}

/// The last fire before a time.
fn fire_before(schedule: &Schedule, at: i64) -> Option<i64> {
    let from = FURTHEST
        .into_iter()
        .map(|back| at - back)
        .find(|from| schedule.next_after(*from).is_some_and(|fire| fire < at))?;
    // The stretch has few fires: the shorter one before it had none.
    schedule.upcoming(from).take_while(|fire| *fire < at).last()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fire_before_a_time_is_found_also_where_it_is_long_ago() {
        const NEW_YEAR: i64 = 1_767_225_600_000;
        let schedule = |cron| Schedule::parse(cron, Some("UTC")).unwrap();
        assert_eq!(fire_before(&schedule("0 0 0 1 1 ?"), NEW_YEAR + 300 * 86_400_000), Some(NEW_YEAR));
        assert_eq!(fire_before(&schedule("0/5 * * * * ?"), NEW_YEAR + 7_000), Some(NEW_YEAR + 5_000));
        assert_eq!(fire_before(&schedule("0/5 * * * * ?"), NEW_YEAR + 5_000), Some(NEW_YEAR));
        assert_eq!(fire_before(&schedule("0 0 3 * * ?"), NEW_YEAR), Some(NEW_YEAR - 21 * 3_600_000));
        assert_eq!(fire_before(&schedule("0 0 3 * * ? 2099"), NEW_YEAR), None);
    }
}
