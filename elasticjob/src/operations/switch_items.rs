//! Disables and enables single items.

use serde::Serialize;

use super::audit::Action;
use super::commit::{Plan, Step};
use super::{OperationError, Operations, Outcome, Target};
use crate::ident::{JobName, ShardingItem};
use crate::registry::Op;
use crate::registry::layout::{ItemNode, JobPath, ServerStatus};

/// A sharding item of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ItemOfJob {
    /// The job.
    pub job: JobName,
    /// The item.
    pub item: ShardingItem,
}

impl Operations {
    /// Disables an item: no instance runs it from the next fire on. It keeps its owner, and a run of it goes on.
    ///
    /// # Errors
    /// [`OperationError::NoSuchItem`]: items exist from the first assignment on. Java creates a node for any number.
    pub async fn disable_item(&self, job: &JobName, item: ShardingItem) -> Result<Outcome<ItemOfJob>, OperationError> {
        let action = Action::on("disable-item", &Target::Job(job.clone())).to(ServerStatus::Disabled);
        self.carry_out(action, || self.plan_item(job, item, true)).await
    }

    /// Enables an item again.
    ///
    /// # Errors
    /// [`OperationError::NoSuchItem`].
    pub async fn enable_item(&self, job: &JobName, item: ShardingItem) -> Result<Outcome<ItemOfJob>, OperationError> {
        let action = Action::on("enable-item", &Target::Job(job.clone())).to(ServerStatus::Enabled);
        self.carry_out(action, || self.plan_item(job, item, false)).await
    }

    async fn plan_item(
        &self,
        job: &JobName,
        item: ShardingItem,
        disable: bool,
    ) -> Result<Plan<ItemOfJob>, OperationError> {
        let Some(nodes) = self.children(JobPath::Item(item, ItemNode::Dir).absolute(job)).await? else {
            if self.get(JobPath::Root.absolute(job)).await?.is_none() {
                return Err(self.no_such_job(job).await);
            }
            let count = self.names(JobPath::Sharding.absolute(job)).await?.len();
            return Err(OperationError::NoSuchItem { job: job.clone(), item, count });
        };
        let one = ItemOfJob { job: job.clone(), item };
        let mark = JobPath::Item(item, ItemNode::Disabled).absolute(job);
        let is_disabled = nodes.iter().any(|node| node == ItemNode::Disabled.name());
        let op = match disable {
            _ if disable == is_disabled => return Ok(Plan { steps: Vec::new(), unchanged: vec![one] }),
            true => Op::Create { path: mark, data: "".into(), mode: crate::registry::CreateMode::Persistent },
            false => Op::Delete { path: mark, version: None },
        };
        Ok(Plan { steps: vec![Step::new(vec![one], vec![op])], unchanged: Vec::new() })
    }
}
