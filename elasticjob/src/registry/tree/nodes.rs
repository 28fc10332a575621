//! The nodes of a tree by path. A process with ten thousand jobs has a hundred and fifty thousand nodes, so they take
//! little memory: they are stored side by side, without their paths. A node is found from its parent by its name, and
//! each name is stored once.

use std::collections::BTreeMap;
use std::fmt;

use slab::Slab;

use super::Node;
use super::names::{NameId, Names};

#[derive(Clone)]
pub(super) struct Nodes {
    nodes: Slab<Node>,
    children: BTreeMap<(NodeId, NameId), NodeId>,
    names: Names,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct NodeId(u32);

/// The first node that is inserted. It is never removed.
const ROOT: NodeId = NodeId(0);

impl Nodes {
    pub(super) fn new(root: Node) -> Self {
        Self { nodes: Slab::from_iter([(0, root)]), children: BTreeMap::new(), names: Names::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn get(&self, path: &str) -> Option<&Node> {
        self.find(path).map(|id| self.node(id))
    }

    pub(super) fn get_mut(&mut self, path: &str) -> Option<&mut Node> {
        let id = self.find(path)?;
        Some(&mut self.nodes[id.0 as usize])
    }

    pub(super) fn contains(&self, path: &str) -> bool {
        self.find(path).is_some()
    }

    /// Names of the children of a node, sorted. `None` where the node does not exist.
    pub(super) fn children(&self, path: &str) -> Option<Vec<String>> {
        let parent = self.find(path)?;
        let mut names: Vec<String> = self.children_of(parent).map(|(name, _)| name.to_owned()).collect();
        names.sort_unstable();
        Some(names)
    }

    pub(super) fn has_children(&self, path: &str) -> bool {
        self.find(path).is_some_and(|id| self.children_of(id).next().is_some())
    }

    /// Adds a node that does not exist, below a parent that exists.
    pub(super) fn insert(&mut self, path: &str, node: Node) {
        let (parent, name) = split(path);
        let parent = self.find(parent).expect("a node has a parent");
        let id = NodeId(index(self.nodes.insert(node)));
        let replaced = self.children.insert((parent, self.names.take(name)), id);
        debug_assert!(replaced.is_none(), "{path} is there already");
    }

    /// Removes a node that has no children and is not the root.
    pub(super) fn remove(&mut self, path: &str) -> Option<Node> {
        let (parent, name) = split(path);
        let (parent, name) = (self.find(parent)?, self.names.find(name)?);
        let id = self.children.remove(&(parent, name))?;
        self.names.release(name);
        Some(self.nodes.remove(id.0 as usize))
    }

    /// All nodes with their paths, in no particular order.
    pub(super) fn walk(&self) -> impl Iterator<Item = (String, &Node)> {
        let mut above = vec![(String::new(), ROOT)];
        std::iter::from_fn(move || {
            let (path, id) = above.pop()?;
            above.extend(self.children_of(id).map(|(name, child)| (format!("{path}/{name}"), child)));
            let path = if id == ROOT { "/".to_owned() } else { path };
            Some((path, self.node(id)))
        })
    }

    fn find(&self, path: &str) -> Option<NodeId> {
        if path == "/" {
            return Some(ROOT);
        }
        let child = |parent: NodeId, name: &str| self.children.get(&(parent, self.names.find(name)?)).copied();
        path.strip_prefix('/')?.split('/').try_fold(ROOT, child)
    }

    fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    fn children_of(&self, id: NodeId) -> impl Iterator<Item = (&str, NodeId)> {
        let children = self.children.range((id, NameId::FIRST)..=(id, NameId::LAST));
        children.map(|((_, name), child)| (self.names.text(*name), *child))
    }
}

/// Shown as a map from path to node, independent of the inner numbers.
impl fmt::Debug for Nodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(BTreeMap::from_iter(self.walk())).finish()
    }
}

/// An index that takes half the memory of a `usize`.
pub(super) fn index(key: usize) -> u32 {
    u32::try_from(key).expect("there are fewer than four billion of them")
}

/// The path of the parent.
pub(super) fn parent_of(path: &str) -> &str {
    split(path).0
}

/// The path of the parent, and the name of the node below it.
fn split(path: &str) -> (&str, &str) {
    let (parent, name) = path.rsplit_once('/').unwrap_or_default();
    (if parent.is_empty() { "/" } else { parent }, name)
}

#[cfg(test)]
mod tests {
    use super::super::{SessionId, Tree};
    use super::*;
    use crate::registry::{CreateMode, Transaction};

    #[test]
    fn nodes_are_told_apart_by_their_whole_path() {
        let mut tree = Tree::new(0);
        tree.open_session(SessionId(1), std::time::Duration::ZERO);
        let mut transaction = Transaction::new();
        for path in ["/a", "/b", "/a/b", "/b/b", "/a/b/a", "/a-"] {
            transaction.create(path, path, CreateMode::Persistent);
        }
        tree.commit(SessionId(1), &transaction, 0).unwrap();
        let nodes = &tree.nodes;
        let (paths, data): (Vec<_>, Vec<_>) = BTreeMap::from_iter(nodes.walk())
            .into_iter()
            .map(|(path, node)| (path, node.data.text().unwrap().to_owned()))
            .unzip();
        assert_eq!(paths, ["/", "/a", "/a-", "/a/b", "/a/b/a", "/b", "/b/b"]);
        assert_eq!(data, ["", "/a", "/a-", "/a/b", "/a/b/a", "/b", "/b/b"]);
        assert_eq!(nodes.children("/"), Some(vec!["a".to_owned(), "a-".to_owned(), "b".to_owned()]));
        assert_eq!(nodes.children("/b/b/b"), None);
        assert!(nodes.has_children("/a/b") && !nodes.has_children("/b/b"));
        for path in ["", "a", "//", "/a/", "/a//b", "/b/a"] {
            assert!(!nodes.contains(path), "{path:?}");
        }
    }
}
