//! The items that a fire of a job after others is released for, and since when. For a job with a schedule each fire is released at
//! its time.

use super::dependencies::{DependencyRecord, Release};
use super::engine::JobEngine;
use super::planted::Bug;
use super::state::membership::Phase;
use crate::config::{DependencyItems, JobConfiguration};
use crate::fire::{Fire, RunKey};
use crate::ident::ShardingItem;
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::mirror::{Known, Unread};

impl JobEngine {
    /// Whether items of the job follow items with the same number.
    pub(super) fn follows_items(&self) -> bool {
        self.configuration.in_force.as_deref().is_some_and(has_items) || self.dependencies.items.is_some()
    }

    /// Whether an item may begin for a fire.
    pub(super) fn release(&self, fire: Fire, item: ShardingItem) -> Release {
        match fire {
            Fire::Scheduled(at) if self.follows_items() => self.dependencies.release(at, item),
            Fire::Scheduled(_) | Fire::Manual { .. } => Release::Since(self.due_time(fire.at())),
        }
    }

    /// The time from which on a fire counts as late: its scheduled time, or for a job that depends on others the time at
    /// which these had ended.
    pub(super) fn due_time(&self, at: i64) -> i64 {
        self.dependencies.due_since(at)
    }

    /// The time from which on a fire counts as late for an item.
    pub(super) fn due_time_of(&self, at: i64, item: ShardingItem) -> i64 {
        match self.release(Fire::Scheduled(at), item) {
            Release::Since(since) => since,
            Release::Held | Release::Skipped(_) | Release::NotPart => self.due_time(at),
        }
    }

    /// Whether items of this instance are yet to be released for the fire of a run. One that an operator disabled does not run
    /// for it.
    pub(super) fn holds_own_items(&self, key: RunKey) -> bool {
        let is_meant = !key.is_takeover() && self.phase == Phase::Active && self.follows_items();
        // Of an item that has moved away since, a large group is not heard.
        let is_disabled = |item| {
            let path = JobPath::Item(item, ItemNode::Disabled);
            self.mirror.hears(&path) && self.mirror.exists(&path)
        };
        let mut own = self.fires.own_items_seen.iter();
        is_meant && own.any(|item| self.release(key.fire, *item) == Release::Held && !is_disabled(*item))
    }

    /// Whether the registry says of an item that nothing more is to come of it for the fire at this time, at least before the
    /// run that it is in has ended.
    pub(super) fn has_taken(
        &self,
        configuration: &JobConfiguration,
        at: i64,
        item: ShardingItem,
    ) -> Result<bool, Unread> {
        let record = self.record_of(item)?;
        let exists = |node| self.mirror.exists(&JobPath::Item(item, node));
        let is_skipped_for_run = exists(ItemNode::Running) && !configuration.misfire();
        Ok(record.covers(Fire::Scheduled(at))
            || record.missed >= Some(at)
            || exists(ItemNode::Disabled)
            || self.gone_owner(item).is_some()
            || is_skipped_for_run)
    }

    /// What counts of the record in the node `dependencies`.
    pub(super) fn read_decided(&self, known: &Known) -> Option<DependencyRecord> {
        let record = known.parsed(DependencyRecord::parse).as_ref().clone()?;
        // The answer to a create has no server time.
        let is_told = known.mtime > 0 && !self.planted.has(Bug::TrustedRecord);
        Some(match self.clock_tolerance().filter(|_| is_told) {
            Some(tolerance) => record.counted(known.mtime, tolerance),
            None => record,
        })
    }
}

/// Whether items of the job follow items with the same number.
pub(super) fn has_items(configuration: &JobConfiguration) -> bool {
    configuration.depends_on().iter().any(|dependency| dependency.items == DependencyItems::Same)
}
