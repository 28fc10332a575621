//! An instance that leaves removes all its nodes, except the marks of runs that could not be stopped: they stay as long
//! as the session, so that no instance begins the item beside them. With failover they wait for an instance that takes
//! the items over, as items do that were cut off.

use std::collections::BTreeSet;

use super::{Observation, Scene};
use crate::engine::OnceCalls;
use crate::fire::FireRecord;
use crate::ident::ShardingItem;
use crate::registry::SessionId;
use crate::registry::layout::{ItemNode, JobPath};

#[derive(Debug, Default)]
pub(super) struct LeftBehind {
    /// Items of which runs were left behind.
    abandoned: BTreeSet<ShardingItem>,
}

impl LeftBehind {
    pub(super) fn check(&mut self, scene: &Scene<'_>, observation: &Observation<'_>) -> Result<(), String> {
        match observation {
            Observation::Left { host, session, abandoned } => {
                self.abandoned.extend(abandoned.iter());
                let Some(session) = session.filter(|_| scene.calm) else { return Ok(()) };
                let is_of_abandoned = |path: &str| match JobPath::parse(scene.job, path) {
                    Some(JobPath::Item(item, ItemNode::Running | ItemNode::Failover)) => abandoned.contains(&item),
                    Some(JobPath::Session(_)) => !abandoned.is_empty(),
                    _ => false,
                };
                let mine = |path: &str| {
                    let node = scene.tree.get(path).ok().flatten();
                    let is_of_job = JobPath::parse(scene.job, path).is_some();
                    let is_mine = node.is_some_and(|node| node.stat.ephemeral_owner == Some(session));
                    is_of_job && is_mine && !is_of_abandoned(path)
                };
                match scene.tree.paths().into_iter().find(|path| mine(path)) {
                    Some(path) => Err(format!("host {host} left, and {path} is still there")),
                    None => Ok(()),
                }
            }
            Observation::CleanedUp { host, session, busy } => check_cleaned(scene, *host, *session, busy),
            Observation::AllLeft => self.check_tree(scene),
            _ => Ok(()),
        }
    }

    fn check_tree(&self, scene: &Scene<'_>) -> Result<(), String> {
        if let Some(host) = scene.hosts.iter().position(|host| host.process.is_some()) {
            return Err(format!("host {host} was asked to leave and did not"));
        }
        for (what, parent) in
            [("instance", JobPath::Instances), ("trigger", JobPath::Triggers), ("session", JobPath::Sessions)]
        {
            // Java makes triggers for instances that leave at that moment, and its leaders do not sweep.
            if let Some(id) = scene.children(&parent).first()
                && !(scene.is_mixed() && parent == JobPath::Triggers)
            {
                return Err(format!("{what} {id} is still there"));
            }
        }
        let items = scene.children(&JobPath::Sharding);
        let mut items = items.iter().filter_map(|item| item.parse().ok());
        let is_left = |item: &ShardingItem| {
            let mark = scene.text(&JobPath::running(*item));
            let marked = mark.is_some_and(|id| !scene.java_ids.contains(&id));
            marked && !(scene.shape.failover && self.abandoned.contains(item))
        };
        match items.find(is_left) {
            Some(item) => Err(format!("the mark of item {item} is still there")),
            None => Ok(()),
        }
    }
}

/// A session that goes on without its engine owns nothing in the job but the marks of code that goes on.
fn check_cleaned(
    scene: &Scene<'_>,
    host: usize,
    session: SessionId,
    busy: &BTreeSet<ShardingItem>,
) -> Result<(), String> {
    let is_busy = |path: &str| match JobPath::parse(scene.job, path) {
        Some(JobPath::Item(item, ItemNode::Running | ItemNode::Failover)) => busy.contains(&item),
        Some(JobPath::Session(_)) => !busy.is_empty(),
        _ => false,
    };
    let is_left = |path: &str| {
        let node = scene.tree.get(path).ok().flatten();
        let is_of_job = JobPath::parse(scene.job, path).is_some();
        is_of_job && node.is_some_and(|node| node.stat.ephemeral_owner == Some(session)) && !is_busy(path)
    };
    if let Some(path) = scene.tree.paths().into_iter().find(|path| is_left(path)) {
        return Err(format!("the engine of host {host} is gone, and {path} is still there"));
    }
    let calls = scene.text(&JobPath::Rounds).unwrap_or_default();
    if OnceCalls::parse(calls.as_bytes()).is_calling(session) {
        return Err(format!("the engine of host {host} is gone, and others wait for a call that it made"));
    }
    let items = scene.children(&JobPath::Sharding);
    for item in items.iter().filter_map(|item| item.parse().ok()).filter(|item| !busy.contains(item)) {
        let record = scene.text(&JobPath::fire(item)).unwrap_or_default();
        let Some(begun) = FireRecord::parse(record.as_bytes()).last else { continue };
        // A leader that drops a trigger writes so in the name of the instance, which may be one of Java that marks the item later.
        let is_its = |id: &String| *id == begun.instance.as_str() && !scene.java_ids.contains(id);
        let is_marked = scene.text(&JobPath::running(item)).is_some_and(|id| is_its(&id));
        if begun.attempt.is_of(session) && is_marked {
            return Err(format!("the engine of host {host} is gone, and the mark of item {item} is still there"));
        }
    }
    Ok(())
}
