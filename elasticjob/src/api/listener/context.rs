//! The context of a listener: the listener round that it is called for.

use std::sync::Arc;

use chrono::{DateTime, FixedOffset};
use tokio_util::sync::CancellationToken;

use crate::api::RunInfo;
use crate::fire::{ExecutionSource, Rerun};
use crate::ident::{InstanceId, JobName, ShardingItem, TaskId};

/// The items of a fire that this instance runs, and why it runs them. Cheap to clone.
#[derive(Debug, Clone)]
pub struct ListenerContext(Arc<ListenerRound>);

/// The values behind a [`ListenerContext`]. Made by the runtime, and by tests that call a listener themselves.
#[derive(Debug, Clone)]
pub struct ListenerRound {
    /// The run of the items of this instance.
    pub run: Arc<RunInfo>,
    /// See [`ListenerContext::cancelled`].
    pub cancellation: CancellationToken,
}

impl ListenerContext {
    /// Wraps the values of a round.
    pub fn new(round: ListenerRound) -> Self {
        Self(Arc::new(round))
    }

    /// Name of the job.
    pub fn job_name(&self) -> &JobName {
        self.0.run.configuration.job_name()
    }

    /// Id of the run as ElasticJob writes it. It is the same for all runs of the same items on the same instance.
    pub fn task_id(&self) -> &TaskId {
        &self.0.run.task_id
    }

    /// The instance that calls the listener.
    pub fn instance_id(&self) -> &InstanceId {
        &self.0.run.instance
    }

    /// The number of items of the job.
    pub fn sharding_total_count(&self) -> u32 {
        self.0.run.configuration.sharding_total_count()
    }

    /// The parameter of the whole job, empty when none is configured.
    pub fn job_parameter(&self) -> &str {
        self.0.run.configuration.job_parameter()
    }

    /// The items of this instance, in ascending order, each with its parameter when one is configured for it. A once
    /// listener gets the items of the instance that calls it.
    pub fn sharding_items(&self) -> impl ExactSizeIterator<Item = (ShardingItem, Option<&str>)> {
        self.0.run.items.iter().map(|item| (*item, self.0.run.configuration.sharding_parameter(*item)))
    }

    /// The time the fire was scheduled for, in the zone of the job; of a manual trigger the time it was triggered, of a
    /// [re-run](Self::rerun) the time the fire was scheduled for that is run again.
    pub fn scheduled_at(&self) -> DateTime<FixedOffset> {
        self.0.run.scheduled_at
    }

    /// The past fire that is run again, as an operator asked for it; `None` for a fire that came.
    pub fn rerun(&self) -> Option<Rerun> {
        self.0.run.rerun()
    }

    /// Why the items are run.
    pub fn source(&self) -> ExecutionSource {
        self.0.run.key.source
    }

    /// Completes when the listener should return: the session of the instance can no longer be proven, or the program is
    /// being stopped and its grace time is over. Shortly after it the future of the call is dropped.
    pub async fn cancelled(&self) {
        self.0.cancellation.cancelled().await;
    }

    /// Whether the listener should return. For loops and blocking code.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancellation.is_cancelled()
    }

    /// The token behind [`cancelled`](Self::cancelled), to hand to other code.
    pub fn cancellation_token(&self) -> &CancellationToken {
        &self.0.cancellation
    }
}
