//! The watches of a mirror: one of the whole job, or several of its parts.
//!
//! A small group hears everything: one watch at the root of the job and all below it. Each fire writes two nodes of each
//! item when it begins and when it ends, and in a large group that is news for the owner and the leader alone. There an
//! instance hears of the group (configuration, servers, instances, leader, sessions, triggers, requests, owners) and of
//! what is below the items that it names. What is below the other items it does not know, and the mirror does not say.
//!
//! A watch is added before anything is taken from the nodes below it, and dropped only when all that take its place are
//! there. So no change falls between two watches. The nodes are listed right behind the watch: a registry center answers in
//! order, and a list that comes back before its watch is in place does not count.

use std::collections::{BTreeMap, BTreeSet};

use super::Mirror;
#[cfg(any(test, feature = "testing"))]
use crate::ident::JobName;
use crate::ident::ShardingItem;
#[cfg(any(test, feature = "testing"))]
use crate::registry::WatchEvent;
use crate::registry::layout::{ItemNode, JobPath};

/// The nodes of one watch.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Watched {
    /// The node that is watched. It need not exist.
    pub path: JobPath,
    /// Whether the nodes below it are watched too.
    pub below: bool,
}

impl Watched {
    /// Everything of the job.
    pub fn job() -> Self {
        Self::below(JobPath::Root)
    }

    /// A node alone.
    pub fn node(path: JobPath) -> Self {
        Self { path, below: false }
    }

    /// A node and everything below it.
    pub fn below(path: JobPath) -> Self {
        Self { path, below: true }
    }

    /// The watches that report an event, where they are in place: at its node, and at or above it.
    #[cfg(any(test, feature = "testing"))]
    pub fn telling(job: &JobName, event: &WatchEvent) -> Vec<Self> {
        let (WatchEvent::Created(path) | WatchEvent::Changed(path) | WatchEvent::Deleted(path)) = event else {
            return Vec::new();
        };
        let own = JobPath::parse(job, path);
        let above = path.match_indices('/').filter_map(|(end, _)| JobPath::parse(job, &path[..end]));
        above.chain(own.clone()).map(Self::below).chain(own.map(Self::node)).collect()
    }
}

/// The nodes that an instance of a large group has to hear of, beside the group itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts {
    /// The items from 0 to this one, without it, whose owners it hears of.
    pub total: u32,
    /// The items of which it hears everything.
    pub items: BTreeSet<ShardingItem>,
}

impl Parts {
    fn watches(&self) -> BTreeSet<Watched> {
        // Not the root: a client has one watch at a node, and that of the whole job is there. When an operator deletes the
        // root, the nodes below it go before.
        let nodes = [JobPath::Config, JobPath::Dependencies, JobPath::Sharding].map(Watched::node);
        let trees = [
            JobPath::Servers,
            JobPath::Instances,
            JobPath::Leader,
            JobPath::Triggers,
            JobPath::Sessions,
            JobPath::Guarantee,
        ];
        let owners = (0..self.total).filter(|item| !self.items.contains(item)).map(JobPath::owner_of);
        let items = self.items.iter().map(|item| JobPath::Item(*item, ItemNode::Dir));
        let below = trees.into_iter().chain(items).map(Watched::below);
        nodes.into_iter().chain(owners.map(Watched::node)).chain(below).collect()
    }
}

/// Watches to add, and watches to drop afterwards.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WatchChanges {
    /// To be added.
    pub add: Vec<Watched>,
    /// Not needed any more.
    pub drop: Vec<Watched>,
}

impl WatchChanges {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.add.is_empty() && self.drop.is_empty()
    }
}

/// The watch of the whole job, beside those of its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whole {
    /// It is in place: the mirror hears everything.
    InPlace,
    /// It is not there: the mirror hears of the parts.
    Dropped,
    /// It is being added again.
    Asked,
}

/// The watches of a mirror that hears of parts, or is about to.
#[derive(Debug)]
pub(super) struct PartWatches {
    whole: Whole,
    /// What the watches were last brought in line with, when nothing was left to do for it.
    settled: Option<Parts>,
    /// Each with whether it is in place.
    parts: BTreeMap<Watched, bool>,
}

impl PartWatches {
    fn hears_below(&self, item: ShardingItem) -> bool {
        let watched = Watched::below(JobPath::Item(item, ItemNode::Dir));
        self.whole == Whole::InPlace || self.parts.get(&watched) == Some(&true)
    }

    fn hears_owner(&self, item: ShardingItem) -> bool {
        self.hears_below(item) || self.parts.get(&Watched::node(JobPath::owner_of(item))) == Some(&true)
    }

    fn are_in_place(&self) -> bool {
        self.parts.values().all(|in_place| *in_place)
    }

    /// Whether what it has to hear of is heard.
    pub(super) fn is_ready(&self) -> bool {
        match self.whole {
            Whole::InPlace => true,
            Whole::Dropped => self.are_in_place(),
            Whole::Asked => false,
        }
    }
}

impl Mirror {
    /// Whether a change of this node would be heard of. Of other nodes nothing is known.
    pub fn hears(&self, path: &JobPath) -> bool {
        match (&self.parts, path) {
            (Some(parts), JobPath::Item(item, node)) => {
                let is_of_owner = matches!(node, ItemNode::Dir | ItemNode::Instance);
                if is_of_owner { parts.hears_owner(*item) } else { parts.hears_below(*item) }
            }
            _ => true,
        }
    }

    /// Whether a change of any node of the job would be heard of.
    pub fn hears_everything(&self) -> bool {
        self.parts.as_ref().is_none_or(|parts| parts.whole == Whole::InPlace)
    }

    /// Whether the mirror hears of parts of the job only.
    pub fn hears_parts(&self) -> bool {
        self.parts.as_ref().is_some_and(|parts| parts.whole == Whole::Dropped)
    }

    /// Brings the watches in line with what has to be heard: these parts, or everything. Called while no write is out.
    pub fn hear(&mut self, wanted: Option<&Parts>) -> WatchChanges {
        let mut changes = WatchChanges::default();
        let is_quiet = self.reading.is_empty() && self.listing.is_empty() && self.to_list.is_empty();
        let Some(wanted) = wanted else {
            let Some(parts) = &mut self.parts else { return changes };
            match parts.whole {
                Whole::InPlace => {
                    changes.drop = std::mem::take(&mut parts.parts).into_keys().collect();
                    self.parts = None;
                }
                Whole::Dropped => {
                    parts.whole = Whole::Asked;
                    parts.settled = None;
                    changes.add = vec![Watched::job()];
                    self.to_list.insert(JobPath::Sharding);
                }
                Whole::Asked => {}
            }
            return changes;
        };
        let parts = self.parts.get_or_insert_with(|| {
            Box::new(PartWatches { whole: Whole::InPlace, settled: None, parts: BTreeMap::new() })
        });
        if parts.whole == Whole::Asked || parts.settled.as_ref() == Some(wanted) {
            return changes;
        }
        parts.settled = None;
        let needed = wanted.watches();
        changes.add = needed.iter().filter(|watched| !parts.parts.contains_key(watched)).cloned().collect();
        parts.parts.extend(changes.add.iter().map(|watched| (watched.clone(), false)));
        // What is dropped is forgotten, so no answer about it may be on its way.
        if !parts.are_in_place() || !is_quiet {
            if parts.whole == Whole::Dropped {
                changes.add.iter().for_each(|watched| self.list_behind(watched));
            }
            return changes;
        }
        if parts.whole == Whole::InPlace {
            parts.whole = Whole::Dropped;
            changes.drop.push(Watched::job());
        }
        let obsolete = |watched: &Watched| !needed.contains(watched);
        changes.drop.extend(parts.parts.extract_if(.., |watched, _| obsolete(watched)).map(|(watched, _)| watched));
        parts.settled = Some(wanted.clone());
        if !changes.drop.is_empty() {
            self.forget_unheard();
        }
        changes
    }

    /// Whether the watch of this part is in place, as far as is known.
    pub fn is_in_place(&self, watched: &Watched) -> bool {
        self.parts.as_ref().and_then(|parts| parts.parts.get(watched)).is_some_and(|in_place| *in_place)
    }

    /// Takes that a watch of a part is in place. Events may have been missed before.
    pub fn on_placed(&mut self, watched: &Watched) {
        let Some(parts) = &mut self.parts else { return };
        let (whole, Some(in_place)) = (parts.whole, parts.parts.get_mut(watched)) else { return };
        if std::mem::replace(in_place, true) {
            self.on_gap();
            return;
        }
        match &watched.path {
            _ if whole == Whole::InPlace => {}
            JobPath::Item(_, ItemNode::Dir) if !self.listing.contains_key(&watched.path) => self.list_behind(watched),
            path @ JobPath::Item(item, ItemNode::Instance) if !parts.hears_below(*item) => {
                // Whether it exists shows when it is read.
                self.nodes.insert(path.clone(), None);
            }
            _ => {}
        }
    }

    /// Takes that the watch of the whole job is in place. Returns whether it was being added beside the watches of parts:
    /// then what those have told is still true. All items are listed, also those of which it had a watch; their data stay.
    pub(super) fn on_whole_placed(&mut self) -> bool {
        let Some(parts) = self.parts.as_mut().filter(|parts| parts.whole == Whole::Asked) else { return false };
        parts.whole = Whole::InPlace;
        if !self.listing.contains_key(&JobPath::Sharding) {
            self.to_list.insert(JobPath::Sharding);
        }
        true
    }

    /// The nodes of an item are listed behind its watch.
    fn list_behind(&mut self, watched: &Watched) {
        let JobPath::Item(item, ItemNode::Dir) = watched.path else { return };
        #[cfg(feature = "testing")]
        if self.keeps_picture && self.nodes.of_item(item).count() > 2 {
            return;
        }
        self.to_list.insert(JobPath::Item(item, ItemNode::Dir));
    }

    /// Whether a list counts: not before the watch is in place that tells what changes after it. It is sent again then.
    pub(super) fn trusts_list(&mut self, path: &JobPath) -> bool {
        let Some(parts) = &self.parts else { return true };
        let is_trusted = match path {
            JobPath::Item(item, ItemNode::Dir) => parts.hears_below(*item),
            JobPath::Sharding => parts.whole != Whole::Asked,
            _ => true,
        };
        if !is_trusted {
            self.to_list.insert(path.clone());
        }
        is_trusted
    }

    /// Takes the items that a list shows. What is below an item is listed where it is heard of.
    pub(super) fn on_item_listed(&mut self, item: ShardingItem) -> bool {
        let is_heard = self.parts.as_ref().is_none_or(|parts| parts.hears_below(item));
        if !is_heard {
            self.nodes.insert(JobPath::owner_of(item), None);
        }
        is_heard
    }

    /// Plants a bug: what was known of an item before it was not heard of counts again when it is.
    #[cfg(feature = "testing")]
    pub fn keep_picture(&mut self) {
        self.keeps_picture = true;
    }

    fn forget_unheard(&mut self) {
        #[cfg(feature = "testing")]
        if self.keeps_picture {
            return;
        }
        let items: Vec<ShardingItem> = self.items().collect();
        for item in items {
            for path in self.item_tree(item).iter().filter(|path| !self.hears(path)).cloned().collect::<Vec<_>>() {
                self.nodes.remove(&path);
            }
        }
    }
}
