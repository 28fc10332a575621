//! Nodes of a registry center: sessions, versions, data.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::ident::InstanceId;
use crate::secret::mask_document;

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

/// The properties of a node beside its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// Transaction that created the node.
    pub czxid: Zxid,
    /// Transaction that set its data last.
    pub mzxid: Zxid,
    /// The number of times that its data were set since it was created. Starts at 0 again when the node is created again.
    pub version: i32,
    /// Server time of the creation, in milliseconds since 1970.
    pub ctime: i64,
    /// Server time of the last change of its data, in milliseconds since 1970.
    pub mtime: i64,
    /// The session an ephemeral node belongs to.
    pub ephemeral_owner: Option<SessionId>,
}

/// The data of a node. Clones share one copy: a transaction, the node that it writes and the mirrors that know it hold
/// the same data.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Data(Arc<[u8]>);

impl Data {
    /// The data as text, which most data are. `None` when they are not UTF-8.
    pub fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }
}

impl Deref for Data {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl From<&[u8]> for Data {
    fn from(bytes: &[u8]) -> Self {
        // The default takes no memory, unlike an empty slice.
        if bytes.is_empty() { Self::default() } else { Self(bytes.into()) }
    }
}

impl From<&str> for Data {
    fn from(text: &str) -> Self {
        text.as_bytes().into()
    }
}

impl From<String> for Data {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl From<Vec<u8>> for Data {
    fn from(bytes: Vec<u8>) -> Self {
        bytes.as_slice().into()
    }
}

impl From<&InstanceId> for Data {
    fn from(id: &InstanceId) -> Self {
        Self(id.shared_text().into())
    }
}

// Not derived: a configuration of Java has passwords in it, and nodes are written to logs.
impl fmt::Debug for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&mask_document(&String::from_utf8_lossy(self)), f)
    }
}

/// Data and stat of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeData {
    /// The data.
    pub data: Data,
    /// The stat.
    pub stat: Stat,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_are_shown_as_text_without_their_secrets() {
        let shown = |text: &str| format!("{:?}", Data::from(text));
        assert_eq!(shown("10.0.0.1@-@7"), r#""10.0.0.1@-@7""#);
        assert_eq!(shown("props:\n  a.password: hunter2\n"), r#""props:\n  a.password: '***'\n""#);
    }
}
