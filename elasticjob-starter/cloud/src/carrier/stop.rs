//! Why an item is stopped, and how long it may take to end.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A stop of items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// The time between the wish that a process ends and its kill.
    pub grace: Duration,
    /// Why.
    pub cause: StopCause,
}

impl Stop {
    /// A stop with this grace, for this cause.
    pub fn new(grace: Duration, cause: StopCause) -> Self {
        Self { grace, cause }
    }
}

/// Why an item is stopped. Of several stops the cause of the first one counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "camelCase")]
#[non_exhaustive]
pub enum StopCause {
    /// An operator cancelled its run.
    Operator,
    /// It ran for longer than it may.
    TimeLimit {
        /// The limit in milliseconds.
        milliseconds: u64,
    },
    /// The registration of its job or application was changed, with the wish that what runs is stopped.
    Changed,
    /// Its job was disabled or removed.
    JobEnded,
    /// A later run of the item waits for its end.
    LaterRun,
    /// The scheduler ended, and no other one would wait for it.
    Shutdown,
}

impl fmt::Display for StopCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operator => f.write_str("an operator cancelled it"),
            Self::TimeLimit { milliseconds } => {
                write!(f, "it ran for more than {milliseconds} ms, its script.timeout.milliseconds")
            }
            Self::Changed => f.write_str("its registration was changed with running=stop"),
            Self::JobEnded => f.write_str("its job was disabled or removed"),
            Self::LaterRun => f.write_str("a later run of the item waits for its end"),
            Self::Shutdown => f.write_str("its scheduler ended"),
        }
    }
}
