//! The knowledge of a mirror about one node, and how a rule collects what it needs of several nodes.

use std::sync::Arc;

use super::parsed::Parsed;
use crate::registry::{Data, SessionId, Stat, Zxid};

/// Data of a node as far as they are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// The data.
    pub data: Data,
    /// Version of the data.
    pub version: i32,
    /// The transaction that set the data; 0 where the server did not report it.
    pub mzxid: Zxid,
    /// The transaction that created the node; 0 where the server did not report it.
    pub czxid: Zxid,
    /// Server time of the creation in milliseconds since 1970; 0 where the server did not report it.
    pub ctime: i64,
    /// Server time of the last set in milliseconds since 1970; 0 where the server did not report it.
    pub mtime: i64,
    /// The session of an ephemeral node.
    pub owner: Option<SessionId>,
    pub(super) parsed: Parsed,
}

impl Known {
    pub(super) fn boxed(data: Data, stat: Stat) -> Box<Self> {
        Box::new(Self {
            data,
            version: stat.version,
            mzxid: stat.mzxid,
            czxid: stat.czxid,
            ctime: stat.ctime,
            mtime: stat.mtime,
            owner: stat.ephemeral_owner,
            parsed: Parsed::default(),
        })
    }

    /// The data as text.
    pub fn text(&self) -> Option<&str> {
        self.data.text()
    }

    /// The value that `parse` makes of the data. They are parsed once.
    pub fn parsed<T: Send + Sync + 'static>(&self, parse: fn(&[u8]) -> T) -> Arc<T> {
        self.parsed.get(&self.data, parse)
    }
}

/// The knowledge of the mirror about a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup<'a> {
    /// There is no such node.
    Missing,
    /// It exists; its data have to be read.
    Unread,
    /// It exists with these data.
    Known(&'a Known),
}

/// Data that a decision needs have to be read first. The mirror knows which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unread;

/// Collects what is found. It looks at everything, also where data are missing, so that they are read together.
///
/// # Errors
/// [`Unread`] where data are missing.
pub fn read_all<T, C: FromIterator<T>>(found: impl IntoIterator<Item = Result<T, Unread>>) -> Result<C, Unread> {
    let (known, complete) = read_known(found);
    complete.map(|()| known)
}

/// Collects what is found as [`read_all`] does, and leaves out what turns out to be nothing.
///
/// # Errors
/// [`Unread`] where data are missing.
pub fn read_found<T, C: FromIterator<T>>(
    found: impl IntoIterator<Item = Result<Option<T>, Unread>>,
) -> Result<C, Unread> {
    read_all(found.into_iter().filter_map(Result::transpose))
}

/// Collects what is found, as far as data are there, and says whether that is all.
pub fn read_known<T, C: FromIterator<T>>(
    found: impl IntoIterator<Item = Result<T, Unread>>,
) -> (C, Result<(), Unread>) {
    let mut complete = Ok(());
    let known = found.into_iter().filter_map(|found| found.map_err(|unread| complete = Err(unread)).ok());
    (known.collect(), complete)
}
