//! Removes servers, and makes instances that are online there leave where that is forced.

use std::fmt;

use serde::Serialize;

use super::audit::Action;
use super::commit::{Plan, Step};
use super::{Force, InstanceOfJob, OperationError, Operations, Outcome, ServerOfJob, Target};
use crate::ident::InstanceId;
use crate::registry::Op;
use crate::registry::layout::JobPath;

/// A removed instance or server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
#[non_exhaustive]
pub enum Removed {
    /// An instance, which leaves.
    Instance(InstanceOfJob),
    /// The node of a server, which also says whether an operator had disabled the server.
    Server(ServerOfJob),
}

impl fmt::Display for Removed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Instance(one) => write!(f, "instance {} of job '{}'", one.instance, one.job),
            Self::Server(one) => write!(f, "server {} of job '{}'", one.server, one.job),
        }
    }
}

impl Operations {
    /// Removes servers: one that was disabled is enabled when an instance starts there again. Configuration and items of the
    /// job stay. With [`Force::Yes`], instances that are online there are made to leave.
    ///
    /// # Errors
    /// [`OperationError::NothingMatched`] when there is no such instance and no such server;
    /// [`OperationError::InstancesOnline`] without force.
    pub async fn remove_servers(&self, target: &Target, force: Force) -> Result<Outcome<Removed>, OperationError> {
        self.carry_out(Action::on("remove-servers", target), || self.plan_removal(target, force)).await
    }

    async fn plan_removal(&self, target: &Target, force: Force) -> Result<Plan<Removed>, OperationError> {
        let mut steps = Vec::new();
        for (job, members) in self.jobs_of(target).await? {
            let online = members.instances.iter().filter(|(_, server)| target.includes(server));
            let online: Vec<InstanceId> = online.map(|(instance, _)| instance.clone()).collect();
            if force == Force::No && !online.is_empty() {
                return Err(OperationError::InstancesOnline { job, instances: online });
            }
            let mut step = Step::new(Vec::new(), Vec::new());
            let mut remove = |path: JobPath, what| {
                step.ops.push(Op::Delete { path: path.absolute(&job), version: None });
                step.does.push(what);
            };
            let instances = members.instances.into_iter().chain(members.sessionless);
            for (instance, server) in instances.filter(|(_, server)| target.includes(server)) {
                let path = JobPath::Instance(instance.clone());
                remove(path, Removed::Instance(InstanceOfJob { job: job.clone(), instance, server }));
            }
            for server in members.servers.into_keys().filter(|server| target.includes(server)) {
                let path = JobPath::Server(server.as_str().into());
                remove(path, Removed::Server(ServerOfJob { job: job.clone(), server }));
            }
            if !step.ops.is_empty() {
                steps.push(step);
            }
        }
        if steps.is_empty() {
            return Err(OperationError::NothingMatched { target: target.clone(), what: "server or instance" });
        }
        Ok(Plan { steps, unchanged: Vec::new() })
    }
}
