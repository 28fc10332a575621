//! The errors of opening a session with a registry center.

use std::time::Duration;

use elasticjob_syntax::message::Message;

use super::config::InvalidSetting;
use crate::problems::in_one_line;
use crate::texts;

/// A session with the registry center could not be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.message())]
#[non_exhaustive]
pub enum ConnectError {
    /// Settings with values that are not valid.
    Invalid(Vec<InvalidSetting>),
    /// No server answered in time.
    Unreachable {
        /// The servers as configured.
        servers: String,
        /// How long they were tried.
        waited: Duration,
        /// The finding for each server, and what to do.
        detail: Message,
    },
    /// The namespace does not exist, and the configuration does not allow creating it.
    NoNamespace {
        /// The servers as configured.
        servers: String,
        /// The namespace.
        namespace: String,
    },
    /// The access list of the namespace does not let the user of the digest in.
    Forbidden {
        /// The servers as configured.
        servers: String,
        /// The namespace.
        namespace: String,
        /// The action that was tried.
        what: &'static str,
        /// Whether a digest is configured.
        digest: bool,
    },
    /// The server ended the session because it does not accept the digest.
    AuthFailed {
        /// The servers as configured.
        servers: String,
    },
    /// The server has no recursive watches.
    TooOld {
        /// The servers as configured.
        servers: String,
    },
    /// The server answered with another error.
    Failed {
        /// The servers as configured.
        servers: String,
        /// The namespace.
        namespace: String,
        /// The action that was tried.
        what: &'static str,
        /// The text of the server or of the client.
        why: String,
    },
}

impl ConnectError {
    /// The message: which servers, why not, and what helps.
    pub fn message(&self) -> Message {
        match self {
            Self::Invalid(problems) => texts::connect_invalid(in_one_line(problems)),
            Self::Unreachable { servers, waited, detail } => {
                texts::connect_unreachable(servers, waited.as_millis().to_string(), detail.clone())
            }
            Self::NoNamespace { servers, namespace } => texts::connect_no_namespace(servers, namespace),
            Self::Forbidden { servers, namespace, what, digest: true } => {
                texts::connect_other_digest(servers, *what, namespace)
            }
            Self::Forbidden { servers, namespace, what, digest: false } => {
                texts::connect_no_digest(servers, *what, namespace)
            }
            Self::AuthFailed { servers } => texts::connect_digest_refused(servers),
            Self::TooOld { servers } => texts::connect_too_old(servers),
            Self::Failed { servers, namespace, what, why } => texts::connect_failed(servers, *what, namespace, why),
        }
    }
}
