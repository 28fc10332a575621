//! The cache of Curator: a watch tells what changed, the data are read after it, and only then is an event told.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::jvm::{Call, Jvm, Reply, Ticket};
use crate::registry::{Data, WatchEvent};

/// What listeners hear, in order.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) kind: Kind,
    /// Below the root of the job.
    pub(super) node: String,
    pub(super) data: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Added,
    Updated,
    Deleted,
}

#[derive(Debug, Default)]
pub(super) struct Cache {
    started: bool,
    /// Data and version of each node.
    nodes: BTreeMap<String, (Data, i32)>,
    /// Reads and lists under way.
    background: BTreeMap<Ticket, String>,
    pub(super) changes: VecDeque<Change>,
}

impl Cache {
    pub(super) fn get(&self, node: &str) -> Option<Data> {
        self.nodes.get(node).map(|(data, _)| data.clone())
    }

    fn tell(&mut self, kind: Kind, node: &str, data: &[u8]) {
        let data = String::from_utf8_lossy(data).into_owned();
        self.changes.push_back(Change { kind, node: node.to_owned(), data });
    }

    fn gone(&mut self, node: &str) {
        if let Some((data, _)) = self.nodes.remove(node) {
            self.tell(Kind::Deleted, node, &data);
        }
    }
}

/// Starts to follow the job; everything that is there is told as added.
pub(super) fn start(jvm: &Jvm) {
    jvm.cache.borrow_mut().started = true;
    rebuild(jvm);
}

/// Reads all it knows, and looks for what it does not.
fn rebuild(jvm: &Jvm) {
    let known: BTreeSet<String> = jvm.cache.borrow().nodes.keys().cloned().collect();
    for node in known {
        background(jvm, &node, Call::Get(jvm.path(&node)));
    }
    background(jvm, "", Call::Children(format!("/{}", jvm.job)));
}

fn background(jvm: &Jvm, node: &str, call: Call) {
    let ticket = jvm.send(call);
    jvm.cache.borrow_mut().background.insert(ticket, node.to_owned());
}

pub(super) fn on_watch(jvm: &Jvm, event: &WatchEvent) {
    let relative = |path: &str| path.strip_prefix(&format!("/{}/", jvm.job)).map(str::to_owned);
    if let WatchEvent::Deleted(path) = event
        && path.contains("/latch/")
    {
        jvm.latches_gone.borrow_mut().insert(path.clone());
    }
    if !jvm.cache.borrow().started {
        return;
    }
    match event {
        WatchEvent::Gap => rebuild(jvm),
        WatchEvent::Created(path) | WatchEvent::Changed(path) => {
            if let Some(node) = relative(path) {
                background(jvm, &node, Call::Get(path.clone()));
            }
        }
        WatchEvent::Deleted(path) => {
            if let Some(node) = relative(path) {
                jvm.cache.borrow_mut().gone(&node);
            }
        }
    }
}

/// Takes an answer that belongs to the cache; gives back one that a thread waits for.
pub(super) fn on_reply(jvm: &Jvm, ticket: Ticket, reply: Reply) -> Option<Reply> {
    let Some(node) = jvm.cache.borrow_mut().background.remove(&ticket) else { return Some(reply) };
    match reply {
        Reply::Node(Some(read)) => {
            let cache = &mut *jvm.cache.borrow_mut();
            let (data, version) = (read.data, read.stat.version);
            let before = cache.nodes.insert(node.clone(), (data.clone(), version));
            match before {
                None => cache.tell(Kind::Added, &node, &data),
                // Deleted and created meanwhile it has version 0 again, and nobody hears of it.
                Some((_, before)) if before == version => {}
                Some(_) => cache.tell(Kind::Updated, &node, &data),
            }
        }
        Reply::Node(None) => jvm.cache.borrow_mut().gone(&node),
        Reply::Children(names) => {
            for name in names.unwrap_or_default() {
                let child = if node.is_empty() { name } else { format!("{node}/{name}") };
                background(jvm, &child, Call::Get(jvm.path(&child)));
                background(jvm, &child, Call::Children(jvm.path(&child)));
            }
        }
        Reply::Written(_) | Reply::Lost => {}
    }
    jvm.stir();
    None
}
