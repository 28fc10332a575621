//! Accounts for every fire of a history when it is over, and counts what became of its items.

use super::super::Scene;
use super::super::duty::Cause;
use super::super::fates::Fate;
use super::super::static_sharding::Kept;
use super::Accounted;
use super::reasons::{is_accepted, is_good};
use crate::fire::SkipReason;
use crate::testing::sim::EPOCH;

/// How far a fault reaches, in milliseconds: the longest session time-out, then an election, a resharding and the wait
/// of a fire for it.
const REACH: i64 = 25_000;
/// The excuse of an item that only another instance than its owner skipped, with the whole fire.
const SKIPPED_BY_ANOTHER: &str = "skipped_by_another";
/// How long an instance may take to find its place after it has registered.
const JOINED: i64 = 5_000;
/// When the processes of a group have all started.
const STARTED: i64 = 10_000;

impl Accounted {
    /// Looks at every fire between the start and the end of the calm.
    pub(super) fn settle(&mut self, scene: &Scene<'_>, kept: &Kept) -> Result<(), String> {
        // With static sharding all owners may be gone before the first fire for good.
        if self.begun.is_empty() && !scene.shape.static_sharding {
            return Err("nothing ever fired".to_owned());
        }
        let last = self.until - 2_000;
        let mut at = EPOCH + STARTED;
        while at <= last {
            let (period, total) = self.schedules.range(..=at).next_back().map_or((1_000, 1), |(_, schedule)| *schedule);
            // Periods divide a minute, so fires are at their multiples.
            if at % period != 0 {
                at += period - at % period;
                continue;
            }
            self.count(scene, at, total);
            self.account(scene, at, kept)?;
            at += period;
        }
        Ok(())
    }

    /// Counts the items of a fire that were not begun, without a good reason, and that an excuse kept from being demanded.
    fn count(&mut self, scene: &Scene<'_>, at: i64, total: u32) {
        let is_calm = at >= self.calm_from;
        let is_disturbed = self.incidents.range(at - REACH..at + REACH).next().is_some();
        for item in 0..total {
            let mut said = self.skipped.get(&at).into_iter().flatten();
            let whole = self.left_as_a_whole.get(&at);
            let is_said = whole.is_some_and(|items| items.contains(&item))
                || said.any(|(items, reason)| items.contains(&item) && is_accepted(reason));
            let is_begun = self.is_begun(item, at);
            let is_demanded = if is_calm { !is_disturbed } else { self.duties.was_looked_at(at, item) };
            self.fates.count(match () {
                () if is_begun => Fate::Begun,
                () if is_said => Fate::Explained,
                // Where the item is demanded, that is taken for a reason as well.
                () if whole.is_some() => Fate::NotLookedAt(SKIPPED_BY_ANOTHER),
                () if is_demanded => Fate::Replaced,
                () if is_calm => Fate::NotLookedAt(Cause::Disturbed.name()),
                () if scene.is_mixed() => Fate::NotLookedAt(Cause::Java.name()),
                () => Fate::NotLookedAt(self.duties.cause(at, item).name()),
            });
        }
    }

    fn account(&self, scene: &Scene<'_>, at: i64, kept: &Kept) -> Result<(), String> {
        let disturbed = self.incidents.range(at - REACH..at + REACH).next().is_some();
        // Before, each item is looked at by itself.
        if disturbed || at < self.calm_from {
            return Ok(());
        }
        let excused = self.skipped.get(&at);
        for item in 0..scene.total {
            let with_reason = excused.is_some_and(|skips| {
                skips.iter().any(|(items, reason)| {
                    let meant = items.is_empty() || items.contains(&item);
                    meant && is_good(reason)
                })
            });
            let by_trigger = self.fell_into_trigger.contains(&(at, item));
            let by_java = self.left_out.get(&at).is_some_and(|items| items.contains(&item));
            let by_another_schedule = || self.out_of_date.iter().any(|id| self.owned_by(id, at).contains(&item));
            if self.is_begun(item, at) || with_reason || by_trigger || by_java || by_another_schedule() {
                continue;
            }
            // No instance may take the owner's place; the leader says so.
            let gone = kept.was_gone(item, at - JOINED, at + REACH);
            let said = || {
                let is_that = |reason: &SkipReason| matches!(reason, SkipReason::OwnerGone { .. });
                excused
                    .is_some_and(|skips| skips.iter().any(|(items, reason)| items.contains(&item) && is_that(reason)))
            };
            // A Java leader says nothing.
            let by_java = scene.is_mixed() && scene.java_ids.contains(&self.leader);
            if !gone || (at >= self.calm_from && !said() && !by_java) {
                return Err(format!(
                    "item {item} of the fire at {} ({at}) was not begun; skips: {excused:?}",
                    at - EPOCH
                ));
            }
        }
        Ok(())
    }
}
