//! Reports the fires that do not run here, and remembers of which items that was said.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::engine::JobEngine;
use super::notice::Notice;
use super::own_fires::OwnFires;
use super::planted::Bug;
use super::state::open_fire::OpenFire;
use crate::fire::{Fire, Skip, SkipReason};
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::mirror::Unread;

impl JobEngine {
    /// Reports what is not run here, and why.
    pub(super) fn tell_skip(&mut self, fire: Fire, items: Vec<ShardingItem>, reason: SkipReason) {
        self.note_skip(fire, &items);
        self.fires.last_skip = Some(Arc::new(Skip { fire, items: items.clone(), reason: reason.clone() }));
        self.tell(Notice::Skipped { fire, items, reason });
    }

    /// Reports that a fire is not run here, and counts it.
    pub(super) fn skip_fire(&mut self, fire: Fire, reason: SkipReason) {
        self.tell_skip(fire, vec![], reason);
        if let Fire::Scheduled(_) = fire {
            self.fires.over += 1;
        }
    }

    /// Reports that a fire is not run here, and counts it; where some of its items were begun, that the others are not.
    pub(super) fn skip_rest(&mut self, open: &OpenFire, reason: SkipReason) {
        match self.not_begun(open) {
            Some(items) if items.is_empty() => self.skip_fire(open.key.fire, reason),
            Some(items) => self.tell_skip(open.key.fire, items, reason),
            None => {}
        }
    }

    /// The items of an open fire that were not begun with its others; none where no item was begun. `None` where all of
    /// them were begun or decided against.
    pub(super) fn not_begun(&self, open: &OpenFire) -> Option<Vec<ShardingItem>> {
        if open.begun.is_empty() {
            return Some(Vec::new());
        }
        let is_left = |item: &ShardingItem| !open.begun.contains(item) && !open.dropped.contains(item);
        let left: Vec<ShardingItem> = self.fires.own_items_seen.iter().copied().filter(is_left).collect();
        Some(left).filter(|left| !left.is_empty())
    }

    /// Remembers what is said of items of a scheduled fire that do not run; none are all that this instance owns.
    pub(super) fn note_skip(&mut self, fire: Fire, items: &[ShardingItem]) {
        let Fire::Scheduled(at) = fire else { return };
        let Some(fires) = self.own_fires() else { return };
        let owned = &self.fires.own_items_seen;
        let reported = &mut self.fires.reported;
        match (&fires, items) {
            (OwnFires::Scheduled(_), []) => reported.note_whole(owned, at, |last| fires.next_after(0, last)),
            _ => {
                let items = if items.is_empty() { owned } else { items };
                items.iter().for_each(|item| reported.note(*item, at, |last| fires.next_after(*item, last)));
            }
        }
    }

    /// The leader reports for the whole group which items of a fire are not run, because static sharding leaves them to
    /// an instance that is gone. It reports each of them once, also when the instance goes while the fire is due: then
    /// those that the instance had not begun.
    pub(super) fn tell_items_of_the_gone(&mut self) {
        if self.leadership.term.is_none() || self.planted.has(Bug::SilentGone) {
            return;
        }
        let Some(open) = self.fires.open.as_deref() else { return };
        let (fire, monitored) = (open.key.fire, self.configuration.is_monitored());
        let mut gone: BTreeMap<InstanceId, Vec<ShardingItem>> = BTreeMap::new();
        for item in self.mirror.items() {
            if let Some(owner) = self.gone_owner(item)
                && !open.of_the_gone.contains(&item)
                && (!monitored || self.record_of(item).is_ok_and(|record| !record.covers(fire)))
            {
                gone.entry(owner).or_default().push(item);
            }
        }
        if let Some(open) = &mut self.fires.open {
            open.of_the_gone.extend(gone.values().flatten());
        }
        for (owner, items) in gone {
            self.tell_skip(fire, items, SkipReason::OwnerGone { owner });
        }
    }

    /// Reports the items that were to run for a manual trigger, and that were neither begun nor decided against, as they are another
    /// instance's by now: the trigger was taken with the first begin, whose answer was lost.
    pub(super) fn tell_moved_away(&mut self) {
        let Some(open) = self.fires.open.as_deref_mut() else { return };
        let tried = std::mem::take(&mut open.tried);
        let is_decided = |item: &ShardingItem| open.begun.contains(item) || open.dropped.contains(item);
        let away = tried.into_iter().filter(|item| !is_decided(item)).collect();
        self.tell_left_out(away);
    }

    /// Reports the items that have no owner when this instance takes its manual trigger, although it has waited for the
    /// assignment: an instance that had such an item may not run it for the trigger, and no other instance knows. Before the trigger
    /// is taken, and each of them once, unless a scheduled fire comes before the trigger is taken.
    pub(super) fn tell_items_without_owner(&mut self, total: u32) -> Result<(), Unread> {
        let is_first = |open: &&OpenFire| matches!(open.key.fire, Fire::Manual { .. }) && !open.looked;
        let Some(fire) = self.fires.open.as_deref().filter(is_first).map(|open| open.key.fire) else { return Ok(()) };
        let mut items = self.items_without_owner(fire, total)?;
        if let Some(open) = &mut self.fires.open {
            items.retain(|item| open.unowned.insert(*item));
        }
        self.tell_left_out(items);
        Ok(())
    }
}
