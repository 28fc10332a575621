//! Errors of the registry center, sorted by what the caller may conclude from them.

use std::fmt;

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
            Self::Refused { path, reason } => texts::read_refused(path, reason.message()),
            Self::NoAnswer { why } => texts::no_answer(cause(why)),
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
            Self::NotReached { why } => texts::write_not_reached(cause(why)),
            Self::Unknown { why } => texts::write_unknown(cause(why)),
        }
    }
}

impl fmt::Display for CommitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

/// The message whose English text a cause is. The errors have it as a text, which may also be one of the server or of the client
/// library: such a text stays as it is.
fn cause(why: &str) -> Message {
    let limit: String = why.chars().filter(char::is_ascii_digit).collect();
    let own = [
        texts::connection_lost(),
        texts::session_ended(),
        texts::no_session(),
        texts::center_closed(),
        texts::center_silent(limit),
    ];
    own.into_iter().find(|message| message.as_str() == why).unwrap_or_else(|| why.into())
}

#[cfg(test)]
mod tests {
    use elasticjob_syntax::message::Argument;

    use super::*;

    #[test]
    fn a_cause_of_this_library_is_a_message_and_one_of_others_stays_a_text() {
        let own = [
            texts::connection_lost(),
            texts::session_ended(),
            texts::no_session(),
            texts::center_closed(),
            texts::center_silent("9000"),
        ];
        for message in own {
            let why = message.to_string();
            let of_read = RegistryError::NoAnswer { why: why.clone() }.message();
            assert_eq!(of_read.arguments(), [("why", Argument::Message(message.clone()))]);
            for error in [CommitError::NotReached { why: why.clone() }, CommitError::Unknown { why: why.clone() }] {
                assert_eq!(error.message().arguments(), [("why", Argument::Message(message.clone()))]);
                assert!(error.to_string().ends_with(&format!(": {why}")), "{error}");
            }
        }
        let of_others = RegistryError::NoAnswer { why: "no route to 10.0.0.9".to_owned() }.message();
        assert_eq!(of_others.as_str(), "the registry center gave no answer: no route to 10.0.0.9");
        assert_eq!(of_others.arguments(), [("why", Argument::Message("no route to 10.0.0.9".into()))]);
    }
}
