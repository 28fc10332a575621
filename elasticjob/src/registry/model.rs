//! What a node is.

use std::fmt;

/// Id of a transaction at the server. It grows with every transaction of the whole registry.
pub type Zxid = i64;

/// Id of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub i64);

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:x}", self.0)
    }
}

/// What the server knows of a node beside its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// Transaction that created the node.
    pub czxid: Zxid,
    /// Transaction that set its data last.
    pub mzxid: Zxid,
    /// How often its data were set since it was created. Starts at 0 again when the node is made anew.
    pub version: i32,
    /// Server time of the creation, in milliseconds since 1970.
    pub ctime: i64,
    /// Server time of the last change of its data, in milliseconds since 1970.
    pub mtime: i64,
    /// The session an ephemeral node belongs to.
    pub ephemeral_owner: Option<SessionId>,
}

/// Data and stat of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeData {
    /// The data.
    pub data: Vec<u8>,
    /// The stat.
    pub stat: Stat,
}
