//! A manual trigger that is queued makes every item run, or an instance says why not. Looked at in the calm.
//!
//! While there are faults, an instance that has a trigger acts on it, or says why not, unless it dies or loses its session
//! before.

use std::collections::BTreeMap;

use super::{Observation, Scene};
use crate::engine::{Notice, TriggerAnswer};
use crate::fire::{Fire, RunKey};
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::Op;
use crate::registry::layout::JobPath;
use crate::testing::sim::{EPOCH, Millis};

/// How long before its answer a trigger may be acted on, in milliseconds.
const EARLIER: i64 = 100;

/// How long it takes until every instance has heard that failover is on, in milliseconds.
const SWITCHED: Millis = 60_000;

#[derive(Debug, Default)]
pub(super) struct Triggered {
    queued: Vec<i64>,
    /// When manual fires were acted on, with the item that was begun or decided against, all when there is none. One
    /// that waited already serves a later trigger too.
    looked_at: Vec<(i64, Option<ShardingItem>)>,
    /// Instances that have a trigger which they have not acted on, and since when.
    waiting: BTreeMap<InstanceId, Millis>,
    /// When failover was off last.
    off_at: Millis,
}

impl Triggered {
    pub(super) fn check(&mut self, scene: &Scene<'_>, observation: &Observation<'_>) -> Result<(), String> {
        if !scene.is_mixed() {
            self.look_at_waiting(scene, observation)?;
        }
        if !scene.shape.failover || !scene.shape.monitored {
            self.off_at = scene.now;
        }
        if let Observation::Notice { notice: Notice::TriggerDropped { instance, items }, .. } = observation
            && !items.is_empty()
            && scene.now > self.off_at + SWITCHED
            && !scene.is_mixed()
        {
            return Err(format!("items {items:?} of {instance}, which is gone, are not run for a trigger"));
        }
        if !scene.calm {
            return Ok(());
        }
        let now = EPOCH + scene.now as i64;
        match observation {
            Observation::Triggered { answer: TriggerAnswer::Queued } => self.queued.push(now),
            Observation::Started { item, fire: Fire::Manual { .. }, .. } => self.looked_at.push((now, Some(*item))),
            Observation::Notice { notice: Notice::Skipped { fire: Fire::Manual { .. }, items, .. }, .. } => {
                self.looked_at.extend(items.iter().map(|item| (now, Some(*item))));
                if items.is_empty() {
                    self.looked_at.push((now, None));
                }
            }
            // An instance that leaves with a trigger says so, and knows of no items.
            Observation::Notice { notice: Notice::TriggerDropped { items, .. }, .. } if items.is_empty() => {
                self.looked_at.push((now, None))
            }
            Observation::Notice {
                notice: Notice::TriggerDropped { items, .. } | Notice::TriggerMerged { items, .. },
                ..
            } => self.looked_at.extend(items.iter().map(|item| (now, Some(*item)))),
            Observation::Calm { until, .. } => return self.settle(scene, *until),
            _ => {}
        }
        Ok(())
    }

    fn look_at_waiting(&mut self, scene: &Scene<'_>, observation: &Observation<'_>) -> Result<(), String> {
        match observation {
            Observation::Committed { transaction, host, .. } => {
                for op in transaction.ops() {
                    match (op, JobPath::parse(scene.job, op.path())) {
                        // Made and deleted in one it only guards.
                        (Op::Create { .. }, Some(path @ JobPath::Trigger(_))) if !scene.exists(&path) => {}
                        (Op::Create { .. }, Some(JobPath::Trigger(id))) => {
                            self.waiting.insert(id, scene.now);
                        }
                        // It has nothing to run.
                        (Op::Delete { .. }, Some(JobPath::Trigger(id)))
                            if host.and_then(|host| scene.instance(host)).as_ref() == Some(&id)
                                && !owned_items(scene, &id, self.waiting.get(&id).copied()) =>
                        {
                            self.waiting.remove(&id);
                        }
                        (Op::Create { .. }, Some(JobPath::Instance(id))) => {
                            self.waiting.remove(&id);
                        }
                        _ => {}
                    }
                }
            }
            Observation::SessionEnded { .. } => {
                self.waiting.retain(|id, _| scene.exists(&JobPath::Instance(id.clone())));
            }
            Observation::Started { host, fire: Fire::Manual { .. }, .. }
            | Observation::Notice {
                host,
                notice:
                    Notice::Begun { key: RunKey { fire: Fire::Manual { .. }, .. }, .. }
                    | Notice::NothingToRun { fire: Fire::Manual { .. } }
                    | Notice::Skipped { fire: Fire::Manual { .. }, .. },
            } => {
                if let Some(id) = scene.instance(*host) {
                    self.waiting.remove(&id);
                }
            }
            Observation::Notice {
                notice: Notice::TriggerDropped { instance, .. } | Notice::TriggerHandedOver { instance, .. },
                ..
            } => {
                self.waiting.remove(instance);
            }
            // It went with the engine that had it.
            Observation::CleanedUp { host, .. } => {
                if let Some(id) = scene.instance(*host) {
                    self.waiting.remove(&id);
                }
            }
            Observation::Converged => {
                let there = self.waiting.iter().find(|(id, _)| scene.exists(&JobPath::Instance((*id).clone())));
                if let Some((id, since)) = there {
                    return Err(format!(
                        "{id} was triggered at {since}, and has neither run anything nor said why not"
                    ));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn settle(&self, scene: &Scene<'_>, until: i64) -> Result<(), String> {
        // It waits for the run before.
        let due = until - 2 * scene.shape.longest_round() as i64 - 3_000;
        for queued in self.queued.iter().filter(|queued| **queued < due) {
            for item in (0..scene.total).filter(|item| has_live_owner(scene, *item)) {
                let is_meant = |of: &Option<ShardingItem>| of.is_none_or(|of| of == item);
                if !self.looked_at.iter().any(|(at, of)| *at >= queued - EARLIER && is_meant(of)) {
                    return Err(format!("item {item} was not run for the trigger queued at {queued}"));
                }
            }
        }
        Ok(())
    }
}

/// Whether an instance had items when it was triggered, and still has them. It may not have heard of later ones yet.
fn owned_items(scene: &Scene<'_>, id: &InstanceId, triggered_at: Option<Millis>) -> bool {
    let owned = |item: ShardingItem| {
        let owner = scene.node(&JobPath::owner_of(item));
        owner.is_some_and(|node| {
            let was_before = triggered_at.is_some_and(|at| node.stat.mtime <= EPOCH + at as i64);
            node.data.text() == Some(id.as_str()) && was_before
        })
    };
    (0..scene.total).any(owned)
}

/// Whether the owner of an item is online and one of ours: Java drops a trigger that comes during a run.
fn has_live_owner(scene: &Scene<'_>, item: ShardingItem) -> bool {
    let owner = scene.text(&JobPath::owner_of(item)).filter(|owner| !scene.java_ids.contains(owner));
    owner.is_some_and(|owner| scene.children(&JobPath::Instances).contains(&owner))
}
