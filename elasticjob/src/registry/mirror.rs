//! The mirror: what an engine knows of the nodes of one job. Pure.
//!
//! The recursive watch shows which nodes exist; their data are read only when a rule asks for them. The mirror applies
//! own commits from their answers. A gap in the watch makes everything known so far doubtful: all nodes are listed
//! again, and data are read again when they are needed.
//!
//! Answers and events of one session arrive so that an event is never later than an answer that follows it (see
//! [`crate::registry`]), but an event may arrive before an answer that was given earlier. Therefore the mirror counts
//! the events that an own transaction causes (`InFlight`), and drops answers to requests that were sent before a gap.

mod nodes;
mod parsed;
#[cfg(test)]
mod tests;
mod watches;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use self::nodes::Nodes;
use self::parsed::Parsed;
use self::watches::PartWatches;
pub use self::watches::{Parts, WatchChanges, Watched};
use super::layout::{ItemNode, JobPath};
use super::{
    Committed, CreateMode, Data, NodeData, Op, OpResult, SessionId, Stat, TRANSACTION_LIMIT, Transaction, WatchEvent,
    Zxid,
};
use crate::ident::{InstanceId, JobName, ShardingItem};

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
    parsed: Parsed,
}

impl Known {
    fn boxed(data: Data, stat: Stat) -> Box<Self> {
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

    /// What `parse` makes of the data. They are parsed once.
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

/// For each path of the own transaction in flight: how many events are expected, and how many were seen.
#[derive(Debug, Default)]
struct InFlight(BTreeMap<JobPath, (u32, u32)>);

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

    /// How many bytes the namespace adds to each path.
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
        for gone in self.children(path).iter().filter(|known| !listed.contains(known) && !told.contains(known)) {
            self.remove_tree(gone);
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
            let is_heard = match &child {
                JobPath::Item(item, ItemNode::Dir) => self.on_item_listed(*item),
                _ => true,
            };
            if child.has_children() && is_heard {
                self.to_list.insert(child.clone());
            }
            if !told.contains(&child) {
                self.nodes.add(child);
            }
        }
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

    /// The data of a node that a decision needs; `None` where there is no such node.
    ///
    /// # Errors
    /// [`Unread`] where they have to be read first. They are wanted from now on.
    pub fn need(&self, path: &JobPath) -> Result<Option<&Known>, Unread> {
        match self.lookup(path) {
            Lookup::Missing => Ok(None),
            Lookup::Known(known) => Ok(Some(known)),
            Lookup::Unread if !self.hears(path) => Err(Unread),
            Lookup::Unread => {
                self.wanted.borrow_mut().insert(path.clone());
                Err(Unread)
            }
        }
    }

    /// The same for the node of a server, by its address.
    ///
    /// # Errors
    /// As for [`Self::need`].
    pub fn need_server(&self, ip: &str) -> Result<Option<&Known>, Unread> {
        match self.nodes.server(ip) {
            None => Ok(None),
            Some(Some(known)) => Ok(Some(known)),
            Some(None) => {
                self.wanted.borrow_mut().insert(JobPath::Server(ip.into()));
                Err(Unread)
            }
        }
    }

    /// When a node was created, by the clock of the registry center; `None` where there is none. For a node that this
    /// instance created only a read shows it, which this asks for.
    ///
    /// # Errors
    /// Unknown yet: something of it has to be read first.
    pub fn made_at(&self, path: &JobPath) -> Result<Option<i64>, Unread> {
        self.by_server_clock(path, |known| known.ctime)
    }

    /// When a node was written last, as [`made_at`](Self::made_at).
    ///
    /// # Errors
    /// Unknown yet: something of it has to be read first.
    pub fn written_at(&self, path: &JobPath) -> Result<Option<i64>, Unread> {
        self.by_server_clock(path, |known| known.mtime)
    }

    fn by_server_clock(&self, path: &JobPath, time: impl FnOnce(&Known) -> i64) -> Result<Option<i64>, Unread> {
        let Some(known) = self.need(path)? else { return Ok(None) };
        match time(known) {
            0 => {
                self.confirm(path.clone());
                Err(Unread)
            }
            time => Ok(Some(time)),
        }
    }

    /// Wants a node to be read, also where it is known or believed not to exist.
    pub fn confirm(&self, path: JobPath) {
        self.wanted.borrow_mut().insert(path);
    }

    /// Whether data are wanted.
    pub fn has_wanted(&self) -> bool {
        !self.wanted.borrow().is_empty()
    }

    /// The nodes whose data are wanted; from now on none are.
    pub fn take_wanted(&self) -> BTreeSet<JobPath> {
        self.wanted.take()
    }

    /// Of the wanted nodes, those that are not being read yet. They have to be read now.
    pub fn start_reads(&mut self, wanted: impl IntoIterator<Item = JobPath>) -> Vec<JobPath> {
        let mut start = Vec::new();
        for path in wanted {
            if !self.reading.contains_key(&path) {
                self.reading.insert(path.clone(), false);
                start.push(path);
            }
        }
        start
    }

    /// Takes the data of a node that was read, `None` when it does not exist.
    pub fn on_read(&mut self, generation: u32, path: &JobPath, node: Option<NodeData>) {
        if generation != self.generation {
            return;
        }
        // Doubtful: an event came between request and answer, and may be later than the answer. The next rule that
        // needs the data reads again.
        let Some(false) = take(&mut self.reading, path) else { return };
        if !self.hears(path) {
            return;
        }
        match node {
            Some(node) => {
                self.nodes.insert(path.clone(), Some(Known::boxed(node.data, node.stat)));
            }
            None => {
                self.nodes.remove(path);
            }
        }
    }

    /// Notes that an own transaction is sent.
    pub fn on_commit_sent(&mut self, transaction: &Transaction) {
        self.in_flight.0.clear();
        for op in transaction.ops() {
            let sequential = matches!(op, Op::Create { mode: CreateMode::EphemeralSequential, .. });
            if matches!(op, Op::Check { .. }) || sequential {
                continue;
            }
            if let Some(path) = JobPath::parse(&self.job, op.path()) {
                self.in_flight.0.entry(path).or_default().0 += 1;
            }
        }
    }

    /// Notes that the own transaction was applied.
    pub fn on_committed(&mut self, transaction: &Transaction, committed: &Committed, session: SessionId) {
        let in_flight = std::mem::take(&mut self.in_flight.0);
        let zxid = committed.zxid().unwrap_or(0);
        for (op, result) in transaction.ops().iter().zip(&committed.results) {
            let path = match result {
                OpResult::Create { path } => path,
                _ => op.path(),
            };
            let Some(path) = JobPath::parse(&self.job, path).filter(|path| self.hears(path)) else { continue };
            let (expected, seen) = in_flight.get(&path).copied().unwrap_or((1, 0));
            // Events have already shown which nodes exist. More events than expected mean that another client wrote as
            // well.
            let told = seen > 0;
            let foreign = seen > expected;
            match (op, result) {
                (Op::Create { data, mode, .. }, _) if !told || self.nodes.contains(&path) => {
                    // An instance that takes a trigger needs its creation time, which the answer does not have.
                    let complete = path.has_data() && !matches!(path, JobPath::Trigger(_));
                    let known = (complete && !foreign).then(|| {
                        Box::new(Known {
                            data: data.clone(),
                            version: 0,
                            mzxid: zxid,
                            czxid: zxid,
                            ctime: 0,
                            mtime: 0,
                            owner: (*mode != CreateMode::Persistent).then_some(session),
                            parsed: Parsed::default(),
                        })
                    });
                    self.nodes.insert(path, known);
                }
                (Op::Set { data, .. }, OpResult::Set { stat }) if !told || self.nodes.contains(&path) => {
                    let known = (!foreign).then(|| Known::boxed(data.clone(), *stat));
                    self.nodes.insert(path, known);
                }
                (Op::Delete { .. }, _) if !told => {
                    self.nodes.remove(&path);
                }
                _ => {}
            }
        }
    }

    /// Notes that the own transaction was refused, or was not sent.
    pub fn on_not_committed(&mut self) {
        self.in_flight.0.clear();
    }

    /// Forgets the data of a node, so that they are read again when needed.
    pub fn doubt(&mut self, path: &JobPath) {
        self.nodes.forget(path);
    }

    /// What the mirror knows of a node.
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

    /// The live instances, in ascending order.
    pub fn instances(&self) -> impl Iterator<Item = &InstanceId> {
        self.nodes.after(&JobPath::Instances).map_while(|path| match path {
            JobPath::Instance(id) => Some(id),
            _ => None,
        })
    }

    /// Addresses of the servers that exist, in ascending order.
    pub fn servers(&self) -> impl Iterator<Item = &str> {
        self.nodes.after(&JobPath::Servers).map_while(|path| match path {
            JobPath::Server(ip) => Some(ip.as_ref()),
            _ => None,
        })
    }

    /// Numbers of the items that exist, in ascending order.
    pub fn items(&self) -> impl Iterator<Item = ShardingItem> {
        self.nodes.items_with(ItemNode::Dir)
    }

    /// The items that run somewhere, in ascending order.
    pub fn running_items(&self) -> impl Iterator<Item = ShardingItem> {
        self.nodes.items_with(ItemNode::Running)
    }

    /// The items that have a missed fire to be made up for, in ascending order.
    pub fn misfired_items(&self) -> impl Iterator<Item = ShardingItem> {
        self.nodes.items_with(ItemNode::Misfire)
    }

    /// The items that an instance took over, in ascending order.
    pub fn taken_over_items(&self) -> impl Iterator<Item = ShardingItem> {
        self.nodes.items_with(ItemNode::Failovering)
    }

    /// The items that an instance holds as it takes them over, in ascending order.
    pub fn held_items(&self) -> impl Iterator<Item = ShardingItem> {
        self.nodes.items_with(ItemNode::Failover)
    }

    /// The items that wait to be taken over, in ascending order.
    pub fn failover_items(&self) -> impl Iterator<Item = ShardingItem> {
        self.nodes.after(&JobPath::FailoverItems).map_while(|path| match path {
            JobPath::FailoverItem(item) => Some(*item),
            _ => None,
        })
    }

    /// The sessions that show that they live, in ascending order.
    pub fn sessions(&self) -> impl Iterator<Item = SessionId> {
        self.nodes.after(&JobPath::Sessions).map_while(|path| match path {
            JobPath::Session(id) => Some(*id),
            _ => None,
        })
    }

    /// The nodes of an item, deepest first, the item's own node last.
    pub fn item_tree(&self, item: ShardingItem) -> Vec<JobPath> {
        self.nodes.of_item(item).rev().map(|node| JobPath::Item(item, node.clone())).collect()
    }

    /// The instances that a trigger waits for.
    pub fn triggers(&self) -> impl Iterator<Item = &InstanceId> {
        self.nodes.after(&JobPath::Triggers).map_while(|path| match path {
            JobPath::Trigger(id) => Some(id),
            _ => None,
        })
    }

    /// Names of the candidates for leadership.
    pub fn candidates(&self) -> impl Iterator<Item = &str> {
        self.nodes.after(&JobPath::Latch).map_while(|path| match path {
            JobPath::Candidate(name) => Some(name.as_ref()),
            _ => None,
        })
    }

    fn children(&self, parent: &JobPath) -> Vec<JobPath> {
        match parent {
            // The common and large one: no scan of all nodes.
            JobPath::Item(item, ItemNode::Dir) => {
                self.item_tree(*item).into_iter().filter(|path| path != parent).collect()
            }
            _ => self.nodes.paths().filter(|path| path.parent().as_ref() == Some(parent)).collect(),
        }
    }

    fn remove_tree(&mut self, path: &JobPath) {
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

/// Removes an entry. An emptied B-tree would keep a leaf for the next entry, which takes much memory where thousands of
/// jobs are followed.
fn take<V>(map: &mut BTreeMap<JobPath, V>, path: &JobPath) -> Option<V> {
    let value = map.remove(path);
    if map.is_empty() {
        *map = BTreeMap::new();
    }
    value
}
