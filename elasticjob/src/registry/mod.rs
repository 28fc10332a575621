//! The interface to the registry center, its data model and its back ends.
//!
//! A registry center is a tree of nodes as in ZooKeeper. The interface has few methods, and writes are transactions
//! only. A transaction carries the guards that make it safe (see [`Transaction`]). A failed transaction says which of
//! three things happened ([`CommitError`]): refused, not reached, unknown.
//!
//! # Order
//! A back end delivers the answers and events of one session in the order of the server. It sends transactions in the order
//! in which they were made (when made, not when first polled), and reads as well. A transaction may wait for the answer to
//! an earlier one and go out together with others. A read that was made later may overtake it. So may a transaction
//! that was made later, where the server refused the request of the earlier one because of another transaction in it. A
//! transaction whose future is dropped is not sent any more: what a later read does not show of it will not be. Once
//! the future of a call is ready, [`WatchStream::poll_next`] gives every event that happened before the answer, without
//! waiting. Events of later changes may be there as well.

mod error;
#[cfg(any(feature = "zookeeper", feature = "testing"))]
pub(crate) mod group_commit;
pub mod layout;
#[cfg(any(feature = "zookeeper", feature = "testing"))]
pub(crate) mod lease;
pub(crate) mod limits;
pub mod memory;
pub(crate) mod mirror;
mod model;
mod nodes;
pub(crate) mod note;
mod transaction;
pub(crate) mod tree;
pub mod watched;
pub mod zookeeper;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::watch;

pub use crate::moment::Moment;
pub use error::{CommitError, Refusal, RegistryError, away_since};
pub use model::{Data, NodeData, SessionId, Stat, Zxid};
pub use transaction::{Committed, CreateMode, Op, OpResult, TRANSACTION_LIMIT, Transaction};

/// A future answer. The method sends the request when it is called, or as soon as it can be. Dropping the future takes a
/// request back that was not sent yet, and no other one.
pub type Answer<T, E = RegistryError> = Pin<Box<dyn Future<Output = Result<T, E>> + Send + 'static>>;

/// A registry center that jobs coordinate through.
///
/// Paths are absolute inside the namespace: `/job/config`.
pub trait RegistryCenter: fmt::Debug + Send + Sync + 'static {
    /// Data and stat of a node. `None` where the node does not exist.
    fn get(&self, path: &str) -> Answer<Option<NodeData>>;

    /// Names of the children of a node, in no particular order. `None` where the node does not exist.
    fn children(&self, path: &str) -> Answer<Option<Vec<String>>>;

    /// Applies all operations of a transaction or none.
    ///
    /// # Errors
    /// See [`CommitError`]. After [`CommitError::Unknown`] the caller reads the nodes to see whether it was applied; it
    /// never just repeats.
    fn commit(&self, transaction: Transaction) -> Answer<Committed, CommitError>;

    /// Watches a node, which need not exist, and everything below it, over reconnects and new sessions.
    ///
    /// The first event is [`WatchEvent::Gap`]: the watch is in place, so list the nodes now. The watch of an invalid
    /// path ends at once.
    fn watch(&self, path: &str) -> Box<dyn WatchStream>;

    /// Watches a node alone, which need not exist: as [`Self::watch`], without the nodes below it. A back end that cannot
    /// do that may tell of those as well, which is what the default does.
    fn watch_node(&self, path: &str) -> Box<dyn WatchStream> {
        self.watch(path)
    }

    /// The state of the session, now and as it changes. When it is [`SessionState::Connected`] again, the
    /// [`WatchEvent::Gap`] of every watch that existed before can be polled. So no reader acts in a new session on the
    /// state of the last one.
    fn session(&self) -> watch::Receiver<SessionState>;

    /// The last proof of the current session, `None` before the first one.
    ///
    /// Only a transaction proves a session, committed or refused: it is the one request that the leader of the registry
    /// center answers. The server that the client is connected to answers reads by itself, and it may have lost its
    /// leader. So neither a read nor a watch event proves anything.
    fn proof(&self) -> Option<Proof>;

    /// Whether everyone who reached the registry center could change its nodes when this one connected. Default: no.
    fn is_open(&self) -> bool {
        false
    }

    /// How many requests were sent so far, without pings, and how many of them were transactions.
    fn requests(&self) -> RequestCount;

    /// How many bytes the namespace adds to each path on its way to the server.
    fn namespace_bytes(&self) -> usize {
        0
    }

    /// Ends the session. When the future is ready, the ephemeral nodes of the session are gone, or the server was not
    /// reached in time.
    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>>;
}

/// State of the session with a registry center.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionState {
    /// No session was established so far, or the last one ended and the client dials a new one.
    Connecting,
    /// The session lives, as far as this process knows.
    Connected {
        /// The session.
        id: SessionId,
        /// How long the leader holds the session after a proof at the least: the time-out that the server granted,
        /// minus the delay with which the leader may hear of the session.
        timeout: Duration,
    },
    /// The connection is lost. The session may live or may have ended: do not begin anything.
    Suspended {
        /// The session.
        id: SessionId,
    },
    /// This process closed the session, or the server refused this client for good. Terminal.
    Closed,
}

/// States that the registry center held a session, as its leader confirmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proof {
    /// The session.
    pub session: SessionId,
    /// Local time just before the transaction was sent. At that time the leader still held the session.
    pub at: Moment,
}

/// Counts of requests sent, for budgets and benchmarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RequestCount {
    /// All requests without pings.
    pub requests: u64,
    /// The transactions among them.
    pub writes: u64,
}

/// A change below a watched node. It carries no data: read them when they are needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchEvent {
    /// A node was created.
    Created(String),
    /// The data of a node were set.
    Changed(String),
    /// A node was deleted.
    Deleted(String),
    /// Events may have been missed. The watch is in place again: list and compare. Every event after it is later than
    /// the gap.
    Gap,
}

/// The events of one watch. Ends with `None` when the registry center is closed.
pub trait WatchStream: Send {
    /// The next event.
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<WatchEvent>>;
}
