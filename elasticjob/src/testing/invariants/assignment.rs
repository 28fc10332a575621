//! The leader assigns every item, and only to instances that there are or were. After the faults every item belongs to
//! a live instance (but with static sharding), and there are as many items as configured.

use std::collections::BTreeSet;

use super::duty::engine_of;
use super::{Observation, Scene};
use crate::engine::Notice;
use crate::ident::ShardingItem;
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::{NodeData, Op};
use crate::sharding::SINGLE_SHARDING_BALANCE;
use crate::testing::sim::{EPOCH, HAYWIRE};

/// How long the leader may take to serve a request for resharding, in milliseconds: some transactions on a slow network.
const SERVED_WITHIN: i64 = 3_000;

#[derive(Debug, Default)]
pub(super) struct Assignment {
    registered: BTreeSet<String>,
    /// Items whose owners a Java instance deleted: it does so before it assigns them, also when it is no leader any more.
    wiped: BTreeSet<ShardingItem>,
}

impl Assignment {
    pub(super) fn check(&mut self, scene: &Scene<'_>, observation: &Observation<'_>) -> Result<(), String> {
        match observation {
            Observation::Committed { host: Some(host), transaction, .. } => {
                // The mark of an instance is made in the transaction that registers it.
                for op in transaction.ops() {
                    if let Some(JobPath::Item(item, ItemNode::Instance)) = JobPath::parse(scene.job, op.path()) {
                        match op {
                            Op::Delete { .. } if scene.is_java(*host) => self.wiped.insert(item),
                            _ => self.wiped.remove(&item),
                        };
                    }
                }
                for op in transaction.ops() {
                    match (op, JobPath::parse(scene.job, op.path())) {
                        (Op::Create { .. }, Some(JobPath::Instance(id))) => {
                            self.registered.insert(id.to_string());
                        }
                        // What no watch reported is found when the leader reconciles. A Java leader assigns to the instances it
                        // listed before it waited (finding 1).
                        (Op::Delete { .. }, Some(JobPath::Necessary))
                            if !scene.shape.unheard && !scene.is_java(*host) =>
                        {
                            // It may not have heard of the last total count.
                            let engine = scene.hosts[*host].process.as_ref().and_then(engine_of);
                            let total = engine.and_then(|engine| Some(engine.configuration()?.sharding_total_count()));
                            return self.all_owned(scene, None, total.unwrap_or(scene.total));
                        }
                        _ => {}
                    }
                }
                Ok(())
            }
            Observation::Notice { notice: Notice::Registered { instance, .. }, .. } => {
                self.registered.insert(instance.to_string());
                Ok(())
            }
            Observation::Converged if scene.hosts.iter().any(|host| host.process.is_some()) => {
                let live = scene.children(&JobPath::Instances).iter().cloned().collect();
                // Static sharding leaves items to owners that are gone.
                self.all_owned(scene, Some(&live).filter(|_| !scene.shape.static_sharding), scene.total)?;
                for host in scene.hosts.iter().filter(|host| host.process.is_some() && !host.java) {
                    let server = JobPath::Server(host.ip.as_str().into());
                    if scene.text(&server).is_none() {
                        return Err(format!("{server} is gone, and its instance runs nothing any more"));
                    }
                }
                let items = scene.children(&JobPath::Sharding).len();
                let leader = scene.text(&JobPath::LeaderInstance);
                // A Java leader takes items away by their count, so one that was marked too late stays (finding 9).
                let by_java = leader.is_some_and(|leader| scene.java_ids.contains(&leader));
                // They are made with the first fire. After a loss of the data none may have come since there is a leader.
                let came = EPOCH + scene.now as i64 - 1_000 * i64::from(scene.period);
                let is_before_first = || scene.node(&JobPath::LeaderInstance).is_some_and(|it| it.stat.ctime > came);
                if items != scene.total as usize && !by_java && !(items == 0 && is_before_first()) {
                    return Err(format!("there are {items} items, and {} are configured", scene.total));
                }
                // Strategies that let the items move on ask for it after each fire.
                let is_being_served = |asked: NodeData| asked.stat.ctime + SERVED_WITHIN > EPOCH + scene.now as i64;
                if scene.node(&JobPath::Necessary).is_some_and(|asked| !is_being_served(asked)) {
                    return Err("a request for resharding is left".to_owned());
                }
                none_left_out(scene)
            }
            _ => Ok(()),
        }
    }

    /// Looks at all items of a leader that goes by this total count.
    fn all_owned(&self, scene: &Scene<'_>, live: Option<&BTreeSet<String>>, total: u32) -> Result<(), String> {
        for item in scene.children(&JobPath::Sharding).iter() {
            let Ok(number) = item.parse() else { return Err(format!("{item} is not an item")) };
            // Java marks what it runs without looking whether the item is still there.
            if scene.is_mixed() && number >= scene.total.min(total) {
                continue;
            }
            match scene.text(&JobPath::Item(number, ItemNode::Instance)) {
                None if live.is_none() && self.wiped.contains(&number) => {}
                None => return Err(format!("item {item} has no owner")),
                Some(owner) if !live.unwrap_or(&self.registered).contains(&owner) => {
                    return Err(format!("item {item} belongs to {owner}, which is not there"));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }
}

/// No instance of ours is without items where there is one for each, also when a Java leader lost the request that came
/// with it (finding 1).
fn none_left_out(scene: &Scene<'_>) -> Result<(), String> {
    let instances = scene.children(&JobPath::Instances);
    let strategy = scene.shape.strategy;
    let has_one_each =
        instances.len() <= scene.total as usize && ![SINGLE_SHARDING_BALANCE, HAYWIRE].contains(&strategy);
    if !has_one_each || scene.shape.static_sharding {
        return Ok(());
    }
    let owners: BTreeSet<String> = (0..scene.total).filter_map(|item| scene.text(&JobPath::owner_of(item))).collect();
    match instances.iter().find(|id| !owners.contains(*id) && !scene.java_ids.contains(*id)) {
        Some(id) => Err(format!("{id} is without items, although there are {} of them", scene.total)),
        None => Ok(()),
    }
}
