//! The known nodes of a namespace: those that a reader asked for. Pure.
//!
//! An answer is kept until an event of the watch says that it is old. An answer that an event overtook is not kept: it
//! may be older than the event (see [`crate::registry`] for the order of answers and events).

use std::collections::{BTreeMap, BTreeSet};

use super::super::layout::JobPath;
use super::super::nodes::{Nodes, parent_of};
use super::super::{NodeData, WatchEvent};
use crate::ident::JobName;

/// The nodes of a namespace, as far as they were asked for since the last gap of the watch.
#[derive(Debug)]
pub(super) struct Known {
    nodes: Nodes<Node>,
    /// Whether the watch is in place. Before, nothing is kept.
    is_watching: bool,
    /// Grows with every gap: answers to older questions are not kept.
    generation: u64,
    /// Questions under way by path.
    asked: BTreeMap<Box<str>, Asked>,
    /// How many events came.
    events: u64,
    /// The number of the last gap.
    gap: u64,
    /// The number of the last event at or below each node below the root: a job has one.
    last: BTreeMap<Box<str>, u64>,
    /// When the last instance left and when the last leader did, for each job where one did since the last gap.
    gone: BTreeMap<JobName, Gone>,
}

/// When nodes of a job were deleted last, in milliseconds since 1970 by the clock of this host. `None` where no event told of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Gone {
    /// An instance.
    pub(crate) instance: Option<i64>,
    /// The leader.
    pub(crate) leader: Option<i64>,
}

#[derive(Debug)]
struct Node {
    data: Fact,
    /// Whether all children are known.
    is_listed: bool,
}

#[derive(Debug)]
enum Fact {
    /// It has to be read. A node below one that is listed exists, another one may be missing.
    Unread,
    /// There is no such node.
    Missing,
    /// These are its data.
    Data(NodeData),
}

/// Questions about one node that are under way.
#[derive(Debug, Default)]
struct Asked {
    count: usize,
    /// Whether an event of the node came since the first of them.
    is_data_old: bool,
    /// Whether an event of the node or of a child came since the first of them.
    is_list_old: bool,
}

impl Node {
    const UNREAD: Self = Self { data: Fact::Unread, is_listed: false };
}

impl Known {
    /// Nothing is known before the first gap.
    pub(super) fn new() -> Self {
        Self {
            nodes: Nodes::new(Node::UNREAD),
            is_watching: false,
            generation: 0,
            asked: BTreeMap::new(),
            events: 0,
            gap: 0,
            last: BTreeMap::new(),
            gone: BTreeMap::new(),
        }
    }

    /// The watch has ended: nothing is kept any more.
    pub(super) fn forget(&mut self) {
        self.on_event(&WatchEvent::Gap);
        self.is_watching = false;
    }

    /// How many events came so far.
    pub(super) fn events(&self) -> u64 {
        self.events
    }

    /// The number of the last event that concerns a node below the root.
    pub(super) fn last_event(&self, name: &str) -> u64 {
        self.last.get(name).copied().unwrap_or_default().max(self.gap)
    }

    /// Takes an event of the watch.
    pub(super) fn on_event(&mut self, event: &WatchEvent) {
        self.events += 1;
        match event {
            WatchEvent::Gap => {
                self.is_watching = true;
                self.generation += 1;
                self.nodes = Nodes::new(Node::UNREAD);
                self.last = BTreeMap::new();
                self.gone = BTreeMap::new();
                self.gap = self.events;
            }
            WatchEvent::Created(path) => {
                self.note(path, true);
                // A child that is created later comes with an event of its own.
                self.put(path, Node { data: Fact::Unread, is_listed: true });
            }
            WatchEvent::Changed(path) => {
                self.note(path, false);
                if let Some(node) = self.nodes.get_mut(path) {
                    node.data = Fact::Unread;
                }
            }
            WatchEvent::Deleted(path) => {
                self.note(path, true);
                // Also the nodes below, which were deleted before it.
                self.nodes.remove_tree(path);
                if parent_of(path) == "/" {
                    self.last.remove(&path[1..]);
                }
            }
        }
    }

    /// Notes that a node was deleted, at a time in milliseconds since 1970.
    pub(super) fn on_gone(&mut self, path: &str, now: i64) {
        let Ok(job) = JobName::new(path.split('/').nth(1).unwrap_or_default()) else { return };
        match JobPath::parse(&job, path) {
            Some(JobPath::Root) => drop(self.gone.remove(&job)),
            Some(JobPath::Instance(_)) => self.gone.entry(job).or_default().instance = Some(now),
            Some(JobPath::LeaderInstance) => self.gone.entry(job).or_default().leader = Some(now),
            _ => {}
        }
    }

    /// When the last instance of a job left and the last leader did.
    pub(super) fn gone(&self, job: &JobName) -> Gone {
        self.gone.get(job).copied().unwrap_or_default()
    }

    /// Notes that an event at a node makes answers old that are under way.
    fn note(&mut self, path: &str, is_list: bool) {
        let mut parts = path.split('/').skip(1);
        let name = parts.next().unwrap_or_default();
        match self.last.get_mut(name) {
            Some(last) => *last = self.events,
            None => drop(self.last.insert(name.into(), self.events)),
        }
        if self.asked.is_empty() {
            return;
        }
        if let Some(asked) = self.asked.get_mut(path) {
            (asked.is_data_old, asked.is_list_old) = (true, true);
        }
        if let Some(asked) = self.asked.get_mut(parent_of(path)).filter(|_| is_list) {
            asked.is_list_old = true;
        }
    }

    /// Sets a node that was created, where its parent is known.
    fn put(&mut self, path: &str, node: Node) {
        // What was known below it is of a time when it did not exist.
        self.nodes.remove_tree(path);
        if self.nodes.contains(parent_of(path)) {
            self.nodes.insert(path, node);
        }
    }

    /// The data of a node, `Some(None)` where there is no such node, `None` where it has to be read.
    pub(super) fn data(&self, path: &str) -> Option<Option<NodeData>> {
        match self.nodes.get(path) {
            Some(Node { data: Fact::Data(data), .. }) => Some(Some(data.clone())),
            Some(Node { data: Fact::Missing, .. }) => Some(None),
            Some(Node { data: Fact::Unread, .. }) => None,
            None => self.is_missing(path).then_some(None),
        }
    }

    /// The names of the children of a node, `Some(None)` where there is no such node, `None` where it has to be read.
    pub(super) fn children(&self, path: &str) -> Option<Option<Vec<String>>> {
        match self.nodes.get(path) {
            Some(Node { data: Fact::Missing, .. }) => Some(None),
            Some(Node { is_listed: true, .. }) => {
                Some(self.nodes.children_that(path, |child| !matches!(child.data, Fact::Missing)))
            }
            Some(_) => None,
            None => self.is_missing(path).then_some(None),
        }
    }

    /// Whether a node that is not known cannot exist: the nearest node above that is known is missing or is listed.
    fn is_missing(&self, path: &str) -> bool {
        let mut above = path;
        while above != "/" {
            above = parent_of(above);
            if let Some(node) = self.nodes.get(above) {
                return node.is_listed || matches!(node.data, Fact::Missing);
            }
        }
        false
    }

    /// Notes that a node is being read; the answer is given with the number that is returned.
    pub(super) fn ask(&mut self, path: &str) -> u64 {
        match self.asked.get_mut(path) {
            Some(asked) => asked.count += 1,
            None => drop(self.asked.insert(path.into(), Asked { count: 1, ..Asked::default() })),
        }
        self.generation
    }

    /// One question less is under way.
    pub(super) fn end(&mut self, path: &str) {
        if let Some(asked) = self.asked.get_mut(path) {
            asked.count -= 1;
            if asked.count == 0 {
                self.asked.remove(path);
            }
        }
    }

    /// Takes the data of a node that was asked for.
    pub(super) fn on_read(&mut self, generation: u64, path: &str, answer: Option<&NodeData>) {
        if !self.is_current(generation, path) || self.asked.get(path).is_none_or(|asked| asked.is_data_old) {
            return;
        }
        let node = self.reach(path);
        match answer {
            Some(data) => node.data = Fact::Data(data.clone()),
            None => *node = Node { data: Fact::Missing, is_listed: false },
        }
    }

    /// Takes the names of the children of a node that was asked for.
    pub(super) fn on_listed(&mut self, generation: u64, path: &str, answer: Option<&[String]>) {
        if !self.is_current(generation, path) || self.asked.get(path).is_none_or(|asked| asked.is_list_old) {
            return;
        }
        let node = self.reach(path);
        let Some(names) = answer else {
            *node = Node { data: Fact::Missing, is_listed: false };
            return;
        };
        node.is_listed = true;
        if matches!(node.data, Fact::Missing) {
            node.data = Fact::Unread;
        }
        let below = if path == "/" { "" } else { path };
        let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        for name in &names {
            let child = self.reach(&format!("{below}/{name}"));
            if matches!(child.data, Fact::Missing) {
                child.data = Fact::Unread;
            }
        }
        // What was known of others is of a time when they existed.
        for known in self.nodes.children(path).unwrap_or_default() {
            if !names.contains(known.as_str()) {
                self.nodes.remove_tree(&format!("{below}/{known}"));
            }
        }
    }

    /// Whether an answer about a node can be kept: no gap came since the question. A node that is known to be missing by
    /// now stays out, as do the nodes above it.
    fn is_current(&self, generation: u64, path: &str) -> bool {
        self.is_watching && generation == self.generation && (self.nodes.contains(path) || !self.is_missing(path))
    }

    /// The node, made with the nodes above it where it is not known.
    fn reach(&mut self, path: &str) -> &mut Node {
        if !self.nodes.contains(path) {
            self.reach(parent_of(path));
            self.nodes.insert(path, Node::UNREAD);
        }
        self.nodes.get_mut(path).expect("it was made")
    }
}

#[cfg(test)]
mod tests;
