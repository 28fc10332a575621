//! Lists the directories of a job after a gap in the watch, and removes the nodes that the lists do not show any more.

use std::collections::BTreeSet;

use super::{Mirror, take};
use crate::registry::layout::{ItemNode, JobPath};

impl Mirror {
    /// The directories to list now. Each is returned once.
    pub fn take_lists(&mut self) -> Vec<JobPath> {
        let paths = std::mem::take(&mut self.to_list);
        self.listing.extend(paths.iter().map(|path| (path.clone(), BTreeSet::new())));
        paths.into_iter().collect()
    }

    /// Takes the children of a listed directory, `None` when it does not exist.
    pub fn on_listed(&mut self, generation: u32, path: &JobPath, children: Option<Vec<String>>) {
        if generation != self.generation {
            return;
        }
        let Some(told) = take(&mut self.listing, path) else { return };
        if !self.trusts_list(path) {
            return;
        }
        let exists = children.is_some();
        let listed: BTreeSet<JobPath> =
            children.unwrap_or_default().iter().filter_map(|name| path.child(&self.job, name)).collect();
        for known in self.children(path).iter().filter(|known| !listed.contains(known)) {
            if !told.contains(known) {
                self.remove_tree(known);
            } else if self.is_listed_itself(known) {
                // It was made after the list: what is known from below it may be of the time before.
                self.to_list.insert(known.clone());
            }
        }
        match exists {
            _ if told.contains(path) => {}
            true => {
                self.nodes.add(path.clone());
            }
            false => self.remove_tree(path),
        }
        for child in listed {
            // An event may have reported the child itself, but not nodes that existed below it before.
            if !self.hears(&child) {
                continue;
            }
            if self.is_listed_itself(&child) {
                self.to_list.insert(child.clone());
            }
            if !told.contains(&child) {
                self.nodes.add(child);
            }
        }
    }

    /// Whether a node that a list shows has to be listed, too.
    fn is_listed_itself(&mut self, path: &JobPath) -> bool {
        let is_heard = match path {
            JobPath::Item(item, ItemNode::Dir) => self.on_item_listed(*item),
            _ => true,
        };
        path.has_children() && is_heard
    }

    /// A list or a read got no answer: the request is sent again on demand.
    pub fn on_unanswered(&mut self, generation: u32, path: &JobPath) {
        if generation != self.generation {
            return;
        }
        if take(&mut self.listing, path).is_some() {
            self.to_list.insert(path.clone());
        }
        take(&mut self.reading, path);
    }

    /// The children of a directory, also one of which only nodes below it are known: where an event got lost, no list that
    /// leaves the child out may leave those.
    fn children(&self, parent: &JobPath) -> Vec<JobPath> {
        match parent {
            // The common and large one: no scan of all nodes.
            JobPath::Item(item, ItemNode::Dir) => {
                self.item_tree(*item).into_iter().filter(|path| path != parent).collect()
            }
            _ => {
                let children: BTreeSet<JobPath> =
                    self.nodes.paths().filter_map(|path| child_towards(parent, path)).collect();
                children.into_iter().collect()
            }
        }
    }

    pub(super) fn remove_tree(&mut self, path: &JobPath) {
        if path.has_children() {
            for child in self.children(path) {
                self.remove_tree(&child);
            }
            self.to_list.remove(path);
            self.listing.remove(path);
        }
        self.nodes.remove(path);
    }
}

/// The child of a directory that is, or is above, this node; `None` for a node that is elsewhere.
fn child_towards(directory: &JobPath, node: JobPath) -> Option<JobPath> {
    let mut child = node;
    loop {
        let above = child.parent()?;
        if above == *directory {
            return Some(child);
        }
        child = above;
    }
}
