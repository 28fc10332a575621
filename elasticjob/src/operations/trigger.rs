//! Triggers jobs.

use serde::Serialize;

use super::audit::Action;
use super::commit::{Plan, Step};
use super::members::Members;
use super::{InstanceOfJob, ItemOfJob, OperationError, Operations, Outcome, Target};
use crate::fire::TriggerData;
use crate::ident::JobName;
use crate::registry::layout::JobPath;
use crate::registry::{CreateMode, Op};

/// The result of a trigger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TriggerOutcome {
    /// The instances that were asked, and those that were asked before and have not begun yet.
    #[serde(flatten)]
    pub instances: Outcome<InstanceOfJob>,
    /// The items that do not run for it, as no instance has them that is online and enabled: with static sharding the owner of an
    /// item is gone, else no leader has assigned it in time. And those that came to an instance which has yet to begin an older
    /// trigger: they may have run for that one where they were then, and an instance has one trigger at most. Empty beside
    /// instances of Java, whose leader assigns items when they fire, and where a server is named: its instances run what they have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without_instance: Vec<ItemOfJob>,
}

impl Operations {
    /// Asks every enabled instance of a job to run its items once, whatever the schedule says. With a server, it asks
    /// the instances of that server alone; with a server and no job, those of all its jobs. An instance that was asked
    /// and has not begun yet is not asked twice: it is among the unchanged ones. Where items are not assigned, as an instance came or
    /// went a moment ago, it waits for that, for at most 5 seconds. The outcome names the items that do not run for it then.
    ///
    /// # Errors
    /// [`OperationError::NoEnabledInstance`] when no instance could run it. An instance that has left meanwhile is not
    /// asked.
    pub async fn trigger(&self, target: &Target) -> Result<TriggerOutcome, OperationError> {
        let mut without_instance = self.await_assignment(target).await;
        if !matches!(target, Target::Job(_)) {
            without_instance.clear();
        }
        let instances = self.carry_out(Action::on("trigger", target), || self.plan_trigger(target)).await?;
        Ok(TriggerOutcome { instances, without_instance })
    }

    async fn plan_trigger(&self, target: &Target) -> Result<Plan<InstanceOfJob>, OperationError> {
        let (mut steps, mut unchanged, mut online, mut is_disabled) = (Vec::new(), Vec::new(), 0, false);
        for (job, members) in self.jobs_of(target).await? {
            let meant = members.instances.values().filter(|server| target.includes(server)).count();
            online += meant;
            is_disabled |= members.disabled_registration.is_some();
            if meant > 0 {
                let (step, waiting) = self.plan_trigger_of(&job, &members, target).await?;
                steps.extend(step);
                unchanged.extend(waiting);
            }
        }
        if steps.is_empty() && unchanged.is_empty() {
            return Err(OperationError::NoEnabledInstance { target: target.clone(), online, is_disabled });
        }
        Ok(Plan { steps, unchanged })
    }

    /// The trigger nodes to create for a job, and the instances that already have one. The nodes of one request are
    /// created in one transaction, and its id identifies the fire.
    async fn plan_trigger_of(
        &self,
        job: &JobName,
        members: &Members,
        target: &Target,
    ) -> Result<(Option<Step<InstanceOfJob>>, Vec<InstanceOfJob>), OperationError> {
        let waiting = self.children(JobPath::Triggers.absolute(job)).await?;
        let mut ops = Vec::new();
        if waiting.is_none() {
            let path = JobPath::Triggers.absolute(job);
            ops.push(Op::Create { path, data: "".into(), mode: CreateMode::Persistent });
        }
        let waiting = waiting.unwrap_or_default();
        let meant =
            members.instances.iter().filter(|(_, server)| target.includes(server) && members.is_enabled(server));
        let instances =
            meant.map(|(id, server)| InstanceOfJob { job: job.clone(), instance: id.clone(), server: server.clone() });
        let (unchanged, does): (Vec<_>, Vec<_>) =
            instances.partition(|one| waiting.iter().any(|id| id == one.instance.as_str()));
        if !does.is_empty() {
            ops.extend(members.guard_assignment(job));
        }
        let data = TriggerData { rerun: None, trace_parent: self.trace_parent }.to_bytes();
        for one in &does {
            ops.push(Op::Check { path: JobPath::Instance(one.instance.clone()).absolute(job), version: None });
            let path = JobPath::Trigger(one.instance.clone()).absolute(job);
            ops.push(Op::Create { path, data: (&data[..]).into(), mode: CreateMode::Persistent });
        }
        Ok(((!does.is_empty()).then_some(Step::alone(does, ops)), unchanged))
    }
}
