//! The context of an item: the job, the fire and the item that a run is for.

#[cfg(test)]
pub(crate) mod fixture;

use std::sync::{Arc, OnceLock};

use chrono::{DateTime, FixedOffset};
use tokio_util::sync::CancellationToken;

use super::{Lease, RunInfo};
use crate::config::JobConfiguration;
use crate::fire::{CancelReason, CancelRequest, ExecutionSource, Fire, Rerun};
use crate::ident::{InstanceId, JobName, ShardingItem, TaskId};

/// Everything that the run of one item receives. Cheap to clone.
#[derive(Debug, Clone)]
pub struct ShardingContext(Arc<ItemRun>);

/// The values behind a [`ShardingContext`]. Made by the runtime, and by tests that call a job function themselves.
#[derive(Debug, Clone)]
pub struct ItemRun {
    /// The run of all items of this instance.
    pub run: Arc<RunInfo>,
    /// The item.
    pub item: ShardingItem,
    /// See [`ShardingContext::fencing_token`].
    pub fencing_token: Option<i64>,
    /// See [`ShardingContext::attempt`].
    pub attempt: u32,
    /// See [`ShardingContext::stop_wanted`]. A child of `cancellation`: a run that has to end is also asked to end.
    pub stop: CancellationToken,
    /// See [`ShardingContext::cancelled`].
    pub cancellation: CancellationToken,
    /// See [`ShardingContext::cut_reason`].
    pub cut: Cut,
    /// See [`ShardingContext::is_session_proven`].
    pub lease: Lease,
}

/// Why a run is cut off, once it is. Clones share it: the runtime has one, and the context of the run has the other.
#[derive(Debug, Clone, Default)]
pub struct Cut(Arc<OnceLock<Noted>>);

#[derive(Debug)]
struct Noted {
    reason: CancelReason,
    request: Option<CancelRequest>,
}

impl Cut {
    /// Notes the reason. A run is cut off once: later reasons change nothing.
    pub fn note(&self, reason: CancelReason) {
        // An error says that there is a reason already.
        let _ = self.0.set(Noted { reason, request: None });
    }

    /// Notes that an operator cancelled the run.
    pub(crate) fn note_request(&self, request: CancelRequest) {
        let _ = self.0.set(Noted { reason: CancelReason::Operator, request: Some(request) });
    }

    /// The reason, `None` as long as there is none.
    pub fn reason(&self) -> Option<CancelReason> {
        self.0.get().map(|noted| noted.reason)
    }

    /// The request of the operator that cancelled the run, `None` where none did.
    pub fn request(&self) -> Option<&CancelRequest> {
        self.0.get()?.request.as_ref()
    }
}

impl ShardingContext {
    /// Wraps the values of a run.
    pub fn new(run: ItemRun) -> Self {
        Self(Arc::new(run))
    }

    /// Name of the job.
    pub fn job_name(&self) -> &JobName {
        self.0.run.configuration.job_name()
    }

    /// Id of the run as ElasticJob writes it. It is the same for all runs of the same items on the same instance.
    pub fn task_id(&self) -> &TaskId {
        &self.0.run.task_id
    }

    /// The instance that runs the item.
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

    /// The job as configured when the run began.
    pub(crate) fn configuration(&self) -> &JobConfiguration {
        &self.0.run.configuration
    }

    /// A property of the job (`props`), `None` when it is not set.
    pub fn prop(&self, key: &str) -> Option<&str> {
        self.0.run.configuration.prop(key)
    }

    /// The item to work on, from 0 to the total count minus 1.
    pub fn sharding_item(&self) -> ShardingItem {
        self.0.item
    }

    /// The parameter of the item, `None` when none is configured for it.
    pub fn sharding_parameter(&self) -> Option<&str> {
        self.0.run.configuration.sharding_parameter(self.0.item)
    }

    /// The fire that the item is run for. Its identity is the same on all instances, also when the item is taken over.
    pub fn fire(&self) -> Fire {
        self.0.run.key.fire
    }

    /// The run that the item belongs to: all items of the fire that began together on this instance.
    pub fn run(&self) -> &RunInfo {
        &self.0.run
    }

    /// The time the fire was scheduled for, in the zone of the job; of a manual trigger the time it was triggered, of a
    /// [re-run](Self::rerun) the time the fire was scheduled for that is run again.
    pub fn scheduled_at(&self) -> DateTime<FixedOffset> {
        self.0.run.scheduled_at
    }

    /// The past fire that is run again, as an operator asked for it; `None` for a fire that came. A job that must not do
    /// its work twice looks here. [`fire`](Self::fire) is another one than that of the first run.
    pub fn rerun(&self) -> Option<Rerun> {
        self.0.run.rerun()
    }

    /// Why the item is run: its fire came, a missed fire is made up for, or the run that a fire began was lost with its
    /// instance and is run again here. In the last case part of the work may have been done before.
    pub fn source(&self) -> ExecutionSource {
        self.0.run.key.source
    }

    /// A number that only grows from one run of this item to the next, over all instances.
    ///
    /// Hand it to the storage that the item writes to, and let the storage refuse a write with a smaller number than
    /// the last one it saw. That stops a process that was frozen, has lost its items and does not know it yet. `None`
    /// when execution is not monitored. The number starts from the beginning only when the data of the registry center
    /// are wiped.
    ///
    /// An item that `elasticjob cloud` runs elsewhere keeps its number when its place is lost and the carrier runs it again: the
    /// [attempt](Self::attempt) grows then. Let the storage compare both, first this number.
    pub fn fencing_token(&self) -> Option<i64> {
        self.0.fencing_token
    }

    /// The attempt of this run, from 1. It grows when `elasticjob cloud` runs the item elsewhere, its place is lost, and the
    /// carrier runs it again; the process on the lost place may still be alive. A job that runs in its own instance has 1, as a takeover
    /// is another run with another [`fencing_token`](Self::fencing_token).
    pub fn attempt(&self) -> u32 {
        self.0.attempt
    }

    /// Completes when the run is asked to come to an end: the leader is about to reshard (an instance came or went, or
    /// the settings changed), the program is being stopped, an operator disabled the server or the item, or the
    /// properties of the job changed. Completes too when the run is [`cancelled`](Self::cancelled).
    ///
    /// It is a wish: nothing is dropped, and a run that returns well has succeeded. A job that works in portions, or
    /// waits for work, should return after the portion under way; the next fire continues on the instance that owns the
    /// item then. A stream of [`Dataflow`](super::Dataflow) does so by itself.
    pub async fn stop_wanted(&self) {
        self.0.stop.cancelled().await;
    }

    /// Whether the run is asked to come to an end, see [`stop_wanted`](Self::stop_wanted). For loops and blocking
    /// code.
    pub fn is_stop_wanted(&self) -> bool {
        self.0.stop.is_cancelled()
    }

    /// The token behind [`stop_wanted`](Self::stop_wanted), to hand to other code.
    pub fn stop_token(&self) -> &CancellationToken {
        &self.0.stop
    }

    /// Completes when the run should end: the session of the instance can no longer be proven, an operator cancelled the
    /// run, or the program is being stopped and its grace time is over. Shortly after it the future of the run is dropped.
    pub async fn cancelled(&self) {
        self.0.cancellation.cancelled().await;
    }

    /// Whether the run should end. For loops and blocking code.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancellation.is_cancelled()
    }

    /// Why the run is cut off. `None` as long as it is not [`cancelled`](Self::cancelled), and where the coordination of
    /// the job ended by a bug. When the run hears that it is cancelled, the reason is there.
    ///
    /// Code that only watches work elsewhere tells by it whether to end that work, or to let go of it: after a lost
    /// session another instance takes the item over.
    pub fn cut_reason(&self) -> Option<CancelReason> {
        self.0.cut.reason()
    }

    /// The request of the operator that cancelled the run, with its actor and reason: [`cut_reason`](Self::cut_reason) is
    /// [`Operator`](CancelReason::Operator) then. `None` otherwise.
    pub fn cancel_request(&self) -> Option<&CancelRequest> {
        self.0.cut.request()
    }

    /// Whether the session of the instance is proven at this moment, by the clocks of the host. As long as it is, no other
    /// instance is given the item. A process that was frozen may be here before it hears that the run is
    /// [`cancelled`](Self::cancelled): code that is about to do what must not be done twice asks this right before.
    pub fn is_session_proven(&self) -> bool {
        self.0.lease.holds()
    }

    /// The token behind [`cancelled`](Self::cancelled), to hand to other code.
    pub fn cancellation_token(&self) -> &CancellationToken {
        &self.0.cancellation
    }
}
