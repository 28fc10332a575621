//! The scene that invariants see with an observation.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::config::JobConfiguration;
use crate::fire::FireRecord;
use crate::ident::{InstanceId, JobName, ShardingItem};
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::tree::Tree;
use crate::registry::{Data, NodeData, Op, Transaction, Zxid};
use crate::testing::sim::{Host, Millis, Program, Shape};

pub(crate) struct Scene<'a> {
    pub(crate) now: Millis,
    pub(crate) job: &'a JobName,
    pub(crate) tree: &'a Tree,
    /// What was read of the tree.
    pub(super) reads: &'a Reads,
    pub(crate) hosts: &'a [Host],
    pub(crate) shape: &'a Shape,
    pub(crate) total: u32,
    /// The time between two fires, in seconds.
    pub(crate) period: u32,
    /// The cron expression of that.
    pub(crate) cron: &'a str,
    /// Whether the faults are over, and the group has had the time to settle.
    pub(crate) calm: bool,
    /// Since when monitoring is what it is, as a time that passed.
    pub(crate) monitored_for: Millis,
    /// Ids that Java instances of the group have or had.
    pub(crate) java_ids: &'a BTreeSet<String>,
}

impl Scene<'_> {
    /// Whether there are Java instances in the group: then some promises are those of Java.
    pub(crate) fn is_mixed(&self) -> bool {
        self.hosts.iter().any(|host| host.java)
    }

    /// Whether a host is Java.
    pub(crate) fn is_java(&self, host: usize) -> bool {
        self.hosts[host].java
    }

    /// The configuration by which the engine of a host goes.
    pub(crate) fn configuration(&self, host: usize) -> Option<&JobConfiguration> {
        match &self.hosts[host].process.as_ref()?.program {
            Program::Engine(engine) => engine.configuration().map(AsRef::as_ref),
            Program::Fallen(_) | Program::Java(_) => None,
        }
    }

    /// The instance that the engine of a host is, or was.
    pub(crate) fn instance(&self, host: usize) -> Option<InstanceId> {
        match &self.hosts[host].process.as_ref()?.program {
            Program::Engine(engine) => Some(engine.instance().clone()),
            Program::Fallen(fallen) => Some(fallen.instance().clone()),
            Program::Java(_) => None,
        }
    }

    /// Whether a node exists.
    pub(crate) fn exists(&self, path: &JobPath) -> bool {
        self.look(path, |node| node.is_some())
    }

    /// Data and stat of a node.
    pub(crate) fn node(&self, path: &JobPath) -> Option<NodeData> {
        self.look(path, |node| node.cloned())
    }

    /// Data of a node.
    pub(crate) fn data(&self, path: &JobPath) -> Option<Data> {
        self.look(path, |node| node.map(|node| node.data.clone()))
    }

    /// Data of a node as text.
    pub(crate) fn text(&self, path: &JobPath) -> Option<String> {
        self.look(path, |node| node?.data.text().map(str::to_owned))
    }

    /// The records of fires that a transaction writes.
    pub(super) fn records(&self, transaction: &Transaction) -> Vec<(ShardingItem, FireRecord)> {
        let records = transaction.ops().iter().filter_map(|op| match op {
            Op::Create { path, data, .. } | Op::Set { path, data, .. } => match JobPath::parse(self.job, path)? {
                JobPath::Item(item, ItemNode::Fire) => Some((item, FireRecord::parse(data))),
                _ => None,
            },
            _ => None,
        });
        records.collect()
    }

    /// Names of the children of a node, sorted.
    pub(crate) fn children(&self, path: &JobPath) -> Rc<[String]> {
        let names = |absolute: &str| self.tree.children(absolute).ok().flatten().unwrap_or_default().into();
        read(&self.reads.children, self, path, names, Rc::clone)
    }

    fn look<R>(&self, path: &JobPath, look: impl FnOnce(Option<&NodeData>) -> R) -> R {
        let node = |absolute: &str| self.tree.get(absolute).ok().flatten();
        read(&self.reads.nodes, self, path, node, |node| look(node.as_ref()))
    }
}

/// What was read of the tree for one job. Most looks find the tree as the look before found it: then nothing is read again.
#[derive(Debug, Default)]
pub(super) struct Reads {
    nodes: RefCell<BTreeMap<JobPath, Read<Option<NodeData>>>>,
    children: RefCell<BTreeMap<JobPath, Read<Rc<[String]>>>>,
}

/// It is valid only until the next transaction of the tree: each change of the tree has a transaction of its own, with
/// a higher number.
#[derive(Debug)]
struct Read<T> {
    absolute: String,
    zxid: Zxid,
    found: T,
}

fn read<T, R>(
    reads: &RefCell<BTreeMap<JobPath, Read<T>>>,
    scene: &Scene<'_>,
    path: &JobPath,
    find: impl Fn(&str) -> T,
    look: impl FnOnce(&T) -> R,
) -> R {
    let (zxid, mut reads) = (scene.tree.last_zxid(), reads.borrow_mut());
    if let Some(read) = reads.get_mut(path) {
        if read.zxid != zxid {
            (read.zxid, read.found) = (zxid, find(&read.absolute));
        }
        return look(&read.found);
    }
    let absolute = path.absolute(scene.job);
    let read = Read { zxid, found: find(&absolute), absolute };
    look(&reads.entry(path.clone()).or_insert(read).found)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::registry::{CreateMode, SessionId, Transaction};
    use crate::testing::rng::Rng;

    #[test]
    fn what_was_read_is_read_again_after_each_change_of_the_tree() {
        let (job, shape, java_ids) =
            (JobName::new("job").unwrap(), Shape::draw(&mut Rng::new(1), false), BTreeSet::new());
        let (reads, mut tree) = (Reads::default(), Tree::new(0));
        let (operator, instance) = (SessionId(1), SessionId(2));
        tree.open_session(operator, Duration::ZERO);
        tree.open_session(instance, Duration::ZERO);
        let (root, config) = (JobPath::Root, JobPath::Config);
        let seen = |tree: &Tree| {
            let scene = Scene {
                now: 0,
                job: &job,
                tree,
                reads: &reads,
                hosts: &[],
                shape: &shape,
                total: 1,
                period: 1,
                cron: "",
                calm: false,
                monitored_for: 0,
                java_ids: &java_ids,
            };
            let (text, node) = (scene.text(&config), scene.node(&config));
            assert_eq!((text.is_some(), scene.data(&config)), (scene.exists(&config), node.map(|node| node.data)));
            (text, scene.children(&root).to_vec())
        };
        let apply = |tree: &mut Tree, session, change: &dyn Fn(&mut Transaction)| {
            let mut transaction = Transaction::new();
            change(&mut transaction);
            tree.commit(session, &transaction, 0).unwrap();
        };
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(seen(&tree), (None, names(&[])));
        apply(&mut tree, operator, &|change| {
            change.create("/job", "", CreateMode::Persistent);
        });
        apply(&mut tree, instance, &|change| {
            change.create("/job/config", "a", CreateMode::Ephemeral);
        });
        for _ in 0..2 {
            assert_eq!(seen(&tree), (Some("a".to_owned()), names(&["config"])));
        }
        apply(&mut tree, operator, &|change| {
            change.set("/job/config", "b", None);
            change.create("/job/servers", "", CreateMode::Persistent);
        });
        assert_eq!(seen(&tree), (Some("b".to_owned()), names(&["config", "servers"])));
        tree.close_session(instance);
        assert_eq!(seen(&tree), (None, names(&["servers"])));
    }
}
