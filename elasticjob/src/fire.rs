//! The words for what runs: fires, why and where their items run, and the record that each item keeps in the registry.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::registry::{SessionId, Zxid};

mod cancel_request;
mod cause;
mod hook;
mod lifeline;
mod reasons;
mod record;
mod rerun;
mod run;
mod skip_reason;
mod trigger_data;

pub use cancel_request::CancelRequest;
pub use cause::{Cause, TraceParent};
pub use hook::Hook;
pub(crate) use lifeline::Lifeline;
pub use reasons::{CancelReason, LateCause, StopReason, WaitedFor};
pub(crate) use record::Later;
pub use record::{Begun, FireRecord};
pub use rerun::Rerun;
pub use run::RunKey;
pub use skip_reason::{Skip, SkipReason};
pub(crate) use trigger_data::TriggerData;

/// One scheduled time of a job, or one manual trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fire {
    /// The schedule, at this time in milliseconds since 1970.
    Scheduled(i64),
    /// A manual trigger.
    Manual {
        /// The transaction that created the trigger node: the nodes of one request share it, no two requests do.
        trigger: Zxid,
        /// The server's time of that transaction, in milliseconds since 1970.
        at: i64,
        /// The past fire that it runs again; `None` for a trigger that runs the job now.
        rerun: Option<Rerun>,
        /// The trace context of the caller.
        cause: Cause,
    },
}

impl Fire {
    /// A manual trigger of a caller whose trace context is not known.
    pub const fn manual(trigger: Zxid, at: i64, rerun: Option<Rerun>) -> Self {
        Self::Manual { trigger, at, rerun, cause: Cause::UNKNOWN }
    }

    /// The time the fire was scheduled for or triggered at, in milliseconds since 1970.
    pub fn at(self) -> i64 {
        match self {
            Self::Scheduled(at) | Self::Manual { at, .. } => at,
        }
    }

    /// The fire of a trigger node with these data, which this transaction created at that time.
    pub(crate) fn of_trigger(trigger: Zxid, at: i64, data: &[u8]) -> Self {
        let TriggerData { rerun, trace_parent } = TriggerData::parse(data, at);
        Self::Manual { trigger, at, rerun, cause: trace_parent.into() }
    }

    /// The past fire that it runs again, if it does.
    pub fn rerun(self) -> Option<Rerun> {
        match self {
            Self::Scheduled(_) => None,
            Self::Manual { rerun, .. } => rerun,
        }
    }

    /// The trace context of the caller that triggered it, where one is known.
    pub fn trace_parent(self) -> Option<TraceParent> {
        match self {
            Self::Scheduled(_) => None,
            Self::Manual { cause, .. } => cause.trace_parent(),
        }
    }

    /// Whether both are the same fire. An instance of an earlier release does not write which past fire a trigger runs again.
    pub(crate) fn is_same(self, other: Self) -> bool {
        match (self, other) {
            (Self::Manual { trigger, .. }, Self::Manual { trigger: other, .. }) => trigger == other,
            _ => self == other,
        }
    }

    /// The time that the code of the job sees as its scheduled time: of a re-run that of the fire that is run again. Else it is
    /// that of [`at`](Self::at). In milliseconds since 1970.
    pub fn scheduled_for(self) -> i64 {
        self.rerun().map_or(self.at(), |rerun| rerun.of)
    }
}

impl fmt::Display for Fire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scheduled(at) => write!(f, "scheduled@{at}"),
            Self::Manual { trigger, .. } => write!(f, "manual@0x{trigger:x}"),
        }
    }
}

/// Why an item is run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ExecutionSource {
    /// Its fire came: by schedule, or by a manual trigger.
    #[default]
    NormalTrigger,
    /// Its fire came while the run before was still going on, and is made up for.
    Misfire,
    /// The run that its fire began was lost with its instance.
    Failover,
}

impl fmt::Display for ExecutionSource {
    /// As ElasticJob names it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NormalTrigger => "NORMAL_TRIGGER",
            Self::Misfire => "MISFIRE",
            Self::Failover => "FAILOVER",
        })
    }
}

/// Where a begun item stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum FireState {
    /// Begun, and not ended as far as the registry knows.
    Running,
    /// Ended well.
    Succeeded,
    /// Ended with an error or a panic.
    Failed,
    /// Cut off before its end: shutdown, or the session could no longer be proven.
    Cancelled,
    /// Begun in the registry and not started: the clock of the host turned out to be off.
    NotRun,
}

impl FireState {
    /// Whether the item that was begun has still to be run to its end.
    pub(crate) fn is_unfinished(self) -> bool {
        matches!(self, Self::Running | Self::Cancelled)
    }
}

/// The end of the run of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ItemEnd {
    /// The outcome; never [`FireState::Running`].
    pub state: FireState,
    /// The time that it ran, in milliseconds.
    pub took: u64,
    /// Why it failed.
    pub error: Option<String>,
}

impl fmt::Display for FireState {
    /// As the registry has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Running => "RUNNING",
            Self::Succeeded => "SUCCEEDED",
            Self::Failed => "FAILED",
            Self::Cancelled => "CANCELLED",
            Self::NotRun => "NOT_RUN",
        })
    }
}

/// One begin of a set of items: no two begins of any instance share it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Attempt(String);

impl Attempt {
    /// The `number`th attempt of an engine in a session. The nonce tells engines apart that are in the same session one
    /// after the other; records of earlier releases have none.
    pub fn new(session: SessionId, nonce: u32, number: u64) -> Self {
        Self(format!("{:x}-{nonce:08x}.{number}", session.0))
    }

    /// The session it was made in.
    pub fn session(&self) -> Option<SessionId> {
        let (session, _) = self.0.rsplit_once('-')?;
        u64::from_str_radix(session, 16).ok().map(|id| SessionId(id.cast_signed()))
    }

    /// Whether the attempt was made in that session.
    pub fn is_of(&self, session: SessionId) -> bool {
        self.session() == Some(session)
    }
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
