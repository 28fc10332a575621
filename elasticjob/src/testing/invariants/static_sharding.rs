//! With static sharding an item that has an owner keeps it, whichever instances come and go, until the total count changes.

use std::collections::{BTreeMap, BTreeSet};

use super::{Observation, Scene};
use crate::ident::ShardingItem;
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::{Op, Transaction};
use crate::testing::sim::{EPOCH, Millis};

/// How long the leader may take to see another total count, in milliseconds.
const SEEN_WITHIN: Millis = 25_000;

#[derive(Debug, Default)]
pub(super) struct Kept {
    owners: BTreeMap<ShardingItem, String>,
    /// How many items there are.
    items: usize,
    /// The items whose owner is not online, from that time on in milliseconds since 1970.
    gone: BTreeMap<i64, BTreeSet<ShardingItem>>,
    changed_at: Millis,
    /// Not every item was assigned for the last total count, or some ran meanwhile and were left where they were.
    open: bool,
}

impl Kept {
    /// Another total count.
    pub(super) fn total_changed(&mut self, now: Millis) {
        (self.changed_at, self.open) = (now, true);
    }

    /// Whether the owner of an item was gone at some time in this stretch, in milliseconds since 1970.
    pub(super) fn was_gone(&self, item: ShardingItem, from: i64, until: i64) -> bool {
        let before = self.gone.range(..from).next_back();
        before.into_iter().chain(self.gone.range(from..=until)).any(|(_, items)| items.contains(&item))
    }

    pub(super) fn check(&mut self, scene: &Scene<'_>, observation: &Observation<'_>) -> Result<(), String> {
        if !scene.shape.static_sharding {
            return Ok(());
        }
        let owners: BTreeMap<ShardingItem, String> = (0..scene.total)
            .filter_map(|item| Some((item, scene.text(&JobPath::Item(item, ItemNode::Instance))?)))
            .collect();
        let online: BTreeSet<String> = scene.children(&JobPath::Instances).iter().cloned().collect();
        let gone = owners.iter().filter(|(_, owner)| !online.contains(*owner)).map(|(item, _)| *item).collect();
        if self.gone.last_key_value().is_none_or(|(_, before)| *before != gone) {
            self.gone.insert(EPOCH + scene.now as i64, gone);
        }
        // A Java leader that serves a request deletes all owners before it assigns the items, and serves also late ones.
        if scene.is_mixed() {
            return Ok(());
        }
        let before = std::mem::replace(&mut self.owners, owners);
        let Observation::Committed { host: Some(host), transaction, .. } = observation else { return Ok(()) };
        let is_last = takes_request_back(scene, transaction);
        if !is_last && !assigns_items(scene, transaction) {
            return Ok(());
        }
        let items = scene.children(&JobPath::Sharding);
        // A new leader may have missed a total count that cannot be read any more, and follow an earlier one.
        if std::mem::replace(&mut self.items, items.len()) != items.len() {
            self.total_changed(scene.now);
        }
        let moved = before.iter().find(|(item, owner)| self.owners.get(item).is_some_and(|now| now != *owner));
        // One that was left where it ran may have gone on without a break until now.
        let may_move = self.open || (!scene.calm && scene.now - self.changed_at < SEEN_WITHIN);
        if let Some((item, owner)) = moved
            && !may_move
        {
            return Err(format!("host {host} takes item {item} away from {owner}, and nobody changed the total count"));
        }
        let runs = |item: &String| {
            item.parse().is_ok_and(|item| scene.text(&JobPath::Item(item, ItemNode::Running)).is_some())
        };
        if is_last && items.len() == scene.total as usize && !items.iter().any(runs) {
            self.open = false;
        }
        Ok(())
    }
}

/// Whether it is the last transaction of a resharding.
fn takes_request_back(scene: &Scene<'_>, transaction: &Transaction) -> bool {
    let is_deletion =
        |op: &Op| matches!(op, Op::Delete { .. }) && JobPath::parse(scene.job, op.path()) == Some(JobPath::Necessary);
    transaction.ops().iter().any(is_deletion)
}

fn assigns_items(scene: &Scene<'_>, transaction: &Transaction) -> bool {
    let is_owner = |op: &Op| matches!(JobPath::parse(scene.job, op.path()), Some(JobPath::Item(_, ItemNode::Instance)));
    transaction.ops().iter().any(is_owner)
}
