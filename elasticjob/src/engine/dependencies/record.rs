//! The data of the node `dependencies`: which fires of other jobs were decided, and which one is due.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::item_set::ItemSet;
use super::parent_end::ParentEnd;
use crate::config::When;
use crate::fire::{Later, Rerun, SkipReason};
use crate::ident::{JobName, ShardingItem};

/// How many decided fires the node names: for jobs that depend on this one in turn, and for people.
pub(super) const KEPT: usize = 16;

/// How many of them keep which of their items were skipped: an item that missed the fire may come to it late.
const KEPT_ITEMS: usize = 4;

/// How many times of release are told apart. Of more, the earliest ones become one.
const BATCHES: usize = 16;
/// How many re-runs it names.
pub(super) const KEPT_RERUNS: usize = 16;

/// Far more bytes than the node has.
const LONGEST: usize = 512 * 1024;

/// Data of `dependencies`, as JSON. The leader writes it, with its version as the guard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DependencyRecord {
    /// Every fire up to this scheduled time, in milliseconds since 1970, was decided.
    pub through: i64,
    /// The latest fire that was decided long before its time, as a clock was ahead. It is not decided again, and the fires
    /// before it are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ahead: Option<i64>,
    /// The latest fire that the job runs for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<DueFire>,
    /// The items of that fire that may begin, where an item of this job follows the item of other jobs with its number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<DueItems>,
    /// The latest decided fires, in ascending order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decided: Vec<DecidedFire>,
    /// The latest re-runs of fires of jobs before this one, in the order in which they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reruns: Vec<FollowedRerun>,
    #[serde(flatten)]
    later: Later,
}

/// A fire that the job runs for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DueFire {
    /// The scheduled time that the jobs before it have run for, in milliseconds since 1970.
    pub at: i64,
    /// The time at which it became due, by the clock of the leader, in milliseconds since 1970.
    pub since: i64,
}

/// A fire that was decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DecidedFire {
    /// Its scheduled time in milliseconds since 1970.
    pub at: i64,
    /// The job for whose end it is not run; `None` where it is run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<Unmet>,
    /// The items that are not run for it, where others are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped_items: Vec<SkippedItems>,
}

/// The items of a fire, as far as it is decided which of them begin.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DueItems {
    /// Those that may begin.
    pub released: Vec<ReleasedItems>,
    /// Those that are not run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<SkippedItems>,
}

/// Items that may begin since the same moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ReleasedItems {
    /// Since when, by the clock of the leader, in milliseconds since 1970.
    pub since: i64,
    /// The items.
    pub items: ItemSet,
}

/// Items that are not run for the same reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SkippedItems {
    /// The items.
    pub items: ItemSet,
    /// Why.
    #[serde(flatten)]
    pub unmet: Unmet,
}

/// Whether an item may begin for a fire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Release {
    /// The items that it follows have not ended.
    Held,
    /// It may, since this time in milliseconds since 1970.
    Since(i64),
    /// It is not run.
    Skipped(Unmet),
    /// There was no such item when the fire was decided.
    NotPart,
}

/// What is decided on single items of a fire.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct DecidedItems {
    /// They may begin.
    pub(crate) released: BTreeSet<ShardingItem>,
    /// They are not run.
    pub(crate) skipped: BTreeMap<ShardingItem, Unmet>,
    /// Nothing is left to decide on the fire.
    pub(crate) is_whole: bool,
}

/// A dependency that did not come out as it has to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Unmet {
    /// The job.
    pub job: JobName,
    /// The end that it must have.
    pub when: When,
    /// The end that it had.
    pub end: ParentEnd,
}

impl Unmet {
    pub(super) fn new(job: JobName, when: When, end: ParentEnd) -> Self {
        Self { job, when, end }
    }

    /// Why a fire is not run.
    pub(crate) fn reason(&self) -> SkipReason {
        SkipReason::DependencyNotMet { job: self.job.clone(), end: self.end.to_string(), when: self.when.as_str() }
    }

    /// Why items of a fire are not run, where others are.
    pub(crate) fn reason_of_items(&self) -> SkipReason {
        SkipReason::ItemDependencyNotMet { job: self.job.clone(), end: self.end.to_string(), when: self.when.as_str() }
    }
}

impl SkippedItems {
    /// The reason for this item, if it is one of them.
    fn of(all: &[Self], item: ShardingItem) -> Option<&Unmet> {
        all.iter().find(|skipped| skipped.items.contains(item)).map(|skipped| &skipped.unmet)
    }
}

impl DueItems {
    fn of(&self, item: ShardingItem) -> Option<Release> {
        let released = self.released.iter().find(|released| released.items.contains(item));
        let released = released.map(|released| Release::Since(released.since));
        released.or_else(|| SkippedItems::of(&self.skipped, item).cloned().map(Release::Skipped))
    }

    /// The same with what is decided at `now`.
    fn with(mut self, decided: &DecidedItems, now: i64) -> Self {
        if !decided.released.is_empty() {
            self.released.push(ReleasedItems { since: now, items: decided.released.iter().copied().collect() });
        }
        while self.released.len() > BATCHES {
            let earliest = self.released.remove(0);
            self.released[0].items = self.released[0].items.with(&earliest.items);
        }
        for (item, unmet) in &decided.skipped {
            let items = ItemSet::from_iter([*item]);
            match self.skipped.iter_mut().find(|skipped| skipped.unmet == *unmet) {
                Some(skipped) => skipped.items = skipped.items.with(&items),
                None => self.skipped.push(SkippedItems { items, unmet: unmet.clone() }),
            }
        }
        self
    }
}

impl DependencyRecord {
    /// The record of a job that decides on the fires after this time.
    pub(crate) fn from(through: i64) -> Self {
        Self {
            through,
            ahead: None,
            due: None,
            items: None,
            decided: Vec::new(),
            reruns: Vec::new(),
            later: Later::new(),
        }
    }

    /// Reads the node. `None` where it cannot be read: then the leader makes it again.
    pub fn parse(data: &[u8]) -> Option<Self> {
        (data.len() <= LONGEST).then(|| serde_json::from_slice(data).ok()).flatten()
    }

    /// Whether it was decided so long ago that the node does not say any more what was decided on a fire at this time.
    pub(crate) fn has_forgotten(&self, at: i64) -> bool {
        self.decided.len() >= KEPT && self.decided.first().is_some_and(|oldest| at < oldest.at)
    }

    /// The data of the node.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a record of texts and numbers has a JSON form")
    }

    /// The record after a decision on a whole fire that is made at `now`, in milliseconds since 1970.
    pub(crate) fn after(&self, at: i64, skipped: Option<Unmet>, now: i64) -> Self {
        let (due, items) = match skipped {
            None => (Some(DueFire { at, since: now }), None),
            Some(_) => (self.due, self.items.clone()),
        };
        Self { due, items, ..self.decided(DecidedFire { at, skipped, skipped_items: Vec::new() }) }
    }

    /// The record after a decision on single items of a fire, which becomes due with the first one.
    pub(crate) fn after_items(&self, at: i64, decided: &DecidedItems, now: i64) -> Self {
        let (due, items) = match self.open() {
            Some(due) if due.at == at => (due, self.items.clone().unwrap_or_default()),
            _ => (DueFire { at, since: now }, DueItems::default()),
        };
        let items = items.with(decided, now);
        let skipped_items = items.skipped.clone();
        let after = match decided.is_whole {
            true => self.decided(DecidedFire { at, skipped: None, skipped_items }),
            // What comes before it is decided with it.
            false => Self { through: self.through.max(at - 1), ..self.clone() },
        };
        Self { due: Some(due), items: Some(items), ..after }
    }

    fn decided(&self, fire: DecidedFire) -> Self {
        let through = self.through.max(fire.at);
        let mut decided = self.decided.clone();
        decided.push(fire);
        decided.drain(..decided.len().saturating_sub(KEPT));
        let without_items = decided.len().saturating_sub(KEPT_ITEMS);
        decided[..without_items].iter_mut().for_each(|fire| fire.skipped_items.clear());
        let ahead = self.ahead.filter(|ahead| *ahead > through);
        Self { through, ahead, decided, ..self.clone() }
    }

    /// The fire that is due, where it is not decided yet for all its items.
    pub(crate) fn open(&self) -> Option<DueFire> {
        self.due.filter(|due| self.items.is_some() && !self.covers(due.at))
    }

    /// Whether an item may begin for the fire at this time, as far as the record says something of that fire.
    pub(crate) fn release(&self, at: i64, item: ShardingItem) -> Option<Release> {
        if let Some(due) = self.due.filter(|due| due.at == at) {
            let Some(items) = &self.items else { return Some(Release::Since(due.since)) };
            let others = if self.open().is_some() { Release::Held } else { Release::NotPart };
            return Some(items.of(item).unwrap_or(others));
        }
        let decided = self.decided.iter().find(|fire| fire.at == at)?;
        let unmet = decided.skipped.as_ref().or_else(|| SkippedItems::of(&decided.skipped_items, item));
        Some(unmet.map_or(Release::Since(at), |unmet| Release::Skipped(unmet.clone())))
    }

    /// The first fire after a time that an item had to run for, and since when it is due, as far as the node still says it.
    pub(crate) fn due_after(&self, at: i64, item: ShardingItem) -> Option<DueFire> {
        let decided = self.decided.iter().map(|fire| fire.at).chain(self.due.map(|due| due.at));
        let due = decided.filter(|fire| *fire > at).filter_map(|at| match self.release(at, item) {
            Some(Release::Since(since)) => Some(DueFire { at, since }),
            _ => None,
        });
        due.min_by_key(|due| due.at)
    }

    /// Whether an item of a fire at this time is not run, while others are.
    pub(super) fn skips(&self, at: i64, item: ShardingItem) -> bool {
        matches!(self.release(at, item), Some(Release::Skipped(_)))
    }

    /// The part that counts of a record that was written at `written` by the server's clock, as that of the record of an
    /// [item](FireRecord::counted): a fire that is further ahead of it than `tolerance` came by a wrong clock.
    ///
    /// A right clock decides the fires before that one again. The records of the jobs before this one were written earlier, so
    /// they cover less than the time of this write says: their items run some of these fires yet.
    pub(crate) fn counted(self, written: i64, tolerance: i64) -> Self {
        let by_right_clocks = written.saturating_add(tolerance);
        let in_time = self.decided.iter().map(|fire| fire.at).filter(|at| *at <= by_right_clocks).max();
        // Where the node names no such fire, none may be decided twice.
        let through = self.through.min(in_time.unwrap_or(by_right_clocks));
        let is_ahead = |at: i64| at > by_right_clocks;
        match self.open() {
            // It is decided again at its time. What it has begun by then is not begun again.
            Some(due) if is_ahead(due.at) => Self { through, due: None, items: None, ..self },
            _ if is_ahead(self.through) => Self { through, ahead: self.ahead.max(Some(self.through)), ..self },
            _ => self,
        }
    }

    /// Whether a fire is decided already.
    pub(super) fn covers(&self, at: i64) -> bool {
        at <= self.through || self.ahead == Some(at)
    }
}

/// The re-run of a fire of a job before this one: this job follows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FollowedRerun {
    /// The re-run itself.
    #[serde(flatten)]
    pub rerun: Rerun,
    /// The job whose fire the operator runs again.
    pub from: JobName,
    /// The jobs right before this one that follow it, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<JobName>,
    /// The time at which the jobs before this one had ended, by the clock of the leader, in milliseconds since 1970. `None` before that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<i64>,
    /// The job for whose end this job does not run again; `None` where it does, and before it is decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<Unmet>,
}

impl FollowedRerun {
    /// A re-run that is not decided yet.
    pub(crate) fn new(rerun: Rerun, from: JobName, with: Vec<JobName>) -> Self {
        Self { rerun, from, with, decided: None, skipped: None }
    }
}

impl DependencyRecord {
    /// The record after an operator asked for a re-run of a job before this one.
    pub(crate) fn with_rerun(&self, rerun: FollowedRerun) -> Self {
        let mut after = self.clone();
        let reruns = &mut after.reruns;
        reruns.retain(|known| known.rerun != rerun.rerun);
        reruns.push(rerun);
        // Those that are decided are of no use to this job any more; the others have yet to be followed.
        while reruns.len() > KEPT_RERUNS {
            let Some(oldest) = reruns.iter().position(|known| known.decided.is_some()) else { break };
            reruns.remove(oldest);
        }
        after
    }

    /// Whether one more re-run can be followed: so many at the most are yet to be decided.
    pub(crate) fn has_room_for_rerun(&self) -> bool {
        self.reruns.iter().filter(|known| known.decided.is_none()).count() < KEPT_RERUNS
    }

    /// The record after the decision on a re-run, at `now` in milliseconds since 1970.
    pub(crate) fn after_rerun(&self, rerun: Rerun, skipped: Option<Unmet>, now: i64) -> Self {
        let mut after = self.clone();
        for known in after.reruns.iter_mut().filter(|known| known.rerun == rerun) {
            (known.decided, known.skipped) = (Some(now), skipped.clone());
        }
        after
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_reads_back_what_it_writes_and_keeps_the_latest_fires() {
        let unmet = Unmet::new(JobName::new("extract").unwrap(), When::Succeeded, ParentEnd::Failed);
        let mut record = DependencyRecord::from(5).after(10, None, 12).after(20, Some(unmet.clone()), 22);
        let text = String::from_utf8(record.to_bytes()).unwrap();
        assert_eq!(
            text,
            r#"{"through":20,"due":{"at":10,"since":12},"decided":[{"at":10},{"at":20,"skipped":{"job":"extract","when":"succeeded","end":"failed"}}]}"#
        );
        assert_eq!(DependencyRecord::parse(text.as_bytes()), Some(record.clone()));
        for at in 30..60 {
            record = record.after(at, Some(unmet.clone()), at);
        }
        assert_eq!((record.through, record.decided.len(), record.decided[0].at), (59, KEPT, 44));
        assert_eq!(record.due, Some(DueFire { at: 10, since: 12 }), "a skipped fire takes no due one away");
        assert_eq!(DependencyRecord::parse(b"x"), None);
    }

    fn unmet(end: ParentEnd) -> Unmet {
        Unmet::new(JobName::new("extract").unwrap(), When::Succeeded, end)
    }

    fn items(released: &[ShardingItem], skipped: &[(ShardingItem, ParentEnd)], is_whole: bool) -> DecidedItems {
        let skipped = skipped.iter().map(|(item, end)| (*item, unmet(*end))).collect();
        DecidedItems { released: released.iter().copied().collect(), skipped, is_whole }
    }

    #[test]
    fn a_fire_is_open_until_all_its_items_are_decided_and_the_record_keeps_which_are_skipped() {
        let before = DependencyRecord::from(5).after(7, None, 8);
        let first = before.after_items(10, &items(&[0, 1], &[(3, ParentEnd::Failed)], false), 12);
        let text = String::from_utf8(first.to_bytes()).unwrap();
        assert_eq!(
            text,
            r#"{"through":9,"due":{"at":10,"since":12},"items":{"released":[{"since":12,"items":"0-1"}],"skipped":[{"items":"3","job":"extract","when":"succeeded","end":"failed"}]},"decided":[{"at":7}]}"#
        );
        assert_eq!(DependencyRecord::parse(text.as_bytes()), Some(first.clone()));
        assert_eq!(first.open(), Some(DueFire { at: 10, since: 12 }));
        let releases = |record: &DependencyRecord| [0, 2, 3, 4].map(|item| record.release(10, item).unwrap());
        let failed = Release::Skipped(unmet(ParentEnd::Failed));
        assert_eq!(releases(&first), [Release::Since(12), Release::Held, failed.clone(), Release::Held]);
        let whole = first.after_items(10, &items(&[2], &[], true), 20);
        assert_eq!((whole.through, whole.open(), whole.due), (10, None, Some(DueFire { at: 10, since: 12 })));
        assert_eq!(releases(&whole), [Release::Since(12), Release::Since(20), failed, Release::NotPart]);
        let next = whole.after(30, None, 31);
        assert!(next.items.is_none() && next.skips(10, 3) && !next.skips(10, 2) && !next.skips(30, 3));
        assert_eq!(next.release(30, 3), Some(Release::Since(31)));
        assert_eq!(next.release(20, 3), None);
        assert_eq!(DependencyRecord::parse(&next.to_bytes()), Some(next));
    }

    #[test]
    fn of_many_releases_the_earliest_are_one() {
        let record = (0..40).fold(DependencyRecord::from(5), |record, item| {
            record.after_items(10, &items(&[item], &[], item == 39), 100 + i64::from(item))
        });
        assert_eq!(record.items.as_ref().map(|items| items.released.len()), Some(BATCHES));
        assert_eq!(record.release(10, 39), Some(Release::Since(139)));
        assert_eq!(record.release(10, 0), record.release(10, 24));
    }

    #[test]
    fn a_fire_that_a_wrong_clock_opened_is_decided_again_at_its_time() {
        const HOUR: i64 = 3_600_000;
        let written = DependencyRecord::from(5).after_items(HOUR, &items(&[0], &[], false), HOUR);
        let record = written.counted(100, 20);
        assert_eq!((record.through, record.due, record.open()), (120, None, None));
        assert!(!record.covers(HOUR));
    }

    #[test]
    fn what_was_decided_an_hour_ahead_covers_that_fire_and_the_past_alone() {
        const HOUR: i64 = 3_600_000;
        let written = DependencyRecord::from(5).after(HOUR, None, HOUR);
        assert_eq!(written.clone().counted(HOUR - 10, 20), written, "within what clocks may differ");
        let record = written.counted(100, 20);
        let covered = |record: &DependencyRecord| [120, 121, HOUR, HOUR + 1].map(|at| record.covers(at));
        assert_eq!(covered(&record), [true, false, true, false]);
        let next = DependencyRecord::parse(&record.after(130, None, 130).to_bytes()).unwrap();
        assert_eq!((covered(&next), next.due.unwrap().at), ([true, true, true, false], 130));
        assert_eq!(next.after(HOUR + 1, None, 1).ahead, None);
        // The fires that were not decided by a right clock are decided then.
        let known = DependencyRecord::from(5).after(60, None, 60).after(HOUR, None, HOUR).counted(100, 20);
        assert_eq!([60, 61, 120, HOUR].map(|at| known.covers(at)), [true, false, false, true]);
        let open = DependencyRecord::from(5).after(60, None, 60).after_items(HOUR, &items(&[0], &[], false), HOUR);
        assert_eq!(open.counted(100, 20).through, 60);
    }
}
