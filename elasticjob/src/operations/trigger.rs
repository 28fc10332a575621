//! Running a job now.

use super::commit::{Plan, Step};
use super::{InstanceOfJob, OperationError, Operations, Outcome, Target};
use crate::ident::JobName;
use crate::registry::path::JobPath;
use crate::registry::{CreateMode, Op};

impl Operations {
    /// Asks every enabled instance of a job to run its items once, whatever the schedule says. An instance that has been
    /// asked and has not begun yet is not asked twice: it is among the unchanged ones.
    ///
    /// # Errors
    /// [`OperationError::NoEnabledInstance`] when nobody could run it. An instance that came and went meanwhile does not
    /// get what it would never take.
    pub async fn trigger(&self, job: &JobName) -> Result<Outcome<InstanceOfJob>, OperationError> {
        self.carry_out(|| self.plan_trigger(job)).await
    }

    async fn plan_trigger(&self, job: &JobName) -> Result<Plan<InstanceOfJob>, OperationError> {
        let waiting = self.children(JobPath::Triggers.absolute(job)).await?;
        let mut ops = Vec::new();
        if waiting.is_none() {
            let path = JobPath::Triggers.absolute(job);
            ops.push(Op::Create { path, data: "".into(), mode: CreateMode::Persistent });
        }
        let waiting = waiting.unwrap_or_default();
        let (mut does, mut unchanged, mut online) = (Vec::new(), Vec::new(), 0);
        for (job, members) in self.jobs_of(&Target::Job(job.clone())).await? {
            online = members.instances.len();
            let enabled = members.instances.iter().filter(|(_, server)| members.is_enabled(server));
            for (instance, server) in enabled {
                let one = InstanceOfJob { job: job.clone(), instance: instance.clone(), server: server.clone() };
                if waiting.iter().any(|id| id == instance.as_str()) {
                    unchanged.push(one);
                    continue;
                }
                ops.push(Op::Check { path: JobPath::Instance(instance.clone()).absolute(&job), version: None });
                let path = JobPath::Trigger(instance.clone()).absolute(&job);
                ops.push(Op::Create { path, data: "".into(), mode: CreateMode::Persistent });
                does.push(one);
            }
        }
        if does.is_empty() && unchanged.is_empty() {
            return Err(OperationError::NoEnabledInstance { job: job.clone(), online });
        }
        // The nodes of one request share the transaction that made them, and with it the identity of the fire.
        let steps = if does.is_empty() { Vec::new() } else { vec![Step { does, ops }] };
        Ok(Plan { steps, unchanged })
    }
}
