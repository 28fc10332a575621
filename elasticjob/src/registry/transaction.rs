//! Transactions: several guards and writes that are applied together or not at all.

use super::{CommitError, Data, SessionId, Stat, Zxid};
use crate::texts;

/// The lifetime of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreateMode {
    /// Until it is deleted.
    Persistent,
    /// Until it is deleted or the session ends.
    Ephemeral,
    /// As ephemeral. The server also appends a growing number of ten digits to the name.
    EphemeralSequential,
}

/// One operation of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// Refuses the transaction when the node does not exist, or has another version.
    Check {
        /// The node.
        path: String,
        /// The version it must have, or any.
        version: Option<i32>,
    },
    /// Creates a node; refused when it exists or its parent does not.
    Create {
        /// The node, or the prefix of its name when sequential.
        path: String,
        /// Its data.
        data: Data,
        /// Its lifetime.
        mode: CreateMode,
    },
    /// Sets the data of a node; refused when it does not exist, or has another version.
    Set {
        /// The node.
        path: String,
        /// Its new data.
        data: Data,
        /// The version it must have before, or any.
        version: Option<i32>,
    },
    /// Deletes a node; refused when it does not exist, has another version, or has children.
    Delete {
        /// The node.
        path: String,
        /// The version it must have, or any.
        version: Option<i32>,
    },
}

impl Op {
    /// The weight of the operation in a request, in bytes: an upper bound of its size.
    pub fn weight(&self) -> usize {
        /// Types, versions, lengths and permissions.
        const FIXED: usize = 64;
        let data = match self {
            Self::Create { data, .. } | Self::Set { data, .. } => data.len(),
            Self::Check { .. } | Self::Delete { .. } => 0,
        };
        FIXED + self.path().len() + data
    }

    /// The node the operation is about.
    pub fn path(&self) -> &str {
        match self {
            Self::Check { path, .. }
            | Self::Create { path, .. }
            | Self::Set { path, .. }
            | Self::Delete { path, .. } => path,
        }
    }
}

/// The most that a transaction may weigh, in bytes: ZooKeeper accepts about 1 MiB, and closes the connection on more.
pub const TRANSACTION_LIMIT: usize = 900_000;

/// Operations that are applied together, in order, or not at all. A later one sees the effect of an earlier one.
///
/// These can be guards: the own live session (the server refuses an ended one), a path that must not exist (create), a
/// node that must exist, the version of a node that is never deleted and created again.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Transaction {
    ops: Vec<Op>,
    session: Option<SessionId>,
}

impl Transaction {
    /// A transaction without operations.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same transaction, which can be committed in this session only. A decision made in one session relies on the
    /// ephemeral nodes of that session, and is not valid for another one; a back end may have a new session before the
    /// decision reaches it.
    #[must_use]
    pub fn in_session(self, session: SessionId) -> Self {
        Self { session: Some(session), ..self }
    }

    /// Refuses a commit in another session than the one that the transaction was made for.
    ///
    /// # Errors
    /// [`CommitError::NotReached`].
    pub fn check_session(&self, live: SessionId) -> Result<(), CommitError> {
        match self.session {
            Some(session) if session != live => {
                let why = texts::made_for_ended_session(session.to_string(), live.to_string());
                Err(CommitError::NotReached { why })
            }
            _ => Ok(()),
        }
    }

    /// Adds an operation and returns its index.
    pub fn push(&mut self, op: Op) -> usize {
        self.ops.push(op);
        self.ops.len() - 1
    }

    /// Adds a check of existence and version.
    pub fn check(&mut self, path: impl Into<String>, version: Option<i32>) -> usize {
        self.push(Op::Check { path: path.into(), version })
    }

    /// Adds the creation of a node.
    pub fn create(&mut self, path: impl Into<String>, data: impl Into<Data>, mode: CreateMode) -> usize {
        self.push(Op::Create { path: path.into(), data: data.into(), mode })
    }

    /// Adds the change of a node's data.
    pub fn set(&mut self, path: impl Into<String>, data: impl Into<Data>, version: Option<i32>) -> usize {
        self.push(Op::Set { path: path.into(), data: data.into(), version })
    }

    /// Adds the deletion of a node.
    pub fn delete(&mut self, path: impl Into<String>, version: Option<i32>) -> usize {
        self.push(Op::Delete { path: path.into(), version })
    }

    /// The operations in order.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }
}

/// The effect of an operation of a committed transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpResult {
    /// The check held.
    Check,
    /// The node was created.
    Create {
        /// Its path, with the number when sequential.
        path: String,
    },
    /// The data were set.
    Set {
        /// The stat after it. Its `mzxid` is the id of the transaction.
        stat: Stat,
    },
    /// The node was deleted.
    Delete,
}

/// The answer to a transaction that was applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    /// One result for each operation, in order.
    pub results: Vec<OpResult>,
}

impl Committed {
    /// Id of the transaction. Known only when the transaction set the data of a node: servers before 3.8.2 report it
    /// nowhere else.
    pub fn zxid(&self) -> Option<Zxid> {
        self.set().map(|stat| stat.mzxid)
    }

    /// Server time at which the transaction was applied, in milliseconds since 1970. Known when the id is known.
    pub fn server_time(&self) -> Option<i64> {
        self.set().map(|stat| stat.mtime)
    }

    fn set(&self) -> Option<&Stat> {
        self.results.iter().find_map(|result| match result {
            OpResult::Set { stat } => Some(stat),
            _ => None,
        })
    }
}
