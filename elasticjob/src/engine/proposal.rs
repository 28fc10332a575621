//! The transactions that an engine writes, and their purposes.

use std::time::Duration;

use super::action::TriggerAnswer;
use super::fire::Attempt;
use super::listener_round::RoundId;
use super::once_calls::SettledClaim;
use super::pending_triggers::PendingTrigger;
use super::rules::{BeginPlan, HandOver, Sharding};
use crate::config::ForeignToJava;
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::path::JobPath;
use crate::registry::{SessionId, Transaction};

/// The transaction in flight.
#[derive(Debug)]
pub(super) struct Write {
    pub(super) transaction: Transaction,
    pub(super) purpose: Purpose,
    /// The session it was sent in.
    pub(super) session: SessionId,
    /// When it was sent.
    pub(super) sent: Duration,
}

/// A transaction to commit, and its purpose.
#[derive(Debug)]
pub(super) struct Proposal {
    pub(super) transaction: Transaction,
    pub(super) purpose: Purpose,
}

/// The purpose of the transaction in flight.
#[derive(Debug, Clone)]
pub(super) enum Purpose {
    Register {
        /// The values of the configuration that it writes which only Rust instances can use.
        foreign: Vec<ForeignToJava>,
        /// How far the clock may be off, in seconds.
        max_time_diff: Option<u32>,
    },
    AskTime,
    Candidate,
    Elect,
    Abdicate,
    Request {
        why: String,
    },
    Reshard(Sharding),
    Trigger {
        asked: Vec<PendingTrigger>,
        /// The answer that they get when it is done.
        answer: TriggerAnswer,
    },
    Begin(BeginPlan),
    Miss {
        items: Vec<(ShardingItem, i64)>,
    },
    Finish {
        items: Vec<ShardingItem>,
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
    /// Items that a manual trigger asked of an instance that has ended.
    HandOver(HandOver),
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
