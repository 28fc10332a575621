//! The transactions that an engine writes, and their purposes.

use std::collections::{BTreeMap, BTreeSet};

use super::leadership::Basis;
use super::pending_trigger::PendingTrigger;
use crate::engine::action::TriggerAnswer;
use crate::engine::dependencies::{FollowedRerun, Unmet};
use crate::engine::event::RoundId;
use crate::engine::once_calls::SettledClaim;
use crate::fire::{Attempt, CancelRequest, Fire, RunKey};
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::Transaction;
use crate::registry::layout::JobPath;
use crate::sharding::ForeignToJava;

/// A transaction to commit, and its purpose.
#[derive(Debug)]
pub(in crate::engine) struct Proposal {
    pub(in crate::engine) transaction: Transaction,
    pub(in crate::engine) purpose: Purpose,
}

/// The purpose of the transaction in flight.
#[derive(Debug, Clone)]
pub(in crate::engine) enum Purpose {
    Register {
        /// The values of the configuration that it writes which only Rust instances can use.
        foreign: Vec<ForeignToJava>,
        /// How far the clock may be off, in seconds.
        max_time_diff: Option<u32>,
        /// Earlier instances whose manual trigger is deleted.
        dropped: Vec<InstanceId>,
    },
    AskTime,
    Candidate,
    Elect,
    Abdicate,
    Request {
        why: String,
    },
    Reshard(Sharding),
    NoteSchedule,
    /// Decisions on fires of the jobs that this one depends on.
    DecideFires {
        /// Those that are not run, each with the reason.
        skipped: Vec<(i64, Unmet)>,
        /// Fires that no reason names, as too many were not seen: the first ones, each with the next one that is decided.
        unseen: Vec<(i64, i64)>,
    },
    /// The decision on a re-run of jobs that this one depends on.
    FollowRerun {
        /// Boxed, as it is rare and would make every purpose larger.
        followed: Box<FollowedRerun>,
    },
    Trigger {
        asked: Vec<PendingTrigger>,
        /// The answer that they get when it is done.
        answer: TriggerAnswer,
        /// The items that none of the instances owns which are asked.
        left_out: Vec<ShardingItem>,
    },
    Begin(BeginPlan),
    Miss {
        items: Vec<(ShardingItem, i64)>,
    },
    /// Marks of missed fires are deleted, with those of disabled items that are decided against.
    ClearMissed {
        declined: Vec<(ShardingItem, i64)>,
        /// Missed fires whose place a later one has taken.
        collapsed: BTreeSet<i64>,
    },
    Finish {
        items: Vec<ShardingItem>,
    },
    /// The end of a lost run that an operator had cancelled.
    Conclude {
        fire: Fire,
        item: ShardingItem,
        /// The instance that ran it, when known.
        from: Option<InstanceId>,
        request: CancelRequest,
    },
    /// Claims of rounds to call a listener on behalf of the group, and the outcome of earlier claims.
    CallOnce {
        claims: Vec<(RoundId, Attempt)>,
        settled: Vec<SettledClaim>,
    },
    Skip,
    Sweep {
        /// Instances that are gone, whose triggers are deleted.
        triggers: Vec<InstanceId>,
        /// Nodes that are deleted as no session owns them.
        sessionless: Vec<JobPath>,
    },
    /// Items that a manual trigger asked of an instance that has ended. Boxed, as it is rare and would make every purpose larger.
    HandOver(Box<HandOver>),
    /// Nodes that no instance makes are deleted, below a node that has to be deleted.
    Clear {
        above: JobPath,
        deleted: Vec<JobPath>,
    },
    /// The own trigger is deleted too, where one waits: no other instance knows which items it is for.
    Leave {
        triggers: Vec<InstanceId>,
    },
}

/// The run and the items that a begin in flight begins.
#[derive(Debug, Clone)]
pub(in crate::engine) struct BeginPlan {
    pub(in crate::engine) key: RunKey,
    /// `None` when execution is not monitored.
    pub(in crate::engine) attempt: Option<Attempt>,
    pub(in crate::engine) items: Vec<ShardingItem>,
    /// The instance that ran the item that is taken over, when known.
    pub(in crate::engine) from: Option<InstanceId>,
    /// No further item of the fire was to begin when this was planned.
    pub(in crate::engine) is_whole: bool,
}

/// The outcome of a trigger whose instance is gone.
#[derive(Debug, Clone)]
pub(in crate::engine) struct HandOver {
    pub(in crate::engine) instance: InstanceId,
    pub(in crate::engine) fire: Fire,
    /// The attempt that its transaction writes into the records.
    pub(in crate::engine) attempt: Attempt,
    /// Items that another instance is to run for it.
    pub(in crate::engine) handed_over: Vec<ShardingItem>,
    /// Items that are run again for an earlier run only.
    pub(in crate::engine) merged: Vec<ShardingItem>,
    pub(in crate::engine) disabled: Vec<ShardingItem>,
    /// Items that no instance runs.
    pub(in crate::engine) dropped: Vec<ShardingItem>,
    /// Items that may have been of the instance, and have no owner now.
    pub(in crate::engine) unowned: Vec<ShardingItem>,
}

/// The result of a resharding in flight.
#[derive(Debug, Clone)]
pub(in crate::engine) struct Sharding {
    pub(in crate::engine) basis: Basis,
    pub(in crate::engine) pinned: BTreeSet<ShardingItem>,
    pub(in crate::engine) moved: Vec<String>,
    /// The items that leave a disabled instance which was to run them for a manual trigger, and those that had no owner and come to
    /// an instance which was not asked.
    pub(in crate::engine) untriggered: Vec<ShardingItem>,
    /// The assignment, where further transactions have to follow: the request for resharding stays until the last one.
    pub(in crate::engine) rest: Option<BTreeMap<ShardingItem, InstanceId>>,
}
