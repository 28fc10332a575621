//! Shuts instances down: makes them leave.

use serde::Serialize;

use super::audit::Action;
use super::commit::{Plan, Step};
use super::{OperationError, Operations, Outcome, Target};
use crate::ident::{InstanceId, JobName};
use crate::registry::Op;
use crate::registry::layout::JobPath;

/// An instance of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct InstanceOfJob {
    /// The job.
    pub job: JobName,
    /// The instance.
    pub instance: InstanceId,
    /// The address of its server.
    pub server: String,
}

impl Operations {
    /// Makes instances leave: items that run may finish, then the job is over in that process until the process is
    /// started again; the process itself goes on. Their items go to the other instances.
    ///
    /// # Errors
    /// [`OperationError::NothingMatched`] when no such instance is online.
    pub async fn shut_down(&self, target: &Target) -> Result<Outcome<InstanceOfJob>, OperationError> {
        self.carry_out(Action::on("shut-down", target), || self.plan_leave(target)).await
    }

    async fn plan_leave(&self, target: &Target) -> Result<Plan<InstanceOfJob>, OperationError> {
        let mut steps = Vec::new();
        for (job, members) in self.jobs_of(target).await? {
            let instances = members.instances.into_iter().chain(members.sessionless);
            for (instance, server) in instances.filter(|(_, server)| target.includes(server)) {
                let path = JobPath::Instance(instance.clone()).absolute(&job);
                let does = vec![InstanceOfJob { job: job.clone(), instance, server }];
                steps.push(Step::new(does, vec![Op::Delete { path, version: None }]));
            }
        }
        if steps.is_empty() {
            return Err(OperationError::NothingMatched { target: target.clone(), what: "instance that is online" });
        }
        Ok(Plan { steps, unchanged: Vec::new() })
    }
}
