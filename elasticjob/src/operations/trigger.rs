//! Running a job now.

use super::commit::{Plan, Step};
use super::members::Members;
use super::{InstanceOfJob, OperationError, Operations, Outcome, Target};
use crate::ident::JobName;
use crate::registry::path::JobPath;
use crate::registry::{CreateMode, Op};

impl Operations {
    /// Asks every enabled instance of a job to run its items once, whatever the schedule says; with a server, those of
    /// that server alone; of a server without a job, those of all its jobs. An instance that has been asked and has not
    /// begun yet is not asked twice: it is among the unchanged ones.
    ///
    /// # Errors
    /// [`OperationError::NoEnabledInstance`] when nobody could run it. An instance that came and went meanwhile does not
    /// get what it would never take.
    pub async fn trigger(&self, target: &Target) -> Result<Outcome<InstanceOfJob>, OperationError> {
        self.carry_out(|| self.plan_trigger(target)).await
    }

    async fn plan_trigger(&self, target: &Target) -> Result<Plan<InstanceOfJob>, OperationError> {
        let (mut steps, mut unchanged, mut online) = (Vec::new(), Vec::new(), 0);
        for (job, members) in self.jobs_of(target).await? {
            let meant = members.instances.values().filter(|server| target.includes(server)).count();
            online += meant;
            if meant > 0 {
                let (step, waiting) = self.plan_trigger_of(&job, &members, target).await?;
                steps.extend(step);
                unchanged.extend(waiting);
            }
        }
        if steps.is_empty() && unchanged.is_empty() {
            return Err(OperationError::NoEnabledInstance { target: target.clone(), online });
        }
        Ok(Plan { steps, unchanged })
    }

    /// What is to be done for a job, and who waits already. The nodes of one request share the transaction that made
    /// them, and with it the identity of the fire.
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
        for one in &does {
            ops.push(Op::Check { path: JobPath::Instance(one.instance.clone()).absolute(job), version: None });
            let path = JobPath::Trigger(one.instance.clone()).absolute(job);
            ops.push(Op::Create { path, data: "".into(), mode: CreateMode::Persistent });
        }
        Ok(((!does.is_empty()).then_some(Step { does, ops }), unchanged))
    }
}
