//! The states and ends of a launched item.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::StopCause;

/// The state of a launched item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "camelCase")]
#[non_exhaustive]
pub enum ItemState {
    /// It is accepted, and its process has not begun, or is halted.
    Waiting {
        /// What it waits for, for operators.
        why: String,
        /// The place that it lost last, where it is run again after one was lost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lost: Option<LostPlace>,
        /// The place of its process, where that has begun and is halted: it goes on there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        halted: Option<String>,
    },
    /// It was accepted, its [permit](super::Permit) was withdrawn before its process began, and the carrier starts it only when it
    /// is launched again.
    LetGo,
    /// Its process runs.
    Running {
        /// Where: the host, the pod or the node.
        place: String,
        /// Since when, in milliseconds since 1970; 0 where the engine does not say.
        since: i64,
        /// 1 at first, more where the carrier ran it again after a lost place.
        attempt: u32,
        /// The place that it lost last, where it is run again after one was lost and the carrier still knows that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lost: Option<LostPlace>,
    },
    /// Its process has ended, or never will begin.
    Ended {
        /// How.
        outcome: Outcome,
        /// Why it was stopped, where it was and the carrier knows that. A program that was stopped may still end well.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stopped: Option<StopCause>,
    },
}

impl ItemState {
    /// It waits for this.
    pub fn waiting(why: impl Into<String>) -> Self {
        Self::Waiting { why: why.into(), lost: None, halted: None }
    }

    /// Its process is halted at this place, and goes on there when this is over.
    pub fn halted(place: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Waiting { why: why.into(), lost: None, halted: Some(place.into()) }
    }

    /// Its process runs there since then, in milliseconds since 1970, for the first time.
    pub fn running(place: impl Into<String>, since: i64) -> Self {
        Self::Running { place: place.into(), since, attempt: 1, lost: None }
    }

    /// The same, after this place was lost: the attempt is the next one. An end stays as it is.
    #[must_use]
    pub fn after(mut self, lost_place: Option<LostPlace>) -> Self {
        match &mut self {
            Self::Running { attempt, lost, .. } if lost_place.is_some() => {
                *attempt = lost_place.as_ref().map_or(1, |lost| lost.attempt.saturating_add(1));
                *lost = lost_place;
            }
            Self::Waiting { lost, .. } if lost_place.is_some() => *lost = lost_place,
            _ => {}
        }
        self
    }

    /// The place that was lost last, of an item that is run again.
    pub fn lost(&self) -> Option<&LostPlace> {
        match self {
            Self::Waiting { lost, .. } | Self::Running { lost, .. } => lost.as_ref(),
            Self::LetGo | Self::Ended { .. } => None,
        }
    }

    /// The same, where it has ended after a stop for this cause.
    #[must_use]
    pub fn stopped_for(mut self, cause: Option<StopCause>) -> Self {
        if let Self::Ended { stopped, .. } = &mut self {
            *stopped = cause;
        }
        self
    }

    /// The outcome of an item that has ended.
    pub fn outcome(&self) -> Option<&Outcome> {
        match self {
            Self::Ended { outcome, .. } => Some(outcome),
            Self::Waiting { .. } | Self::LetGo | Self::Running { .. } => None,
        }
    }

    /// Whether its process runs, or begins without another launch.
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Waiting { .. } | Self::Running { .. })
    }
}

impl From<Outcome> for ItemState {
    fn from(outcome: Outcome) -> Self {
        Self::Ended { outcome, stopped: None }
    }
}

/// A place that was lost while an item ran there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LostPlace {
    /// The attempt that ran there, from 1.
    pub attempt: u32,
    /// The host, the pod or the node, as the carrier names it; `None` where it does not know any more.
    pub place: Option<String>,
    /// The reason, for operators.
    pub why: String,
}

impl LostPlace {
    /// The place of an attempt.
    pub fn new(attempt: u32, place: Option<String>, why: impl Into<String>) -> Self {
        Self { attempt, place, why: why.into() }
    }
}

/// The outcome of a launched item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "camelCase")]
#[non_exhaustive]
pub enum Outcome {
    /// Its program ended with 0.
    Succeeded,
    /// Its program ended with another code, was killed, or could not be started.
    Failed {
        /// The exit code, where there is one.
        exit: Option<i32>,
        /// Why, in the words of the program where it left some.
        text: String,
    },
    /// It needed more memory than it may have.
    OutOfMemory {
        /// The limit in MB.
        limit: u64,
    },
    /// The place where it ran is gone, and it is not known how far it came.
    Lost {
        /// What is known.
        why: String,
    },
    /// It was stopped on request.
    Stopped,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Succeeded => f.write_str("it ended well"),
            Self::Failed { exit: Some(exit), text } => write!(f, "it ended with exit code {exit}: {text}"),
            Self::Failed { exit: None, text } => f.write_str(text),
            Self::OutOfMemory { limit } => write!(f, "it needed more than its {limit} MB of memory: raise memoryMB"),
            Self::Lost { why } => write!(f, "it was lost: {why}"),
            Self::Stopped => f.write_str("it was stopped"),
        }
    }
}
