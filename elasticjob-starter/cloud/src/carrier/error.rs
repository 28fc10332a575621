//! The errors of a request to a carrier.

use std::fmt;

use elasticjob::config::Message;

use super::Launched;
use crate::texts;

/// A launch was not accepted, or it is not known whether it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The carrier refuses it, and would refuse it again: nothing was launched. The items fail.
    #[error("it cannot be launched: {why}")]
    Refused {
        /// Why, and what to do.
        why: String,
    },
    /// The engine was not reached: nothing was launched.
    #[error("the launch did not reach the engine: {why}")]
    NotReached {
        /// The cause.
        why: String,
    },
    /// The answer was lost: it may have been launched.
    #[error("the answer to the launch got lost: {why}")]
    Unknown {
        /// The cause.
        why: String,
    },
}

impl LaunchError {
    /// The error of a launch of which this part was launched before: as the carrier has that part, what was not reached is unknown.
    pub(crate) fn after(self, launched: &Launched) -> Self {
        match self {
            Self::NotReached { why } if *launched != Launched::default() => Self::Unknown { why },
            error => error,
        }
    }
}

/// The engine behind a carrier did not answer, or answered with an error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub struct CarrierError {
    /// The action that failed, as a verb with its object. A text of your own without a code is English in all languages.
    pub action: Message,
    /// The cause.
    pub why: String,
}

impl CarrierError {
    /// An error of the engine.
    pub fn new(action: impl Into<Message>, why: impl ToString) -> Self {
        Self { action: action.into(), why: why.to_string() }
    }

    /// The message: what the carrier could not do, and why.
    pub fn message(&self) -> Message {
        texts::carrier_failed(self.action.clone(), &self.why)
    }
}

impl fmt::Display for CarrierError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}
