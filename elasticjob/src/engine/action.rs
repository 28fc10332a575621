//! The actions that an engine asks for.

use std::sync::Arc;

use super::event::{RoundId, TriggerId};
use super::notice::Notice;
use crate::config::JobConfiguration;
use crate::fire::{CancelReason, CancelRequest, Hook, RunKey};
use crate::ident::{InstanceId, JobName, ShardingItem};
use crate::registry::layout::JobPath;
use crate::registry::mirror::WatchChanges;
use crate::registry::{Transaction, Zxid};

/// Something to do. Answers come back as [`Event`](super::Event)s.
#[derive(Debug, Clone)]
pub enum Action {
    /// List the children of these nodes.
    List {
        /// Tag of the question.
        generation: u32,
        /// The nodes.
        paths: Vec<JobPath>,
    },
    /// Read the data of these nodes.
    Read {
        /// Tag of the question.
        generation: u32,
        /// The nodes.
        paths: Vec<JobPath>,
    },
    /// Add watches and drop others. Each that is added reports when it is in place, and again after each gap:
    /// [`Event::Watching`](super::Event::Watching), for the whole job [`Event::Watch`](super::Event::Watch).
    Watch(WatchChanges),
    /// Commit this transaction. There is never a second one before the first is answered.
    Commit(Transaction),
    /// Prove that the session lives: take the proof of a transaction that the leader of the registry answered a moment ago, or
    /// commit a transaction that writes nothing. A read proves nothing, as a cut-off server answers it too.
    Prove,
    /// Start the runs of these items.
    Start(Start),
    /// Ask the runs of these items to end. They may go on.
    AskToStop(Vec<ShardingItem>),
    /// Fire the cancellation tokens of these items' runs.
    Cancel {
        /// The items.
        items: Vec<ShardingItem>,
        /// Why they are cut off.
        reason: CancelReason,
    },
    /// Fire the cancellation token of an item's run, as an operator wants its end.
    CancelOnRequest {
        /// The item.
        item: ShardingItem,
        /// The request.
        request: CancelRequest,
    },
    /// Tell what the registry says of these jobs, now and after each change, until others are named here.
    FollowJobs(Vec<JobName>),
    /// Drop the futures of these items' runs.
    Abort(Vec<ShardingItem>),
    /// Wait no longer for the runs of these items: their code does not return, and the job leaves without them.
    Abandon(Vec<ShardingItem>),
    /// Call listeners.
    CallListeners(ListenerCall),
    /// Fire the cancellation token of the call that this round has under way.
    CancelListeners(RoundId),
    /// Drop the future of the call that this round has under way.
    AbortListeners(RoundId),
    /// Answer a manual trigger.
    AnswerTrigger(TriggerId, TriggerAnswer),
    /// Tell the program that waits for the start that the job is in the group, or why it cannot be. The first answer
    /// counts.
    AnswerStart(Result<(), String>),
    /// Log it, trace it, and report it to the error handler where it is a failure. What the job does never depends on it.
    Tell(Notice),
    /// The engine has left the group, or could not join it. Nothing follows.
    Stopped,
}

/// Items to start together.
#[derive(Debug, Clone)]
pub struct Start {
    /// The run that they are a part of.
    pub key: RunKey,
    /// The instance as it is registered.
    pub instance: InstanceId,
    /// The configuration they run with.
    pub configuration: Arc<JobConfiguration>,
    /// The items, each with its fencing token when execution is monitored.
    pub items: Vec<(ShardingItem, Option<Zxid>)>,
}

/// Listeners to call one after the other. [`Event::ListenersCalled`](super::Event::ListenersCalled) reports the end.
#[derive(Debug, Clone)]
pub struct ListenerCall {
    /// The listener round of the call. A listener round has one call at a time.
    pub round: RoundId,
    /// The hook for which they are called.
    pub hook: Hook,
    /// Their type names, in order.
    pub listeners: Vec<Arc<str>>,
    /// The run of the round.
    pub key: RunKey,
    /// The instance as it is registered.
    pub instance: InstanceId,
    /// The configuration that the items run with.
    pub configuration: Arc<JobConfiguration>,
    /// The items of the round on this instance.
    pub items: Vec<ShardingItem>,
}

/// The outcome of a manual trigger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TriggerAnswer {
    /// Every enabled instance was asked.
    Queued,
    /// All of them had been asked before and have not begun yet.
    AlreadyPending,
    /// No enabled instance is online.
    NoEnabledInstance,
    /// The job is leaving.
    NotRunning,
    /// The registry center failed, as this text says.
    Registry(String),
}
