//! A run that was cut off and waits to be taken over goes first: no other fire of its item begins, and its request for a
//! takeover stays, until an instance has taken it over.

use std::collections::BTreeSet;

use super::duty::engine_of;
use super::{Observation, Scene};
use crate::engine::JobEngine;
use crate::fire::{Begun, ExecutionSource, FireRecord, FireState};
use crate::ident::ShardingItem;
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::{Op, Transaction};
use crate::testing::sim::Millis;

/// How long instances may go by failover as it was before it was switched.
const SWITCHED: Millis = 20_000;

#[derive(Debug, Default)]
pub(super) struct TakeoverFirst {
    /// The items with a run that was cut off and waits.
    waiting: BTreeSet<ShardingItem>,
    /// Whether failover is on, and since when that is so.
    failover: Option<(bool, Millis)>,
}

impl TakeoverFirst {
    /// An instance that is gone began the item by a clock far ahead, over the record of the run that was cut off.
    pub(super) fn begun_ahead(&mut self, item: ShardingItem) {
        self.waiting.remove(&item);
    }

    pub(super) fn check(&mut self, scene: &Scene<'_>, observation: &Observation<'_>) -> Result<(), String> {
        let is_on = scene.shape.failover && scene.shape.monitored;
        let (_, since) = *self.failover.insert(match self.failover {
            Some((before, since)) if before == is_on => (is_on, since),
            _ => (is_on, scene.now),
        });
        let Observation::Committed { host, transaction, .. } = observation else { return Ok(()) };
        let is_ours = host.is_some_and(|host| !scene.is_java(host));
        let engine = host.and_then(|host| scene.hosts[host].process.as_ref()).and_then(engine_of);
        // It never heard that failover was switched on, or cannot use the configuration that says so.
        let is_without = engine.and_then(JobEngine::configuration).is_some_and(|known| !known.failover());
        for op in transaction.ops() {
            let item = match JobPath::parse(scene.job, op.path()) {
                Some(JobPath::FailoverItem(item)) => item,
                // There are fewer items now: one that is made anew has no run that waits.
                Some(JobPath::Item(item, ItemNode::Dir)) if matches!(op, Op::Delete { .. }) => {
                    self.waiting.remove(&item);
                    continue;
                }
                Some(JobPath::Item(item, ItemNode::Fire)) if is_without => {
                    let begins = |last: &Begun| last.state == FireState::Running;
                    if last_begun(scene, transaction, item).as_ref().is_some_and(begins) {
                        self.waiting.remove(&item);
                    }
                    continue;
                }
                _ => continue,
            };
            let last = last_begun(scene, transaction, item);
            match op {
                Op::Create { .. } if is_ours && last.as_ref().is_some_and(|last| last.state.is_unfinished()) => {
                    self.waiting.insert(item);
                }
                Op::Delete { .. } if self.waiting.remove(&item) && is_ours => {
                    // What an operator cancelled is over.
                    let is_taken = last
                        .as_ref()
                        .is_some_and(|last| last.source == ExecutionSource::Failover || last.cancel.is_some());
                    let is_excused = !is_on || scene.now < since + SWITCHED || item >= scene.total;
                    if !is_taken && !is_excused {
                        return Err(format!("item {item} waited for a takeover, which is given up for {last:?}"));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// The run of an item that a transaction writes into its record.
fn last_begun(scene: &Scene<'_>, transaction: &Transaction, item: ShardingItem) -> Option<Begun> {
    let record = JobPath::fire(item).absolute(scene.job);
    transaction.ops().iter().find_map(|op| match op {
        Op::Set { path, data, .. } if *path == record => FireRecord::parse(data).last,
        _ => None,
    })
}
