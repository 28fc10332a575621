//! The nodes of the registry center, one level at a time, as an administrator looks at them. Secrets are masked.

use std::str::FromStr;

use crate::escaped::{Escaped, in_dump};
use crate::operations::{OperationError, Operations, read};
use crate::registry::{NodeData, SessionId};
use crate::secret::{mask_document, mask_inside};

/// The most children that one call reads.
const MOST: usize = 200;

/// How many characters of the data are shown.
const SHOWN: usize = 65_536;

/// The longest path of a node that is looked for, in characters.
const LONGEST_PATH: usize = 1_000;

/// The path of a node below the namespace: `/settle/config`, and `/` for the namespace itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodePath(String);

/// A text is no path of a node.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it is no path of a node: write /settle/config, with at most {LONGEST_PATH} characters")]
pub struct InvalidNodePath;

impl NodePath {
    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for NodePath {
    /// That of the namespace.
    fn default() -> Self {
        Self("/".to_owned())
    }
}

impl FromStr for NodePath {
    type Err = InvalidNodePath;

    fn from_str(text: &str) -> Result<Self, InvalidNodePath> {
        if text == "/" {
            return Ok(Self::default());
        }
        let is_name = |part: &str| !matches!(part, "" | "." | "..") && !part.contains(char::is_control);
        let has_names = text.strip_prefix('/').is_some_and(|names| names.split('/').all(is_name));
        let is_path = has_names && text.chars().count() <= LONGEST_PATH;
        is_path.then(|| Self(text.to_owned())).ok_or(InvalidNodePath)
    }
}

/// A node of the registry center.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Node {
    /// Its path below the namespace, as it is: for a line of text take [`shown_path`](Self::shown_path).
    pub path: String,
    /// Its data as text: secrets masked, control characters escaped, at most 65,536 characters. What is no UTF-8 is
    /// replaced by U+FFFD.
    pub data: String,
    /// The size of the data, in bytes.
    pub bytes: usize,
    /// The number of times that its data were set since it was created.
    pub version: i32,
    /// Server time of its creation, in milliseconds since 1970.
    pub created: i64,
    /// Server time of the last change of its data, in milliseconds since 1970.
    pub changed: i64,
    /// The session that it ends with; `None` for a node that stays.
    pub session: Option<SessionId>,
}

/// A node with its children.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeLevel {
    /// The node.
    pub node: Node,
    /// Its children in the order of their names, those that were asked for.
    pub children: Vec<Node>,
    /// The number of its children.
    pub total: usize,
    /// The name of the last child here, where others follow it.
    pub next: Option<String>,
}

impl Node {
    fn of(path: String, node: &NodeData) -> Self {
        let text = String::from_utf8_lossy(&node.data);
        let (is_configuration, has_lines) = kind(&path);
        let masked = if is_configuration { mask_document(&text) } else { mask_inside(&text) };
        let shown = in_dump(&masked, has_lines);
        Self {
            data: shown.chars().take(SHOWN).collect(),
            bytes: node.data.len(),
            version: node.stat.version,
            created: node.stat.ctime,
            changed: node.stat.mtime,
            session: node.stat.ephemeral_owner,
            path,
        }
    }

    /// The path with its control characters escaped, and those that change the direction of a text.
    pub fn shown_path(&self) -> String {
        Escaped(&self.path).to_string()
    }
}

/// Whether the data at a path are the configuration of a job, and whether they have several lines.
fn kind(path: &str) -> (bool, bool) {
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    let is_configuration = matches!(parts[..], [_, "config"]);
    (is_configuration, is_configuration || matches!(parts[..], [_, "instances", _]))
}

impl Operations {
    /// A node of the namespace with its children, in the order of their names: at most `limit` of them, from 1 to 200, after
    /// the one named `after`. `None` where there is no such node.
    ///
    /// # Errors
    /// [`OperationError::Read`].
    pub async fn node(&self, path: &NodePath, after: &str, limit: usize) -> Result<Option<NodeLevel>, OperationError> {
        let path = path.as_str();
        let (node, names) = tokio::join!(self.get(path.to_owned()), self.children(path.to_owned()));
        let (Some(node), Some(mut names)) = (node?, names?) else { return Ok(None) };
        names.sort_unstable();
        let total = names.len();
        let mut rest = names.into_iter().skip_while(|name| !after.is_empty() && name.as_str() <= after);
        let shown: Vec<String> = rest.by_ref().take(limit.clamp(1, MOST)).collect();
        let next = rest.next().and_then(|_| shown.last().cloned());
        let below = if path == "/" { "" } else { path };
        let read = shown.iter().map(|name| {
            let path = format!("{below}/{name}");
            async move { Ok::<_, OperationError>(self.get(path.clone()).await?.map(|node| Node::of(path, &node))) }
        });
        // One that was deleted meanwhile is left out.
        let children = read::all(read).await?.into_iter().flatten().collect();
        Ok(Some(NodeLevel { node: Node::of(path.to_owned(), &node), children, total, next }))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::registry::memory::MemoryRegistry;
    use crate::registry::{CreateMode, RegistryCenter, Transaction};

    fn path_of(text: &str) -> NodePath {
        text.parse().expect("a path")
    }

    #[test]
    fn a_path_has_names_between_slashes() {
        for right in ["/", "/job", "/job/instances/10.0.0.1@-@7", "/报表/config"] {
            assert_eq!(path_of(right).as_str(), right);
        }
        for wrong in ["", "job", "/job/", "//job", "/job/../x", "/./x", "/a\u{1}", &format!("/{}", "x".repeat(1_000))] {
            assert_eq!(wrong.parse::<NodePath>(), Err(InvalidNodePath), "{wrong}");
        }
    }

    async fn create(center: &dyn RegistryCenter, nodes: &[(&str, &str)]) {
        let mut transaction = Transaction::new();
        for (path, data) in nodes {
            transaction.create(*path, *data, CreateMode::Persistent);
        }
        center.commit(transaction).await.expect("they are created");
    }

    #[tokio::test]
    async fn a_level_has_its_children_in_order_and_page_by_page_with_secrets_masked() {
        let center = Arc::new(MemoryRegistry::new().connect());
        create(
            &*center,
            &[
                ("/job", "com.acme.Job"),
                ("/job/config", "jobName: job\nprops:\n  mail.password: hunter2\n  a: b\n"),
                ("/job/servers", ""),
                ("/job/leader", "x\u{1b}[2K password=hunter2"),
            ],
        )
        .await;
        let operations = Operations::new(center);
        let level = operations.node(&path_of("/job"), "", 2).await.expect("it is read").expect("it is there");
        assert_eq!((level.node.data.as_str(), level.node.bytes, level.total), ("com.acme.Job", 12, 3));
        let paths = |level: &NodeLevel| level.children.iter().map(|child| child.path.clone()).collect::<Vec<_>>();
        assert_eq!(paths(&level), ["/job/config", "/job/leader"]);
        assert_eq!(level.next.as_deref(), Some("leader"));
        let [configuration, leader] = &level.children[..] else { panic!("{level:?}") };
        assert!(
            configuration.data.contains("\n  a: b") && !configuration.data.contains("hunter2"),
            "{configuration:?}"
        );
        assert!(leader.data.contains(r"\u{1b}") && !leader.data.contains("hunter2"), "{leader:?}");
        let level = operations.node(&path_of("/job"), "leader", 2).await.expect("it is read").expect("it is there");
        assert_eq!((paths(&level), level.next), (vec!["/job/servers".to_owned()], None));
        assert_eq!(operations.node(&path_of("/nothing"), "", 2).await.expect("it is read"), None);
        let top = operations.node(&path_of("/"), "", 9).await.expect("it is read").expect("it is there");
        assert_eq!(paths(&top), ["/job"]);
    }
}
