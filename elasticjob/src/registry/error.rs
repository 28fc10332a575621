//! Errors of the registry center, sorted by what the caller may conclude from them.

use std::fmt;

use chrono::{DateTime, SecondsFormat, Utc};
use elasticjob_syntax::message::Message;

use crate::texts;

/// The reason why the server refused an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
#[error("{}", self.message())]
#[non_exhaustive]
pub enum Refusal {
    /// The node, or the parent of a node to create, does not exist.
    NoNode,
    /// The node to create exists.
    NodeExists,
    /// The node has another version.
    BadVersion,
    /// The node to delete has children.
    NotEmpty,
    /// The parent of the node to create is ephemeral.
    NoChildrenForEphemerals,
    /// The access list of the node does not allow it to this client.
    NoAuth,
    /// The server does not accept the access list of a node to create.
    InvalidAcl,
    /// The path or the data are not accepted: wrong syntax, or a size above the limit of the server (about 1 MiB).
    BadArguments,
}

impl Refusal {
    /// The message: the reason, and what helps.
    pub fn message(self) -> Message {
        match self {
            Self::NoNode => texts::refusal_no_node(),
            Self::NodeExists => texts::refusal_node_exists(),
            Self::BadVersion => texts::refusal_version(),
            Self::NotEmpty => texts::refusal_children(),
            Self::NoChildrenForEphemerals => texts::refusal_ephemeral(),
            Self::NoAuth => texts::refusal_no_auth(),
            Self::InvalidAcl => texts::refusal_acl(),
            Self::BadArguments => texts::refusal_arguments(),
        }
    }
}

/// A read failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// The server answered and refused.
    Refused {
        /// The node.
        path: String,
        /// The reason.
        reason: Refusal,
    },
    /// No answer: the connection or the session was lost, or the time-out passed.
    NoAnswer {
        /// The failure of the request.
        why: Message,
    },
}

/// A transaction was not applied, or it is not known whether it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// The server refused it; nothing was applied.
    Refused {
        /// Index of the first operation that failed.
        index: usize,
        /// Its node.
        path: String,
        /// The reason.
        reason: Refusal,
    },
    /// It did not reach the server, or the session had ended before: nothing was applied and nothing will be.
    NotReached {
        /// The cause.
        why: Message,
    },
    /// It was sent and the answer was lost: it may have been applied, or may still be applied.
    Unknown {
        /// The cause.
        why: Message,
    },
}

impl RegistryError {
    /// The message: what was not read, and why.
    pub fn message(&self) -> Message {
        match self {
            Self::Refused { path, reason } => texts::read_refused(path, reason.message()),
            Self::NoAnswer { why } => texts::no_answer(why.clone()),
        }
    }
}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

impl CommitError {
    /// The message: what became of the transaction, and why.
    pub fn message(&self) -> Message {
        match self {
            Self::Refused { index, path, reason } => texts::write_refused(*index, path, reason.message()),
            Self::NotReached { why } => texts::write_not_reached(why.clone()),
            Self::Unknown { why } => texts::write_unknown(why.clone()),
        }
    }
}

impl fmt::Display for CommitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

/// The cause in a [`RegistryError::NoAnswer`] or [`CommitError::NotReached`] of a registry center that was not reached since a
/// time, for `why`, and is dialled again.
pub fn away_since(since: DateTime<Utc>, why: Message) -> Message {
    texts::away_since(since.to_rfc3339_opts(SecondsFormat::Secs, true), why)
}

#[cfg(test)]
mod tests {
    use elasticjob_syntax::message::Argument;

    use super::*;

    #[test]
    fn a_cause_of_this_library_is_a_message_and_one_of_others_stays_a_text() {
        for why in [texts::center_silent("9000"), "no route to 10.0.0.9".into()] {
            let of_read = RegistryError::NoAnswer { why: why.clone() }.message();
            assert_eq!(of_read.as_str(), format!("the registry center gave no answer: {why}"));
            let of_writes = [CommitError::NotReached { why: why.clone() }, CommitError::Unknown { why: why.clone() }];
            for message in of_writes.map(|error| error.message()).into_iter().chain([of_read]) {
                assert_eq!(message.arguments(), [("why", Argument::Message(why.clone()))]);
            }
        }
    }
}
