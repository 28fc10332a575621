//! The tree of nodes that a server holds, as a pure data structure: no clock, no lock, no task.
//!
//! It does what ZooKeeper 3.8 does, so that the embedded registry and the simulator can stand for it: the order of
//! checks, versions, sequence numbers, transaction ids (a refused transaction takes one too), and one event for each
//! change, in the order of the operations. Two things that the real server leaves open are fixed here: children come
//! sorted, and the ephemeral nodes of an ended session are deleted in the order of their paths.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::limits;
use super::nodes::{Nodes, name_of, parent_of};
use super::{
    CommitError, Committed, CreateMode, Data, NodeData, Op, OpResult, Refusal, SessionId, Stat, Transaction,
    WatchEvent, Zxid,
};
use crate::texts;

/// The nodes and sessions of a registry.
#[derive(Debug, Clone)]
pub struct Tree {
    nodes: Nodes<Node>,
    /// The open sessions with their time-outs. The nodes say which session owns them.
    sessions: BTreeMap<SessionId, Duration>,
    zxid: Zxid,
}

/// 0 means no session: an `Option` would make each of many thousand nodes larger.
#[derive(Debug, Clone)]
struct Node {
    data: Data,
    czxid: Zxid,
    mzxid: Zxid,
    ctime: i64,
    mtime: i64,
    owner: i64,
    version: i32,
    /// How many children were ever created: the number of the next sequential one.
    created: i32,
}

/// Takes back one operation of a transaction.
#[derive(Debug)]
enum Undo {
    Remove(Box<str>),
    Replace(Box<str>, Node),
    Insert(Box<str>, Node),
}

/// The reason why a tree did not apply a transaction.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    /// The session is not open, or ended.
    #[error("{}", texts::session_ended())]
    NoSession,
    /// An operation was refused.
    #[error("operation {index}, on {path}, is refused: {reason}")]
    Refused {
        /// Index of the first operation that failed.
        index: usize,
        /// Its node.
        path: String,
        /// The reason.
        reason: Refusal,
    },
}

impl From<TreeError> for CommitError {
    fn from(error: TreeError) -> Self {
        match error {
            TreeError::NoSession => Self::NotReached { why: texts::session_ended() },
            TreeError::Refused { index, path, reason } => Self::Refused { index, path, reason },
        }
    }
}

impl Node {
    fn stat(&self) -> Stat {
        Stat {
            czxid: self.czxid,
            mzxid: self.mzxid,
            version: self.version,
            ctime: self.ctime,
            mtime: self.mtime,
            ephemeral_owner: (self.owner != 0).then_some(SessionId(self.owner)),
        }
    }

    fn check_version(&self, expected: Option<i32>) -> Result<(), Refusal> {
        match expected {
            // In the protocol -1 means any version.
            None | Some(-1) => Ok(()),
            Some(version) if version == self.version => Ok(()),
            Some(_) => Err(Refusal::BadVersion),
        }
    }
}

impl Tree {
    /// A tree with only a root. Its first transaction gets the id `base + 1`.
    pub fn new(base: Zxid) -> Self {
        let root =
            Node { data: Data::default(), czxid: 0, mzxid: 0, ctime: 0, mtime: 0, owner: 0, version: 0, created: 0 };
        Self { nodes: Nodes::new(root), sessions: BTreeMap::new(), zxid: base }
    }

    /// Id of the last transaction.
    #[cfg(any(test, feature = "testing"))]
    pub fn last_zxid(&self) -> Zxid {
        self.zxid
    }

    /// Number of nodes, including the root.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is only the root.
    #[cfg(feature = "testing")]
    pub fn is_empty(&self) -> bool {
        self.nodes.len() == 1
    }

    /// All paths, sorted.
    #[cfg(feature = "testing")]
    pub fn paths(&self) -> BTreeSet<String> {
        self.nodes.walk().map(|(path, _)| path).collect()
    }

    /// The open sessions.
    #[cfg(any(test, feature = "testing"))]
    pub fn sessions(&self) -> impl Iterator<Item = SessionId> {
        self.sessions.keys().copied()
    }

    /// Opens a session. Its id must be new and not 0.
    pub fn open_session(&mut self, id: SessionId, timeout: Duration) {
        debug_assert!(id.0 != 0 && !self.sessions.contains_key(&id), "{id} cannot be opened");
        self.zxid += 1;
        self.sessions.insert(id, timeout);
    }

    /// The time-out of an open session.
    #[cfg(any(test, feature = "testing"))]
    pub fn session_timeout(&self, id: SessionId) -> Option<Duration> {
        self.sessions.get(&id).copied()
    }

    /// Ends a session, by its owner or because it expired, and deletes its ephemeral nodes.
    pub fn close_session(&mut self, id: SessionId) -> Vec<WatchEvent> {
        if self.sessions.remove(&id).is_none() {
            return Vec::new();
        }
        self.zxid += 1;
        let ephemerals = self.nodes.walk().filter(|(_, node)| node.owner == id.0).map(|(path, _)| path);
        let ephemerals: BTreeSet<String> = ephemerals.collect();
        for path in &ephemerals {
            self.nodes.remove(path);
        }
        ephemerals.into_iter().map(WatchEvent::Deleted).collect()
    }

    /// Data and stat of a node. `None` where the node does not exist.
    ///
    /// # Errors
    /// [`Refusal::BadArguments`] when the path is not valid.
    pub fn get(&self, path: &str) -> Result<Option<NodeData>, Refusal> {
        check_path(path)?;
        Ok(self.nodes.get(path).map(|node| NodeData { data: node.data.clone(), stat: node.stat() }))
    }

    /// Names of the children of a node, sorted. `None` where the node does not exist.
    ///
    /// # Errors
    /// [`Refusal::BadArguments`] when the path is not valid.
    pub fn children(&self, path: &str) -> Result<Option<Vec<String>>, Refusal> {
        check_path(path)?;
        Ok(self.nodes.children(path))
    }

    /// Applies a transaction of a session at server time `now_ms`, in milliseconds since 1970, or refuses it whole.
    ///
    /// # Errors
    /// See [`TreeError`].
    pub fn commit(
        &mut self,
        session: SessionId,
        transaction: &Transaction,
        now_ms: i64,
    ) -> Result<(Committed, Vec<WatchEvent>), TreeError> {
        if let Err(CommitError::Refused { index, path, reason }) = limits::check_transaction(transaction, 0) {
            return Err(TreeError::Refused { index, path, reason });
        }
        if !self.sessions.contains_key(&session) {
            return Err(TreeError::NoSession);
        }
        let mut results = Vec::with_capacity(transaction.ops().len());
        let mut events = Vec::with_capacity(transaction.ops().len());
        if transaction.is_empty() {
            return Ok((Committed { results }, events));
        }
        self.zxid += 1;
        let mut undo = Vec::with_capacity(transaction.ops().len());
        for (index, op) in transaction.ops().iter().enumerate() {
            match self.apply(session, op, now_ms, &mut undo, &mut events) {
                Ok(result) => results.push(result),
                Err(reason) => {
                    undo.into_iter().rev().for_each(|step| self.take_back(step));
                    return Err(TreeError::Refused { index, path: op.path().to_owned(), reason });
                }
            }
        }
        Ok((Committed { results }, events))
    }

    fn apply(
        &mut self,
        session: SessionId,
        op: &Op,
        now_ms: i64,
        undo: &mut Vec<Undo>,
        events: &mut Vec<WatchEvent>,
    ) -> Result<OpResult, Refusal> {
        match op {
            Op::Check { path, version } => {
                self.node(path)?.check_version(*version)?;
                Ok(OpResult::Check)
            }
            Op::Create { path, data, mode } => {
                let path = self.create(session, path, data, *mode, now_ms)?;
                undo.push(Undo::Remove(path.as_str().into()));
                events.push(WatchEvent::Created(path.clone()));
                Ok(OpResult::Create { path })
            }
            Op::Set { path, data, version } => {
                let node = self.nodes.get_mut(path).ok_or(Refusal::NoNode)?;
                node.check_version(*version)?;
                undo.push(Undo::Replace(path.as_str().into(), node.clone()));
                node.data = data.clone();
                node.version = node.version.wrapping_add(1);
                node.mzxid = self.zxid;
                node.mtime = now_ms;
                events.push(WatchEvent::Changed(path.clone()));
                Ok(OpResult::Set { stat: node.stat() })
            }
            Op::Delete { path, version } => {
                self.node(path)?.check_version(*version)?;
                if self.nodes.has_children(path) {
                    return Err(Refusal::NotEmpty);
                }
                let node = self.nodes.remove(path).ok_or(Refusal::NoNode)?;
                undo.push(Undo::Insert(path.as_str().into(), node));
                events.push(WatchEvent::Deleted(path.clone()));
                Ok(OpResult::Delete)
            }
        }
    }

    fn create(
        &mut self,
        session: SessionId,
        path: &str,
        data: &Data,
        mode: CreateMode,
        now_ms: i64,
    ) -> Result<String, Refusal> {
        // Looked for once, as a start of thousands of jobs creates many thousand nodes.
        let above = self.nodes.find(parent_of(path)).ok_or(Refusal::NoNode)?;
        let parent = self.nodes.node(above);
        let (created, parent_is_ephemeral) = (parent.created, parent.owner != 0);
        let path = match mode {
            CreateMode::EphemeralSequential => format!("{path}{created:010}"),
            CreateMode::Persistent | CreateMode::Ephemeral => path.to_owned(),
        };
        if self.nodes.child(above, name_of(&path)).is_some() {
            return Err(Refusal::NodeExists);
        }
        if parent_is_ephemeral {
            return Err(Refusal::NoChildrenForEphemerals);
        }
        let node = Node {
            data: data.clone(),
            czxid: self.zxid,
            mzxid: self.zxid,
            ctime: now_ms,
            mtime: now_ms,
            owner: if mode == CreateMode::Persistent { 0 } else { session.0 },
            version: 0,
            created: 0,
        };
        self.nodes.insert_below(above, name_of(&path), node);
        self.nodes.node_mut(above).created += 1;
        Ok(path)
    }

    fn node(&self, path: &str) -> Result<&Node, Refusal> {
        self.nodes.get(path).ok_or(Refusal::NoNode)
    }

    fn parent_mut(&mut self, path: &str) -> &mut Node {
        self.nodes.get_mut(parent_of(path)).expect("a node has a parent")
    }

    fn take_back(&mut self, step: Undo) {
        match step {
            Undo::Remove(path) => {
                self.nodes.remove(&path);
                self.parent_mut(&path).created -= 1;
            }
            Undo::Replace(path, node) => *self.nodes.get_mut(&path).expect("a node that was set is there") = node,
            Undo::Insert(path, node) => self.nodes.insert(&path, node),
        }
    }
}

fn check_path(path: &str) -> Result<(), Refusal> {
    if limits::is_valid_path(path) { Ok(()) } else { Err(Refusal::BadArguments) }
}
