//! The items of a job: their owners, their states, their last and next fires.

use serde::Serialize;

use super::{ItemSnapshot, JobSnapshot};
use crate::fire::Begun;
use crate::ident::{InstanceId, JobName, ShardingItem};
use crate::operations::{OperationError, Operations};

/// The state of an item. The names are those of ElasticJob's console.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum ShardState {
    /// An operator disabled it.
    Disabled,
    /// It runs.
    Running,
    /// It has no owner, or the owner is not online: the leader will assign it again.
    ShardingFlag,
    /// It waits for its next fire.
    Pending,
}

impl ShardState {
    /// The name in the console.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Disabled => "DISABLED",
            Self::Running => "RUNNING",
            Self::ShardingFlag => "SHARDING_FLAG",
            Self::Pending => "PENDING",
        }
    }
}

/// An item of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ShardInfo {
    /// The item.
    pub item: ShardingItem,
    /// The parameter that the configuration has for it.
    pub parameter: Option<String>,
    /// Its state.
    pub status: ShardState,
    /// Its owner, whether it is online or not.
    pub instance: Option<InstanceId>,
    /// The address of the owner's server.
    pub server: Option<String>,
    /// Whether an instance took it over after its run was lost.
    pub failover: bool,
    /// The last fire that was begun. `None` where execution is not monitored, or where a Java instance ran it.
    pub last: Option<Begun>,
    /// The next scheduled fire in milliseconds since 1970; `None` where the item takes part in none.
    pub next_fire: Option<i64>,
}

impl JobSnapshot {
    /// The items in ascending order, at a time in milliseconds since 1970.
    ///
    /// A schedule without a zone uses the zone of the hosts that run the job; here the next fire is computed in the
    /// zone of this host.
    pub fn shards(&self, now: i64) -> Vec<ShardInfo> {
        self.items.iter().map(|(item, nodes)| self.shard(*item, nodes, now)).collect()
    }

    fn shard(&self, item: ShardingItem, nodes: &ItemSnapshot, now: i64) -> ShardInfo {
        let configuration = self.usable();
        let server = |id: &InstanceId| match self.members.instances.get(id) {
            Some(server) => server.clone(),
            None => id.server_ip().to_owned(),
        };
        let parameter = configuration.and_then(|configuration| configuration.sharding_parameter(item));
        ShardInfo {
            item,
            parameter: parameter.map(str::to_owned),
            status: self.shard_state(nodes),
            instance: nodes.owner.clone(),
            server: nodes.owner.as_ref().map(server),
            failover: nodes.taken_over_by.is_some(),
            last: nodes.record.last.clone(),
            next_fire: self.next_fire(now).filter(|_| self.takes_part(nodes)),
        }
    }

    /// Whether an instance will run the item at the next fire: its owner where items stay with their owner, else any
    /// instance on an enabled server, as the leader assigns items again that their owner may not run.
    fn takes_part(&self, nodes: &ItemSnapshot) -> bool {
        let may_run = |server: &String| self.members.is_enabled(server);
        let owner = nodes.owner.as_ref().filter(|_| self.usable().is_some_and(|it| it.static_sharding()));
        let is_owned = match owner {
            Some(owner) => self.members.instances.get(owner).is_some_and(may_run),
            None => self.members.instances.values().any(may_run),
        };
        is_owned && !nodes.disabled
    }

    pub(super) fn shard_state(&self, nodes: &ItemSnapshot) -> ShardState {
        let is_online = |id: &InstanceId| self.members.instances.contains_key(id);
        if nodes.disabled {
            ShardState::Disabled
        } else if nodes.running.is_some() {
            ShardState::Running
        } else if nodes.owner.as_ref().is_some_and(is_online) {
            ShardState::Pending
        } else {
            ShardState::ShardingFlag
        }
    }

    /// The next scheduled fire after a time, both in milliseconds since 1970.
    pub fn next_fire(&self, now: i64) -> Option<i64> {
        self.usable()?.schedule()?.next_after(now)
    }
}

impl Operations {
    /// The items of a job at a time in milliseconds since 1970, in ascending order.
    ///
    /// # Errors
    /// [`OperationError::NoSuchJob`], [`OperationError::Read`].
    pub async fn shards(&self, job: &JobName, now: i64) -> Result<Vec<ShardInfo>, OperationError> {
        Ok(self.snapshot(job).await?.shards(now))
    }
}
