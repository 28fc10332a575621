//! The nodes that a mirror knows, sorted by path.
//!
//! Most jobs have about a dozen nodes, and a process may follow thousands of jobs. So the nodes are stored in vectors,
//! which take a third of the memory of B-trees with a few entries. Only items can be many in one job, and the nodes
//! that change with every fire are below an item: each item has a vector of its own, so that a change stays cheap.

use std::cmp::Ordering;

use litemap::LiteMap;

use super::Known;
use crate::ident::ShardingItem;
use crate::registry::layout::{ItemNode, JobPath};

/// A node that exists: its data, when they are known. Boxed, as the data of most nodes are never read.
pub(super) type Slot = Option<Box<Known>>;

#[derive(Debug)]
pub(super) struct Nodes {
    items: LiteMap<ShardingItem, LiteMap<ItemNode, Slot>>,
    others: LiteMap<JobPath, Slot>,
}

impl Nodes {
    pub(super) fn new() -> Self {
        // Many jobs have one item.
        Self { items: LiteMap::with_capacity(1), others: LiteMap::new() }
    }

    pub(super) fn get(&self, path: &JobPath) -> Option<&Slot> {
        match path {
            JobPath::Item(item, node) => self.items.get(item)?.get(node),
            _ => self.others.get(path),
        }
    }

    /// The node of a server. Engines ask for it at every fire: this makes no path for it.
    pub(super) fn server(&self, ip: &str) -> Option<&Slot> {
        let place = self.others.as_slice().binary_search_by(|(path, _)| match path {
            JobPath::Server(known) => known.as_ref().cmp(ip),
            other => other.cmp(&JobPath::Servers).then(Ordering::Less),
        });
        place.ok().map(|place| &self.others.as_slice()[place].1)
    }

    pub(super) fn contains(&self, path: &JobPath) -> bool {
        self.get(path).is_some()
    }

    /// Adds a node, or replaces the data that are known of it.
    pub(super) fn insert(&mut self, path: JobPath, known: Slot) {
        match path {
            JobPath::Item(item, node) => self.items.entry(item).or_default().insert(node, known),
            path => self.others.insert(path, known),
        };
    }

    /// Adds a node unless it exists.
    pub(super) fn add(&mut self, path: JobPath) {
        if !self.contains(&path) {
            self.insert(path, None);
        }
    }

    pub(super) fn remove(&mut self, path: &JobPath) {
        let JobPath::Item(item, node) = path else {
            self.others.remove(path);
            return;
        };
        let Some(nodes) = self.items.get_mut(item) else { return };
        nodes.remove(node);
        if nodes.is_empty() {
            self.items.remove(item);
        }
    }

    /// Forgets the data of a node.
    pub(super) fn forget(&mut self, path: &JobPath) {
        if self.contains(path) {
            self.insert(path.clone(), None);
        }
    }

    /// Forgets the data of all nodes.
    pub(super) fn forget_all(&mut self) {
        let of_items = self.items.iter_mut().flat_map(|(_, nodes)| nodes.iter_mut().map(|(_, known)| known));
        let others = self.others.iter_mut().map(|(_, known)| known);
        of_items.chain(others).for_each(|known| *known = None);
    }

    /// The items that have such a node.
    pub(super) fn items_with(&self, node: ItemNode) -> impl Iterator<Item = ShardingItem> {
        self.items.iter().filter(move |(_, nodes)| nodes.contains_key(&node)).map(|(item, _)| *item)
    }

    /// The nodes of an item, its own node first.
    pub(super) fn of_item(&self, item: ShardingItem) -> impl DoubleEndedIterator<Item = &ItemNode> {
        self.items.get(&item).into_iter().flat_map(LiteMap::keys)
    }

    /// The nodes that come after `path`, without the nodes of the items.
    pub(super) fn after(&self, path: &JobPath) -> impl Iterator<Item = &JobPath> {
        let nodes = self.others.as_slice();
        nodes[nodes.partition_point(|(known, _)| known <= path)..].iter().map(|(known, _)| known)
    }

    /// All nodes; the nodes of the items come first.
    pub(super) fn paths(&self) -> impl Iterator<Item = JobPath> {
        let of_items =
            self.items.iter().flat_map(|(item, nodes)| nodes.keys().map(|node| JobPath::Item(*item, node.clone())));
        of_items.chain(self.others.keys().cloned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_found_by_its_address_among_all_nodes() {
        let mut nodes = Nodes::new();
        for path in [JobPath::Root, JobPath::Servers, JobPath::Instances, JobPath::Sharding, JobPath::Rounds] {
            nodes.add(path);
        }
        assert!(nodes.server("10.0.0.1").is_none());
        for ip in ["10.0.0.1", "10.0.0.2", "9.0.0.1"] {
            nodes.add(JobPath::Server(ip.into()));
        }
        for (ip, is_there) in
            [("10.0.0.1", true), ("9.0.0.1", true), ("10.0.0.2", true), ("10.0.0.3", false), ("", false)]
        {
            assert_eq!(nodes.server(ip).is_some(), is_there, "{ip}");
            assert_eq!(nodes.contains(&JobPath::Server(ip.into())), is_there, "{ip}");
        }
    }
}
