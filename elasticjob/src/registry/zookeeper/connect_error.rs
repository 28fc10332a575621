//! The errors of opening a session with a registry center.

use std::time::Duration;

use super::config::InvalidSetting;
use crate::problems::in_one_line;

/// A session with the registry center could not be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// Settings with values that are not valid.
    #[error("the registry center is not configured: {}", in_one_line(.0))]
    Invalid(Vec<InvalidSetting>),
    /// No server answered in time.
    #[error(
        "no ZooKeeper server of server-lists '{servers}' could be used within {} ms, which is max-sleep-time-milliseconds \
         times max-retries: {detail}",
        waited.as_millis()
    )]
    Unreachable {
        /// The servers as configured.
        servers: String,
        /// How long they were tried.
        waited: Duration,
        /// The finding for each server, and what to do.
        detail: String,
    },
    /// The namespace does not exist, and the configuration does not allow creating it.
    #[error(
        "ZooKeeper at '{servers}' has no namespace '{namespace}': correct it; the first instance of a job creates it"
    )]
    NoNamespace {
        /// The servers as configured.
        servers: String,
        /// The namespace.
        namespace: String,
    },
    /// The access list of the namespace does not let the user of the digest in.
    #[error(
        "ZooKeeper at '{servers}' does not let this client {what} namespace '{namespace}': {}",
        if *digest { "digest is not the one it was created with" } else { "set digest to the user:password that created it" }
    )]
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
    #[error("ZooKeeper at '{servers}' refused the digest, or does not know the scheme digest")]
    AuthFailed {
        /// The servers as configured.
        servers: String,
    },
    /// The server has no recursive watches.
    #[error("ZooKeeper at '{servers}' is older than 3.6, which is the first version with recursive watches: update it")]
    TooOld {
        /// The servers as configured.
        servers: String,
    },
    /// The server answered with another error.
    #[error("ZooKeeper at '{servers}' did not let this client {what} namespace '{namespace}': {why}")]
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
