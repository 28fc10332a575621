//! The causes of late begins, of stops and of waits.

use std::fmt;

use crate::ident::{InstanceId, ShardingItem};

/// Why a fire begins late.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
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

/// The thing that a call on behalf of the group waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
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
#[non_exhaustive]
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
#[non_exhaustive]
pub enum CancelReason {
    /// The session cannot be proven any more: another instance may be given the items.
    SessionUnproven,
    /// The wall clock of this host leapt ahead of the clock that never steps: the machine was suspended or paused, or its
    /// clock was set. So long after the last proof of the session another instance may have been given the items.
    ClockLeapt,
    /// The grace time of the shutdown is over, or it was asked not to wait.
    Shutdown,
    /// An operator cancelled the run. It is not run again for its fire.
    Operator,
}

impl CancelReason {
    /// All reasons.
    pub const ALL: &[Self] = &[Self::SessionUnproven, Self::ClockLeapt, Self::Shutdown, Self::Operator];

    /// Its name for programs. It never changes.
    pub fn code(self) -> &'static str {
        match self {
            Self::SessionUnproven => "session-unproven",
            Self::ClockLeapt => "clock-leapt",
            Self::Shutdown => "shutdown",
            Self::Operator => "operator",
        }
    }
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
            Self::Operator => "an operator cancelled it",
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
