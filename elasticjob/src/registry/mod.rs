//! The seam to the registry center, its data model and its back ends.
//!
//! A registry center is a tree of nodes as ZooKeeper has it. The seam has few verbs, and writes are transactions only:
//! a transaction carries the guards that make it safe (see [`Transaction`]), and a failed one says which of three things
//! happened ([`CommitError`]): refused, not reached, unknown.
//!
//! # Order
//! What a back end delivers of one session is ordered as the server did it: calls are sent in the order in which they
//! were made (when made, not when first polled), and once a call's future is ready, [`WatchStream::poll_next`] gives at
//! once every event of what happened before the answer. Events of later changes may be there as well.

mod error;
#[cfg(any(feature = "zookeeper", feature = "testing"))]
pub(crate) mod lease;
pub mod limits;
pub mod memory;
pub mod mirror;
mod model;
pub mod path;
mod transaction;
pub mod tree;
pub mod zookeeper;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::watch;

pub use crate::moment::Moment;
pub use error::{CommitError, Refusal, RegistryError};
pub use model::{Data, NodeData, SessionId, Stat, Zxid};
pub use transaction::{Committed, CreateMode, Op, OpResult, TRANSACTION_LIMIT, Transaction};

/// An answer to come. The request is sent when the method is called; dropping the future does not take it back.
pub type Answer<T, E = RegistryError> = Pin<Box<dyn Future<Output = Result<T, E>> + Send + 'static>>;

/// A registry center that jobs coordinate through.
///
/// Paths are absolute inside the namespace: `/job/config`.
pub trait RegistryCenter: fmt::Debug + Send + Sync + 'static {
    /// Data and stat of a node, `None` where there is no such node.
    fn get(&self, path: &str) -> Answer<Option<NodeData>>;

    /// Names of the children of a node in no particular order, `None` where there is no such node.
    fn children(&self, path: &str) -> Answer<Option<Vec<String>>>;

    /// Applies all operations of a transaction or none.
    ///
    /// # Errors
    /// See [`CommitError`]. After [`CommitError::Unknown`] the caller reads to see what is so, it never just repeats.
    fn commit(&self, transaction: Transaction) -> Answer<Committed, CommitError>;

    /// Watches a node, which need not exist, and everything below it, over reconnects and new sessions.
    ///
    /// The first event is [`WatchEvent::Gap`]: the watch is in place, list now. The watch of what can be no path ends at
    /// once.
    fn watch(&self, path: &str) -> Box<dyn WatchStream>;

    /// The state of the session, now and as it changes. Once it is [`SessionState::Connected`] again, the
    /// [`WatchEvent::Gap`] of every watch that was there before can be polled: nobody acts in a new session on what was
    /// so in the last one.
    fn session(&self) -> watch::Receiver<SessionState>;

    /// The last proof of the current session, `None` before the first one.
    ///
    /// Only a transaction proves a session, committed or refused: it is the one request that the leader of the registry
    /// center answers. A read is answered by whichever server the client is connected to, which may have lost its leader;
    /// it proves nothing, and no more do watch events.
    fn proof(&self) -> Option<Proof>;

    /// Whether everybody who reaches it can change what is in it. Default: no.
    fn is_open(&self) -> bool {
        false
    }

    /// Requests sent so far without pings, and how many of them were transactions.
    fn requests(&self) -> RequestCount;

    /// How many bytes the namespace adds to each path on its way to the server.
    fn namespace_bytes(&self) -> usize {
        0
    }

    /// Ends the session: its ephemeral nodes are gone when the future is ready, or the server was not reached in time.
    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>>;
}

/// State of the session with a registry center.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionState {
    /// No session was established so far, or the last one ended and a new one is being dialled.
    Connecting,
    /// The session is live as far as this side knows.
    Connected {
        /// The session.
        id: SessionId,
        /// How long the leader holds the session after a proof, at the least: the time-out that the server granted, less
        /// what the leader may hear of the session late.
        timeout: Duration,
    },
    /// The connection is lost. The session may live or may have ended: begin nothing.
    Suspended {
        /// The session.
        id: SessionId,
    },
    /// Closed from this side, or the server refused this client for good. Terminal.
    Closed,
}

/// That the registry center held a session, as its leader said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proof {
    /// The session.
    pub session: SessionId,
    /// Local time just before the transaction was sent: until then at least the leader held the session.
    pub at: Moment,
}

/// Counts of requests sent, for budgets and benchmarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RequestCount {
    /// All requests without pings.
    pub requests: u64,
    /// The transactions among them.
    pub writes: u64,
}

/// A change below a watched node. Data is not carried: read it when it is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchEvent {
    /// A node was created.
    Created(String),
    /// The data of a node were set.
    Changed(String),
    /// A node was deleted.
    Deleted(String),
    /// Events may have been missed. The watch is in place again: list and compare. Everything delivered after it is
    /// later than it.
    Gap,
}

/// The events of one recursive watch. Ends with `None` when the registry center is closed.
pub trait WatchStream: Send {
    /// The next event.
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<WatchEvent>>;
}
