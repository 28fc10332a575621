//! Nodes by path. A process with ten thousand jobs has a hundred and fifty thousand nodes, so they take
//! little memory: they are stored side by side, without their paths. A node is found from its parent by its name, and
//! each name is stored once.

mod names;

use std::collections::BTreeMap;
use std::fmt;

use slab::Slab;

use self::names::{NameId, Names};

/// Nodes of type `N` by path.
#[derive(Clone)]
pub(super) struct Nodes<N> {
    nodes: Slab<N>,
    children: BTreeMap<(NodeId, NameId), NodeId>,
    names: Names,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NodeId(u32);

/// The first node that is inserted. It is never removed.
const ROOT: NodeId = NodeId(0);

impl<N> Nodes<N> {
    pub(super) fn new(root: N) -> Self {
        Self { nodes: Slab::from_iter([(0, root)]), children: BTreeMap::new(), names: Names::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn get(&self, path: &str) -> Option<&N> {
        self.find(path).map(|id| self.node(id))
    }

    pub(super) fn get_mut(&mut self, path: &str) -> Option<&mut N> {
        let id = self.find(path)?;
        Some(self.node_mut(id))
    }

    pub(super) fn contains(&self, path: &str) -> bool {
        self.find(path).is_some()
    }

    /// Names of the children of a node, sorted. `None` where the node does not exist.
    pub(super) fn children(&self, path: &str) -> Option<Vec<String>> {
        self.children_that(path, |_| true)
    }

    /// Names of the children of a node for which something holds, sorted. `None` where the node does not exist.
    pub(super) fn children_that(&self, path: &str, holds: impl Fn(&N) -> bool) -> Option<Vec<String>> {
        let parent = self.find(path)?;
        let children = self.children_of(parent).filter(|(_, child)| holds(self.node(*child)));
        let mut names: Vec<String> = children.map(|(name, _)| name.to_owned()).collect();
        names.sort_unstable();
        Some(names)
    }

    pub(super) fn has_children(&self, path: &str) -> bool {
        self.find(path).is_some_and(|id| self.children_of(id).next().is_some())
    }

    /// Adds a node that does not exist, below a parent that exists.
    pub(super) fn insert(&mut self, path: &str, node: N) {
        let parent = self.find(parent_of(path)).expect("a node has a parent");
        self.insert_below(parent, name_of(path), node);
    }

    /// Adds a node that does not exist below a parent.
    pub(super) fn insert_below(&mut self, parent: NodeId, name: &str, node: N) {
        let id = NodeId(index(self.nodes.insert(node)));
        let replaced = self.children.insert((parent, self.names.take(name)), id);
        debug_assert!(replaced.is_none(), "{name} is there already");
    }

    /// Removes a node that has no children and is not the root.
    pub(super) fn remove(&mut self, path: &str) -> Option<N> {
        let (parent, name) = split(path);
        let (parent, name) = (self.find(parent)?, self.names.find(name)?);
        let id = self.children.remove(&(parent, name))?;
        self.names.release(name);
        Some(self.nodes.remove(id.0 as usize))
    }

    /// Removes a node that is not the root, and everything below it.
    pub(super) fn remove_tree(&mut self, path: &str) {
        let (parent, name) = split(path);
        let (Some(parent), Some(name)) = (self.find(parent), self.names.find(name)) else { return };
        let mut links: Vec<(NodeId, NameId)> = vec![(parent, name)];
        while let Some((parent, name)) = links.pop() {
            let Some(id) = self.children.remove(&(parent, name)) else { continue };
            self.names.release(name);
            self.nodes.remove(id.0 as usize);
            links.extend(self.links_of(id).map(|(link, _)| *link));
        }
    }

    /// All nodes with their paths, in no particular order.
    pub(super) fn walk(&self) -> impl Iterator<Item = (String, &N)> {
        let mut above = vec![(String::new(), ROOT)];
        std::iter::from_fn(move || {
            let (path, id) = above.pop()?;
            above.extend(self.children_of(id).map(|(name, child)| (format!("{path}/{name}"), child)));
            let path = if id == ROOT { "/".to_owned() } else { path };
            Some((path, self.node(id)))
        })
    }

    pub(super) fn find(&self, path: &str) -> Option<NodeId> {
        if path == "/" {
            return Some(ROOT);
        }
        path.strip_prefix('/')?.split('/').try_fold(ROOT, |parent, name| self.child(parent, name))
    }

    /// The child of a node that has a name.
    pub(super) fn child(&self, parent: NodeId, name: &str) -> Option<NodeId> {
        self.children.get(&(parent, self.names.find(name)?)).copied()
    }

    pub(super) fn node(&self, id: NodeId) -> &N {
        &self.nodes[id.0 as usize]
    }

    pub(super) fn node_mut(&mut self, id: NodeId) -> &mut N {
        &mut self.nodes[id.0 as usize]
    }

    fn children_of(&self, id: NodeId) -> impl Iterator<Item = (&str, NodeId)> {
        self.links_of(id).map(|((_, name), child)| (self.names.text(*name), *child))
    }

    fn links_of(&self, id: NodeId) -> impl Iterator<Item = (&(NodeId, NameId), &NodeId)> {
        self.children.range((id, NameId::FIRST)..=(id, NameId::LAST))
    }
}

/// Shown as a map from path to node, independent of the inner numbers.
impl<N: fmt::Debug> fmt::Debug for Nodes<N> {
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

/// The name of the node itself.
pub(super) fn name_of(path: &str) -> &str {
    split(path).1
}

/// Whether a path is that of a node or of one below it. The node is given without a trailing slash, the root as nothing.
pub(super) fn is_at_or_below(path: &str, node: &str) -> bool {
    path.strip_prefix(node).is_some_and(|rest| node.is_empty() || rest.is_empty() || rest.starts_with('/'))
}

/// The path of the parent, and the name of the node below it.
fn split(path: &str) -> (&str, &str) {
    let (parent, name) = path.rsplit_once('/').unwrap_or_default();
    (if parent.is_empty() { "/" } else { parent }, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_told_apart_by_their_whole_path() {
        let mut nodes = Nodes::new("/");
        for path in ["/a", "/b", "/a/b", "/b/b", "/a/b/a", "/a-"] {
            nodes.insert(path, path);
        }
        let walked = BTreeMap::from_iter(nodes.walk());
        assert_eq!(walked.keys().collect::<Vec<_>>(), ["/", "/a", "/a-", "/a/b", "/a/b/a", "/b", "/b/b"]);
        assert!(walked.iter().all(|(path, node)| path == *node));
        assert_eq!(nodes.children("/"), Some(vec!["a".to_owned(), "a-".to_owned(), "b".to_owned()]));
        assert_eq!(nodes.children("/b/b/b"), None);
        assert!(nodes.has_children("/a/b") && !nodes.has_children("/b/b"));
        for path in ["", "a", "//", "/a/", "/a//b", "/b/a"] {
            assert!(!nodes.contains(path), "{path:?}");
        }
    }

    #[test]
    fn a_subtree_goes_as_a_whole_and_alone() {
        let mut nodes = Nodes::new("/");
        for path in ["/a", "/a/b", "/a/b/a", "/a/c", "/b"] {
            nodes.insert(path, path);
        }
        nodes.remove_tree("/a");
        assert_eq!(nodes.walk().map(|(path, _)| path).collect::<Vec<_>>(), ["/", "/b"]);
        nodes.remove_tree("/x/y");
        assert_eq!(nodes.len(), 2);
        nodes.insert("/a", "again");
        assert_eq!((nodes.get("/a"), nodes.children("/a")), (Some(&"again"), Some(Vec::new())));
    }
}
