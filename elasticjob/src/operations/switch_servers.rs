//! Disables and enables servers.

use serde::Serialize;

use super::audit::Action;
use super::commit::{Plan, Step};
use super::{OperationError, Operations, Outcome, Target};
use crate::ident::JobName;
use crate::registry::Op;
use crate::registry::layout::{JobPath, ServerStatus};

/// A server of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ServerOfJob {
    /// The job.
    pub job: JobName,
    /// The address of the server.
    pub server: String,
}

impl Operations {
    /// Disables servers: their instances stay online, but do not lead, and run nothing from the next fire on. Items
    /// that run go on. A server stays disabled over restarts until an operator enables it.
    ///
    /// # Errors
    /// [`OperationError::NothingMatched`] when no job of the target has such a server: a server is known from the first
    /// start of an instance there. Java creates the node in that case.
    pub async fn disable_servers(&self, target: &Target) -> Result<Outcome<ServerOfJob>, OperationError> {
        let action = Action::on("disable-servers", target).to(ServerStatus::Disabled);
        self.carry_out(action, || self.plan_servers(target, ServerStatus::Disabled)).await
    }

    /// Enables servers: they get items again with the next fire.
    ///
    /// # Errors
    /// As [`disable_servers`](Self::disable_servers).
    pub async fn enable_servers(&self, target: &Target) -> Result<Outcome<ServerOfJob>, OperationError> {
        let action = Action::on("enable-servers", target).to(ServerStatus::Enabled);
        self.carry_out(action, || self.plan_servers(target, ServerStatus::Enabled)).await
    }

    async fn plan_servers(&self, target: &Target, status: ServerStatus) -> Result<Plan<ServerOfJob>, OperationError> {
        let data = status.as_str();
        let (mut steps, mut unchanged) = (Vec::new(), Vec::new());
        for (job, members) in self.jobs_of(target).await? {
            for (server, node) in members.servers.into_iter().filter(|(server, _)| target.includes(server)) {
                let path = JobPath::Server(server.as_str().into()).absolute(&job);
                let one = ServerOfJob { job: job.clone(), server };
                if node.text == data {
                    unchanged.push(one);
                } else {
                    // With the version: a leader may delete the node of a server without instances at any time.
                    let op = Op::Set { path, data: data.into(), version: Some(node.version) };
                    steps.push(Step::new(vec![one], vec![op]));
                }
            }
        }
        if steps.is_empty() && unchanged.is_empty() {
            return Err(OperationError::NothingMatched { target: target.clone(), what: "server" });
        }
        Ok(Plan { steps, unchanged })
    }
}
