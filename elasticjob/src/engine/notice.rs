//! The notices of an engine: each is a line of the log, and part of the answer to "why did it not run".

use std::fmt;
use std::sync::Arc;

use super::fire::{ExecutionSource, Fire, FireState};
use super::listeners::Hook;
use super::strategy::StrategyFault;
use crate::config::ForeignToJava;
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::SessionId;

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
    ConfigurationChanged,
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
        /// The fire.
        fire: Fire,
        /// Why they are run.
        source: ExecutionSource,
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
        /// The fire.
        fire: Fire,
        /// Why it was run.
        source: ExecutionSource,
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
    /// Items that were begun end before they were started.
    NotStarted {
        /// The fire.
        fire: Fire,
        /// Why they were to be run.
        source: ExecutionSource,
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
    /// An operator deleted the instance: it leaves.
    RemovedByOperator,
    /// The instance left the group.
    Left,
}

/// Why a fire or an item of it is not run here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkipReason {
    /// The previous fire still runs here.
    StillRunning {
        /// The previous fire.
        since: Fire,
    },
    /// The registry center is not connected, and its answer whether the previous fire has begun did not come yet.
    BeginUnknown,
    /// Another instance runs the item.
    RunsElsewhere {
        /// The instance, when known.
        by: Option<InstanceId>,
    },
    /// The item was begun for this fire, or decided against, before.
    AlreadyBegun {
        /// The instance that began it or decided against it, when known.
        by: Option<InstanceId>,
    },
    /// The item was begun, or decided against, for fires that are still far ahead by the clock of this host: the clock
    /// of the host that began the last one was ahead, or the clock of this host is behind. No fire of the item is begun
    /// until then.
    DecidedAhead {
        /// The instance that began it or decided against it, when known.
        by: Option<InstanceId>,
        /// For how long from now on, in seconds.
        seconds: i64,
    },
    /// The run of an earlier fire was lost and is to be taken over first.
    AwaitingFailover,
    /// The registry kept refusing to begin the item.
    Refused,
    /// The next fire came before this one could begin: no assignment, or no proven session.
    NotBegunInTime,
    /// The server of this instance is disabled.
    ServerDisabled,
    /// The item is disabled.
    ItemDisabled,
    /// The clock of this host is too far off from that of the registry center.
    ClockOff {
        /// The difference in milliseconds, positive when this host is ahead.
        difference: i64,
    },
    /// Static sharding leaves the item to an instance that is not online.
    OwnerGone {
        /// That instance.
        owner: InstanceId,
    },
    /// The instance leaves.
    Leaving,
    /// The registry center is not connected.
    RegistryLost,
    /// No instance has begun it, and it may not begin so late.
    TooLate {
        /// How late it is, in seconds.
        seconds: u64,
        /// How late it may begin, in seconds.
        limit: u64,
    },
    /// It is late and no record says that it was begun, but a Java instance may have run it, which writes none.
    MaybeRunByJava,
}

/// Why a fire begins late.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LateCause {
    /// It waited for its assignment, or for the registry center to answer.
    Waited,
    /// The item came to this instance when the fire was due already; its owner before had not begun it.
    Acquired,
    /// The registry center was not connected when it was due.
    RegistryAway,
    /// It was due before this instance was there, and no instance had begun it.
    BeforeJoining,
    /// The process was stopped when it was due, or its clock stepped.
    Overslept,
}

impl fmt::Display for LateCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Waited => "it waited for the assignment of its items, or for the registry center",
            Self::Acquired => {
                "the items came to this instance when the fire was due already, and their owner had not begun them"
            }
            Self::RegistryAway => "the registry center was not connected when it was due",
            Self::BeforeJoining => "it was due before this instance was there, and no instance had begun it",
            Self::Overslept => "the process was stopped when it was due, or its clock stepped",
        })
    }
}

impl SkipReason {
    /// Whether a fire that was to run is lost for this reason.
    pub fn gives_up(&self) -> bool {
        matches!(self, Self::RegistryLost | Self::NotBegunInTime | Self::Refused | Self::TooLate { .. })
    }
}

/// What a call on behalf of the group had to wait for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WaitedFor {
    /// Items of the round that had not begun, or not ended.
    Items(Vec<ShardingItem>),
    /// The end of the call by this instance.
    Call {
        /// The instance that called it.
        by: InstanceId,
    },
    /// An answer of the registry center.
    Registry,
}

/// Why runs should come to an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The leader has to assign the items again, and those that run stay where they are until they end.
    Resharding,
    /// The instance leaves: the program is being stopped, or an operator wants it.
    Leaving,
    /// An operator disabled the server.
    ServerDisabled,
    /// An operator disabled the item.
    ItemDisabled,
    /// The properties of the job (`props`) changed: a run goes on with those it began with.
    PropsChanged,
}

/// Why runs are cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelReason {
    /// The session cannot be proven any more: another instance may be given the items.
    SessionUnproven,
    /// The wall clock of this host leapt ahead of the clock that never steps: the machine was suspended or paused, or its
    /// clock was set. So long after the last proof of the session another instance may have been given the items.
    ClockLeapt,
    /// The grace time of the shutdown is over, or it was asked not to wait.
    Shutdown,
}

impl fmt::Display for CancelReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SessionUnproven => {
                "the session with the registry center can no longer be proven, others may be given the items"
            }
            Self::ClockLeapt => {
                "the clock of this host leapt ahead: the machine was suspended or paused, or its clock was set; if it was \
                 suspended, others were given the items"
            }
            Self::Shutdown => "the shutdown waits no longer",
        })
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Resharding => "the leader will assign the items again",
            Self::Leaving => "the instance is leaving",
            Self::ServerDisabled => "the server is disabled",
            Self::ItemDisabled => "the item is disabled",
            Self::PropsChanged => "the properties of the job changed",
        })
    }
}

impl fmt::Display for WaitedFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Items(items) => write!(f, "items {items:?}"),
            Self::Call { by } => write!(f, "the end of its call by {by}"),
            Self::Registry => f.write_str("an answer of the registry center"),
        }
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let somebody = |by: &Option<InstanceId>| by.as_ref().map_or("another instance".to_owned(), ToString::to_string);
        match self {
            Self::StillRunning { .. } => f.write_str("the previous run has not ended"),
            Self::BeginUnknown => f.write_str(
                "whether the previous fire has begun is not known until the registry center is connected again",
            ),
            Self::RunsElsewhere { by } => write!(f, "the item is running on {}", somebody(by)),
            Self::AlreadyBegun { by } => write!(f, "already begun or decided against by {}", somebody(by)),
            Self::DecidedAhead { by, seconds } => write!(
                f,
                "fires of the next {seconds} s are begun or decided against by {} already: a clock is or was that far off; when \
                 the clocks of all hosts agree, delete the node `sharding/ITEM/fire` to have the item run again at once",
                somebody(by)
            ),
            Self::AwaitingFailover => f.write_str("the lost run of an earlier fire is to be taken over first"),
            Self::Refused => f.write_str("the registry center kept refusing to begin it"),
            Self::NotBegunInTime => f.write_str("the next fire came before it could begin"),
            Self::ServerDisabled => f.write_str("the server is disabled"),
            Self::ItemDisabled => f.write_str("the item is disabled"),
            Self::ClockOff { difference } => {
                let side = if *difference > 0 { "ahead of" } else { "behind" };
                let seconds = difference.unsigned_abs() as f64 / 1_000.0;
                write!(f, "the clock of this host is {seconds} s {side} that of the registry center")
            }
            Self::OwnerGone { owner } => {
                write!(f, "static sharding leaves the item to {owner}, which is not online")
            }
            Self::Leaving => f.write_str("the instance is leaving"),
            Self::RegistryLost => f.write_str("the registry center is not connected"),
            Self::TooLate { seconds, limit } => {
                write!(f, "no instance has begun it, it is {seconds} s late, and it may begin {limit} s late at most")
            }
            Self::MaybeRunByJava => f.write_str(
                "no record says that it was begun, but a Java instance may have run it without one, so it does not begin late",
            ),
        }
    }
}
