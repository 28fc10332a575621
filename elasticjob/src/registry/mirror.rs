//! The mirror: what an engine knows of the nodes of one job. Pure.
//!
//! The recursive watch shows which nodes exist; their data are read only when a rule asks for them. The mirror applies
//! own commits from their answers. A gap in the watch makes everything known so far doubtful: all nodes are listed
//! again, and data are read again when they are needed.
//!
//! Answers and events of one session arrive so that an event is never later than an answer that follows it (see
//! [`crate::registry`]), but an event may arrive before an answer that was given earlier. Therefore the mirror counts
//! the events that an own transaction causes (`InFlight`), and drops answers to requests that were sent before a gap.

mod commits;
mod known;
mod lists;
mod nodes;
mod parsed;
mod reads;
#[cfg(test)]
mod tests;
mod views;
mod watches;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use self::commits::InFlight;
pub use self::known::{Known, Lookup, Unread, read_all, read_found, read_known};
use self::nodes::Nodes;
use self::watches::PartWatches;
pub use self::watches::{Parts, WatchChanges, Watched};
use super::layout::{ItemNode, JobPath};
use super::{TRANSACTION_LIMIT, WatchEvent};
use crate::ident::JobName;

/// The most that an item adds to a transaction: a record with the longest error, and all marks.
const ITEM_WEIGHT: usize = 10_000;

/// What the transactions of a job have to fit into.
#[derive(Debug, Clone, Copy)]
struct Room {
    /// The bytes that the namespace adds to each path.
    namespace_bytes: usize,
    /// A transaction that weighs more takes no further item.
    full_from: usize,
}

/// The nodes of one job, as far as they are known here.
#[derive(Debug)]
pub struct Mirror {
    job: JobName,
    room: Room,
    nodes: Nodes,
    /// Grows with every gap: answers to older requests are dropped.
    generation: u32,
    /// Directories that have to be listed and were not requested yet.
    to_list: BTreeSet<JobPath>,
    /// Directories that are being listed, each with the paths of events since the request (the directory and its
    /// children): these events are not older than the answer.
    listing: BTreeMap<JobPath, BTreeSet<JobPath>>,
    /// Nodes that are being read, and whether an event has made the answer doubtful meanwhile.
    reading: BTreeMap<JobPath, bool>,
    in_flight: InFlight,
    watching: bool,
    /// The watches of parts, where not everything is heard of. Boxed, as most jobs are those of small groups.
    parts: Option<Box<PartWatches>>,
    /// Nodes whose data a decision needs and that have to be read: they are read together. Looking at a node is no change
    /// of the mirror, so they stand in a cell.
    wanted: RefCell<BTreeSet<JobPath>>,
    /// A node that was taken to be missing although it is not heard of.
    #[cfg(feature = "testing")]
    trusted: RefCell<Option<JobPath>>,
    #[cfg(feature = "testing")]
    keeps_picture: bool,
}

impl Mirror {
    /// An empty mirror. It starts with the first gap of the watch.
    pub fn new(job: JobName) -> Self {
        Self {
            job,
            room: Room { namespace_bytes: 0, full_from: TRANSACTION_LIMIT - ITEM_WEIGHT },
            nodes: Nodes::new(),
            generation: 0,
            to_list: BTreeSet::new(),
            listing: BTreeMap::new(),
            reading: BTreeMap::new(),
            in_flight: InFlight::default(),
            watching: false,
            parts: None,
            wanted: RefCell::default(),
            #[cfg(feature = "testing")]
            trusted: RefCell::default(),
            #[cfg(feature = "testing")]
            keeps_picture: false,
        }
    }

    /// A mirror of the same job in the same namespace that has read nothing yet.
    pub fn unread(&self) -> Self {
        Self {
            room: self.room,
            #[cfg(feature = "testing")]
            keeps_picture: self.keeps_picture,
            ..Self::new(self.job.clone())
        }
    }

    /// Sets how many bytes the namespace adds to each path.
    pub fn count_namespace(&mut self, bytes: usize) {
        self.room.namespace_bytes = bytes;
    }

    /// The number of bytes that the namespace adds to each path.
    pub fn namespace_bytes(&self) -> usize {
        self.room.namespace_bytes
    }

    /// The weight from which on a transaction takes no further item.
    pub fn full_from(&self) -> usize {
        self.room.full_from
    }

    /// Makes transactions take no further item from this weight on, so that few items need several transactions.
    #[cfg(any(test, feature = "testing"))]
    pub fn fill_from(&mut self, weight: usize) {
        self.room.full_from = weight;
    }

    /// Whether all nodes were listed since the last gap.
    pub fn is_synced(&self) -> bool {
        let is_heard = self.parts.as_ref().is_none_or(|parts| parts.is_ready());
        self.watching && is_heard && self.to_list.is_empty() && self.listing.is_empty()
    }

    /// The tag of requests that are sent now.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// Makes everything doubtful and lists all nodes again, as after a gap.
    pub fn relist(&mut self) {
        if self.watching {
            self.doubt_all();
        }
    }

    fn doubt_all(&mut self) {
        self.generation += 1;
        self.nodes.forget_all();
        self.reading.clear();
        self.listing.clear();
        self.to_list = BTreeSet::from([JobPath::Root]);
    }

    /// Events may be missing: everything is doubtful.
    fn on_gap(&mut self) {
        self.watching = true;
        // The transaction in flight is as doubtful as if other instances had written too.
        self.in_flight.0.values_mut().for_each(|(expected, seen)| *seen = *expected + 1);
        self.doubt_all();
    }

    /// Takes an event of the watch.
    pub fn on_event(&mut self, event: &WatchEvent) {
        let (path, exists) = match event {
            WatchEvent::Gap => {
                if !self.on_whole_placed() {
                    self.on_gap();
                }
                return;
            }
            WatchEvent::Created(path) | WatchEvent::Changed(path) => (path, true),
            WatchEvent::Deleted(path) => (path, false),
        };
        let Some(path) = JobPath::parse(&self.job, path) else { return };
        if let Some((_, seen)) = self.in_flight.0.get_mut(&path) {
            *seen += 1;
        }
        if let Some(doubtful) = self.reading.get_mut(&path) {
            *doubtful = true;
        }
        if !self.listing.is_empty() {
            for directory in path.parent().iter().chain([&path]) {
                if let Some(told) = self.listing.get_mut(directory) {
                    told.insert(path.clone());
                }
            }
        }
        if !self.hears(&path) {
            // Of a watch that is not needed any more.
            return;
        }
        if let JobPath::Item(item, ItemNode::Instance) = &path
            && !self.hears(&JobPath::running(*item))
        {
            // The owner stands for its item, of which nothing else is heard.
            let item = JobPath::Item(*item, ItemNode::Dir);
            if exists { self.nodes.add(item) } else { self.nodes.remove(&item) }
        }
        if exists {
            self.nodes.insert(path, None);
        } else {
            // Nodes below it were deleted before it; a gap may have hidden their events.
            self.remove_tree(&path);
        }
    }

    /// Forgets the data of a node, so that they are read again when needed.
    pub fn doubt(&mut self, path: &JobPath) {
        self.nodes.forget(path);
    }

    /// Looks up a node: what the mirror knows of it.
    pub fn lookup(&self, path: &JobPath) -> Lookup<'_> {
        if !self.hears(path) {
            return Lookup::Unread;
        }
        match self.nodes.get(path) {
            None => Lookup::Missing,
            Some(None) => Lookup::Unread,
            Some(Some(known)) => Lookup::Known(known),
        }
    }

    /// Whether a node exists. No rule may ask that of a node that is not heard of.
    pub fn exists(&self, path: &JobPath) -> bool {
        #[cfg(feature = "testing")]
        if !self.hears(path) {
            self.trusted.borrow_mut().get_or_insert_with(|| path.clone());
        }
        self.nodes.contains(path)
    }

    /// A node that is not heard of and that a rule took to be missing all the same.
    #[cfg(feature = "testing")]
    pub fn take_trusted(&self) -> Option<JobPath> {
        self.trusted.take()
    }
}

/// Removes an entry. An emptied B-tree would keep a leaf for the next entry, which takes much memory where thousands of
/// jobs are followed.
fn take<V>(map: &mut BTreeMap<JobPath, V>, path: &JobPath) -> Option<V> {
    let value = map.remove(path);
    if map.is_empty() {
        *map = BTreeMap::new();
    }
    value
}
