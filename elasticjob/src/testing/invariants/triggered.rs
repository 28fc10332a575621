//! A manual trigger that is queued makes every item run, or somebody says why not. Looked at in the calm.

use super::{Observation, Scene};
use crate::engine::{Fire, Notice, TriggerAnswer};
use crate::ident::ShardingItem;
use crate::registry::path::JobPath;
use crate::testing::sim::EPOCH;

/// How long before its answer a trigger may be acted on, in milliseconds.
const EARLIER: i64 = 100;

/// How long it takes until every instance has heard that failover is on, in milliseconds.
const SWITCHED: u64 = 60_000;

#[derive(Debug, Default)]
pub(super) struct Triggered {
    queued: Vec<i64>,
    /// When manual fires were acted on, with the item that was begun or decided against, all when there is none. One
    /// that waited already serves a later trigger too.
    looked_at: Vec<(i64, Option<ShardingItem>)>,
    /// When failover was off last, in the time of the simulation.
    off_at: u64,
}

impl Triggered {
    pub(super) fn check(&mut self, scene: &Scene<'_>, observation: &Observation<'_>) -> Result<(), String> {
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
            // Who leaves with a trigger says so.
            Observation::Notice { notice: Notice::TriggerDropped { .. }, .. } => self.looked_at.push((now, None)),
            Observation::Calm { until, .. } => return self.settle(scene, *until),
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

/// Whether the owner of an item is online and one of ours: Java drops a trigger that comes during a run.
fn has_live_owner(scene: &Scene<'_>, item: ShardingItem) -> bool {
    let owner = scene.text(&JobPath::owner_of(item)).filter(|owner| !scene.java_ids.contains(owner));
    owner.is_some_and(|owner| scene.children(&JobPath::Instances).contains(&owner))
}
