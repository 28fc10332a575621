//! Errors of the registry center, sorted by what the caller may conclude from them.

use std::fmt;

use elasticjob_syntax::message::Message;

use crate::texts;

/// The reason why the server refused an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The node, or the parent of a node to create, does not exist.
    #[error("there is no such node")]
    NoNode,
    /// The node to create exists.
    #[error("the node exists")]
    NodeExists,
    /// The node has another version.
    #[error("the node has another version")]
    BadVersion,
    /// The node to delete has children.
    #[error("the node has children")]
    NotEmpty,
    /// The parent of the node to create is ephemeral.
    #[error("an ephemeral node cannot have children")]
    NoChildrenForEphemerals,
    /// The access list of the node does not allow it to this client.
    #[error("the access list of the node forbids it: check the digest of the registry center")]
    NoAuth,
    /// The server does not accept the access list of a node to create.
    #[error("the server does not accept the access list of the new node: check the digest of the registry center")]
    InvalidAcl,
    /// The path or the data are not accepted: wrong syntax, or a size above the limit of the server (about 1 MiB).
    #[error("the path or the size of the data is not accepted")]
    BadArguments,
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
        why: String,
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
        why: String,
    },
    /// It was sent and the answer was lost: it may have been applied, or may still be applied.
    Unknown {
        /// The cause.
        why: String,
    },
}

impl RegistryError {
    /// The message: what was not read, and why.
    pub fn message(&self) -> Message {
        match self {
            Self::Refused { path, reason } => texts::read_refused(path, reason.to_string()),
            Self::NoAnswer { why } => texts::no_answer(why),
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
            Self::Refused { index, path, reason } => texts::write_refused(*index, path, reason.to_string()),
            Self::NotReached { why } => texts::write_not_reached(why),
            Self::Unknown { why } => texts::write_unknown(why),
        }
    }
}

impl fmt::Display for CommitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}
