//! An instance that leaves takes all its traces along, but the marks of runs that could not be stopped: they stay as
//! long as the session, so that nobody begins the item beside them.

use super::{Observation, Scene};
use crate::ident::ShardingItem;
use crate::registry::path::{ItemNode, JobPath};

pub(super) fn check(scene: &Scene<'_>, observation: &Observation<'_>) -> Result<(), String> {
    match observation {
        Observation::Left { host, session: Some(session), abandoned } if scene.calm => {
            let is_of_abandoned = |path: &str| match JobPath::parse(scene.job, path) {
                Some(JobPath::Item(item, ItemNode::Running)) => abandoned.contains(&item),
                _ => false,
            };
            let mine = |path: &str| {
                let node = scene.tree.get(path).ok().flatten();
                node.is_some_and(|node| node.stat.ephemeral_owner == Some(*session)) && !is_of_abandoned(path)
            };
            match scene.tree.paths().find(|path| mine(path)) {
                Some(path) => Err(format!("host {host} left, and {path} is still there")),
                None => Ok(()),
            }
        }
        Observation::AllLeft => {
            if let Some(host) = scene.hosts.iter().position(|host| host.process.is_some()) {
                return Err(format!("host {host} was asked to leave and did not"));
            }
            if let Some(id) = scene.children(&JobPath::Instances).first() {
                return Err(format!("instance {id} is still there"));
            }
            // Java makes triggers for instances that leave at that moment, and its leaders do not sweep.
            if let Some(id) = scene.children(&JobPath::Triggers).first().filter(|_| !scene.is_mixed()) {
                return Err(format!("trigger {id} is still there"));
            }
            let items = scene.children(&JobPath::Sharding);
            let mut items = items.iter().filter_map(|item| item.parse().ok());
            let mark = |item: ShardingItem| scene.text(&JobPath::running(item));
            match items.find(|item| mark(*item).as_ref().is_some_and(|id| !scene.java_ids.contains(id))) {
                Some(item) => Err(format!("the mark of item {item} is still there")),
                None => Ok(()),
            }
        }
        _ => Ok(()),
    }
}
