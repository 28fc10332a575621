//! At most one live process runs an item at any time.
//!
//! Two things are left to the fence: what a process does while it is frozen past its session (for what it does when it
//! goes on, see `dropped.rs`), and a run that cannot be dropped after its token was fired, once the session that it
//! began in is over. Without monitoring it is not promised, neither for the run that begins nor for one that goes on.
//!
//! Beside Java instances it holds among ours. They delete and replace marks without looking whose they are (findings 7,
//! 9, 24 and 26, and the end of monitoring), which costs a run its only mark when it began with failover off: then no
//! instance can tell that it goes on. What Java itself starts is on the level of Java.

use std::collections::BTreeSet;

use super::{Observation, Scene};
use crate::ident::ShardingItem;
use crate::registry::Op;
use crate::registry::layout::{ItemNode, JobPath};
use crate::testing::sim::{Host, Program};

#[derive(Debug, Default)]
pub(super) struct OneOwner {
    /// Runs whose only marks a Java instance took away.
    unmarked: BTreeSet<(usize, ShardingItem)>,
}

impl OneOwner {
    pub(super) fn check(&mut self, scene: &Scene<'_>, observation: &Observation<'_>) -> Result<(), String> {
        match observation {
            Observation::Committing { host: Some(host), transaction, .. } if scene.is_java(*host) => {
                for op in transaction.ops() {
                    if let (Op::Delete { .. } | Op::Set { .. }, Some(JobPath::Item(item, ItemNode::Running))) =
                        (op, JobPath::parse(scene.job, op.path()))
                    {
                        self.unmarked.extend(runner(scene, item).map(|runner| (runner, item)));
                    }
                    // With an item its record goes, and what comes back is a new item.
                    if let (Op::Delete { .. }, Some(JobPath::Item(item, ItemNode::Fire))) =
                        (op, JobPath::parse(scene.job, op.path()))
                    {
                        let running =
                            |host: &Host| host.process.as_ref().is_some_and(|run| run.executions.contains_key(&item));
                        let runners = scene.hosts.iter().enumerate().filter(|(_, host)| running(host));
                        self.unmarked.extend(runners.map(|(runner, _)| (runner, item)));
                    }
                }
                Ok(())
            }
            // A mark may be taken away before what it marks is started.
            Observation::Committing { host: Some(host), transaction, .. } => {
                for op in transaction.ops() {
                    if let (Op::Create { .. }, Some(JobPath::Item(item, ItemNode::Running))) =
                        (op, JobPath::parse(scene.job, op.path()))
                    {
                        self.unmarked.remove(&(*host, item));
                    }
                }
                Ok(())
            }
            Observation::Started { host, item, fire, token: Some(_), .. } if !scene.is_java(*host) => {
                match self.other_runner(scene, *host, *item) {
                    Some(other) => Err(format!("host {host} starts item {item} of {fire} while host {other} runs it")),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    fn other_runner(&self, scene: &Scene<'_>, host: usize, item: ShardingItem) -> Option<usize> {
        scene.hosts.iter().enumerate().find_map(|(other, found)| {
            let process = found.process.as_ref()?;
            let execution = process.executions.get(&item)?;
            // Its mark stands as long as the session it began in, whichever engine coordinates the job there.
            let marked = execution.session.is_some_and(|session| scene.tree.session_timeout(session).is_some());
            let unstoppable = execution.blocking && execution.cancelled && !marked;
            let fenced = process.is_frozen() || execution.aborted || unstoppable;
            let excused = fenced || found.java || execution.token.is_none() || self.unmarked.contains(&(other, item));
            (other != host && !excused).then_some(other)
        })
    }
}

/// The host of ours whose mark an item has, when nothing else tells of the run.
fn runner(scene: &Scene<'_>, item: ShardingItem) -> Option<usize> {
    let id = scene.text(&JobPath::running(item))?;
    let host = scene.hosts.iter().position(|host| match host.process.as_ref().map(|process| &process.program) {
        Some(Program::Engine(engine)) => engine.instance().as_str() == id,
        Some(Program::Fallen(fallen)) => fallen.instance().as_str() == id,
        _ => false,
    })?;
    let process = scene.hosts[host].process.as_ref()?;
    // The session that its record names, which may be over while its code goes on.
    let session = process.executions.get(&item).and_then(|execution| execution.session).or(process.session)?;
    scene.text(&JobPath::Session(session)).is_none().then_some(host)
}
