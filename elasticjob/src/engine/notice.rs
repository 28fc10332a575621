//! The notices of an engine: each is a line of the log, and part of the answer to "why did it not run".

use std::sync::Arc;

use crate::fire::{
    Attempt, CancelReason, CancelRequest, Fire, FireState, Hook, LateCause, Rerun, RunKey, SkipReason, StopReason,
    WaitedFor,
};
use crate::ident::{InstanceId, JobName, ShardingItem};
use crate::registry::SessionId;
use crate::sharding::ForeignToJava;
use crate::sharding::StrategyFault;

/// A fact worth a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The instance is in the group.
    Registered {
        /// Under this id.
        instance: InstanceId,
        /// In this session.
        session: SessionId,
    },
    /// The id of the process is taken by another live session, or by the ghost of one.
    IdTaken {
        /// The taken id.
        taken: InstanceId,
        /// The id used instead.
        instance: InstanceId,
    },
    /// A setting differs between the program and the registry.
    ConfigurationDiffers {
        /// The differences, one for each setting.
        differences: Vec<String>,
        /// Whether the program's values were written to the registry (`overwrite`).
        overwritten: bool,
    },
    /// The configuration that this instance wrote has values that Java instances of the job cannot use.
    ForeignToJava {
        /// These.
        values: Vec<ForeignToJava>,
    },
    /// The configuration in the registry changed and is in force.
    ConfigurationChanged {
        /// What changed, see [`JobConfiguration::changes`](crate::config::JobConfiguration::changes). Empty where that
        /// concerns no setting that this program follows.
        changes: Vec<String>,
    },
    /// The configuration in the registry changed and is not accepted; the last good one stays in force.
    ConfigurationRefused {
        /// Why.
        why: String,
    },
    /// The configuration in the registry is not accepted, and there is no good one before it: the engine joins the group
    /// when it is mended.
    WaitsForConfiguration {
        /// Why.
        why: String,
    },
    /// The configuration in the registry is in force, but for some values.
    ValuesRefused {
        /// These values, and what to do.
        values: Arc<str>,
    },
    /// The engine cannot join the group.
    StartFailed {
        /// Why, and what to do.
        why: String,
    },
    /// This instance leads.
    Elected,
    /// This instance gave up leading: its server is disabled.
    Abdicated,
    /// The leader asks for resharding.
    ReshardRequested {
        /// The change.
        why: String,
    },
    /// The leader looks at everything again, as it does at an interval.
    Reconciling,
    /// The leader assigned the items.
    Resharded {
        /// The moves, each as `item: from -> to`.
        moved: Vec<String>,
        /// Items that stay where they are for now: they run, or are to run for a manual trigger.
        pinned: Vec<ShardingItem>,
    },
    /// The sharding strategy failed the leader, which assigns by `AVG_ALLOCATION` instead.
    StrategyFailed {
        /// Type name of the strategy.
        strategy: String,
        /// The fault of the strategy.
        fault: StrategyFault,
    },
    /// Items of a fire begin late.
    BegunLate {
        /// The fire.
        fire: Fire,
        /// The items.
        items: Vec<ShardingItem>,
        /// How late, in seconds.
        seconds: u64,
        /// Why, as far as this instance knows.
        why: LateCause,
    },
    /// No instance began these fires for items that came here, and none will: a later fire is begun.
    NotBegun {
        /// The items.
        items: Vec<ShardingItem>,
        /// The first of these fires, in milliseconds since 1970.
        from: i64,
        /// The fire that is begun.
        before: i64,
    },
    /// The items of a fire that this instance owns began.
    Begun {
        /// The run.
        key: RunKey,
        /// The attempt that began them; `None` where execution is not monitored.
        attempt: Option<Attempt>,
        /// The items.
        items: Vec<ShardingItem>,
    },
    /// A fire, or some items of it, are not run by this instance.
    Skipped {
        /// The fire.
        fire: Fire,
        /// The items, none when the whole fire is meant.
        items: Vec<ShardingItem>,
        /// Why.
        reason: SkipReason,
    },
    /// A missed fire will not be made up for by itself: a later one takes its place.
    Collapsed {
        /// The missed fire, in milliseconds since 1970.
        earlier: i64,
        /// The later one.
        into: i64,
    },
    /// An item was taken over: its run had begun and was lost.
    TakenOver {
        /// The fire that had begun it.
        fire: Fire,
        /// The item.
        item: ShardingItem,
        /// The instance that ran it, when known.
        from: Option<InstanceId>,
    },
    /// A fire came, and this instance has no item to run.
    NothingToRun {
        /// The fire.
        fire: Fire,
    },
    /// Items whose runs were cut off wait for an instance that takes them over.
    HandedOver {
        /// The fire.
        fire: Fire,
        /// The items.
        items: Vec<ShardingItem>,
    },
    /// Scheduled fires were due while the engine did not look: the process was stopped, or the clock stepped.
    Missed {
        /// The first of them, in milliseconds since 1970.
        from: i64,
        /// The fire that is run instead of them.
        until: i64,
    },
    /// The clock of this host is too far off from that of the registry center: fires are skipped.
    ClockOff {
        /// The difference in milliseconds, positive when this host is ahead.
        difference: i64,
        /// The allowed difference, in seconds.
        limit: u32,
    },
    /// The clocks agree again as far as they have to.
    ClockRight,
    /// The run of a fire is over here.
    Finished {
        /// The run.
        key: RunKey,
        /// How each item ended.
        items: Vec<(ShardingItem, FireState)>,
    },
    /// A run ended after its item went on without it.
    Stale {
        /// The fire.
        fire: Fire,
        /// The item.
        item: ShardingItem,
    },
    /// Runs are asked to come to an end. Most end soon anyway; streams end after the round under way.
    StopAsked {
        /// The items.
        items: Vec<ShardingItem>,
        /// Why.
        reason: StopReason,
    },
    /// Runs are cancelled.
    RunsCancelled {
        /// The items.
        items: Vec<ShardingItem>,
        /// Why.
        reason: CancelReason,
    },
    /// The run of an item is cancelled, as an operator wants its end.
    CancelledOnRequest {
        /// The fire.
        fire: Fire,
        /// The item.
        item: ShardingItem,
        /// The request.
        request: CancelRequest,
    },
    /// The run of an item was lost after an operator cancelled it: its end is written, and no instance runs it again.
    LostAfterCancel {
        /// The fire.
        fire: Fire,
        /// The item.
        item: ShardingItem,
        /// The instance that ran it, when known.
        from: Option<InstanceId>,
        /// The request.
        request: CancelRequest,
    },
    /// Items that were begun end before they were started.
    NotStarted {
        /// The run.
        key: RunKey,
        /// The items.
        items: Vec<ShardingItem>,
        /// Why.
        reason: CancelReason,
    },
    /// A listener is called here, on behalf of the group.
    CalledOnce {
        /// The fire.
        fire: Fire,
        /// Type name of the listener.
        listener: Arc<str>,
        /// The hook for which it is called.
        hook: Hook,
    },
    /// This instance waited for a call on behalf of the group for as long as it may, and goes on without it.
    ListenerTimedOut {
        /// The fire.
        fire: Fire,
        /// Type name of the listener.
        listener: Arc<str>,
        /// The hook for which it was to be called.
        hook: Hook,
        /// What it waited for last.
        waited_for: WaitedFor,
    },
    /// The call of a listener on behalf of the group was cut off, as the instance that made it is gone, or its coordination
    /// is. The listener is not called again for this fire.
    ListenerInterrupted {
        /// The fire.
        fire: Fire,
        /// Type name of the listener.
        listener: Arc<str>,
        /// The hook for which it was called.
        hook: Hook,
        /// The instance that called it.
        by: InstanceId,
    },
    /// The fire is so old that no record says whether the listener was called on behalf of the group: it is not called.
    ListenerTooLate {
        /// The fire.
        fire: Fire,
        /// Type name of the listener.
        listener: Arc<str>,
        /// The hook for which it would have been called.
        hook: Hook,
    },
    /// Listeners that execute are cancelled, or are not called any more: their run was cut off.
    ListenersCutOff {
        /// The fire.
        fire: Fire,
        /// Why.
        reason: CancelReason,
    },
    /// Listeners that were cut off do not end, as blocking code cannot be stopped: the instance leaves without them.
    ListenersAbandoned {
        /// The fire.
        fire: Fire,
    },
    /// Runs that were cut off do not end, as blocking code cannot be stopped: the instance leaves without them.
    RunsAbandoned {
        /// The items.
        items: Vec<ShardingItem>,
    },
    /// The connection to the registry center is lost; nothing begins until it is back.
    RegistryLost,
    /// The registry center is back.
    RegistryBack {
        /// The session.
        session: SessionId,
        /// Whether it is another session than before.
        new: bool,
        /// Whether the job was never connected before.
        first: bool,
    },
    /// The registry center did not do what was asked, and it will be asked again.
    RegistryTrouble {
        /// What happened.
        why: String,
    },
    /// A manual trigger waited for an instance that has ended: its items are not run for it.
    TriggerDropped {
        /// That instance.
        instance: InstanceId,
        /// The items that it was to run, where they are known.
        items: Vec<ShardingItem>,
    },
    /// A manual trigger waited for an instance that has ended: its items are taken over.
    TriggerHandedOver {
        /// That instance.
        instance: InstanceId,
        /// These items.
        items: Vec<ShardingItem>,
    },
    /// A manual trigger waited for an instance that has ended, and an earlier run of its items is not over or was lost,
    /// too: the items are not run once more for the trigger.
    TriggerMerged {
        /// That instance.
        instance: InstanceId,
        /// These items.
        items: Vec<ShardingItem>,
    },
    /// No instance that a manual trigger asks owns these items: the leader had not assigned them when the trigger was written, they
    /// had no owner when it was taken, they came to an instance that was not asked, or they leave an instance whose server is
    /// disabled before it takes the trigger. They may not run for it.
    TriggerLeavesOut {
        /// These items.
        items: Vec<ShardingItem>,
    },
    /// The leader triggers the job for a past fire that is run again: the jobs before it have ended for that as they have to.
    RerunFollowed {
        /// The fire.
        rerun: Rerun,
        /// The job whose fire an operator runs again.
        from: JobName,
    },
    /// A past fire of jobs before this one is run again, and this job does not follow.
    RerunSkipped {
        /// The fire.
        rerun: Rerun,
        /// Why.
        reason: SkipReason,
    },
    /// Nodes that no instance makes were deleted, as they kept the node above them from being deleted.
    ForeignNodesDeleted {
        /// That node.
        above: String,
        /// The nodes below it.
        nodes: Vec<String>,
    },
    /// Nodes that no instance makes keep the node above them from being deleted.
    ForeignNodesKept {
        /// That node.
        above: String,
        /// Why they could not be deleted.
        why: String,
    },
    /// Nodes that stand for an instance, a run or a candidate were deleted, as no session owned them.
    SessionlessNodesDeleted {
        /// These nodes.
        nodes: Vec<String>,
    },
    /// The leader begins no fire: another job that the items follow item by item has another number of items.
    TotalsDiffer {
        /// The other job.
        other: JobName,
        /// How many items that job has.
        of_other: u32,
        /// How many items this job has.
        own: u32,
    },
    /// The rules decided again and again without an end: a bug of the engine. It goes on with the next event.
    RulesCircle,
    /// The registry center has lost the data of the job, with the session of this instance, which wrote the configuration again.
    DataLost,
    /// An operator deleted the instance: it leaves.
    RemovedByOperator,
    /// The instance left the group.
    Left,
    /// The instance ends, and the registry center did not answer its leaving: its nodes are there until its session ends.
    LeftUnanswered,
}
