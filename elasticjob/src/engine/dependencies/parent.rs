//! The leader's knowledge of the jobs that its job depends on, and of the ends of their fires.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use super::parent_end::ParentEnd;
use super::record::DependencyRecord;
use crate::config::JobConfiguration;
use crate::engine::ahead::tolerance;
use crate::fire::{Begun, FireRecord, FireState};
use crate::ident::{JobName, ShardingItem};

/// How many fires of a job are remembered whose items did not all end as far as is known.
const REMEMBERED: usize = 16;

/// The state of a job in the registry at some moment. Its parts may differ in time by a moment: what they say of a fire that
/// has ended stays true.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ParentView {
    /// Its configuration; `None` where there is none, or none that can be read.
    pub configuration: Option<Arc<JobConfiguration>>,
    /// Since when it follows its schedule, by the server's clock; `None` where no leader has noted that.
    pub scheduled_since: Option<i64>,
    /// Its items.
    pub items: BTreeMap<ShardingItem, ParentItem>,
    /// Its decisions on the fires of the jobs that it depends on itself.
    pub decided: Option<DependencyRecord>,
    /// The time at which they were written, by the server's clock; 0 where it is not known.
    pub decided_at: i64,
    /// Whether a manual trigger waits for one of its instances.
    pub triggered: bool,
}

/// An item of that job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParentItem {
    /// Its record.
    pub record: FireRecord,
    /// The time at which it was written, by the server's clock; 0 where it is not known.
    pub written: i64,
    /// Whether an operator disabled it.
    pub disabled: bool,
    /// Whether it is marked as running.
    pub marked: bool,
}

impl ParentView {
    /// The part of it that counts, in a session with this time-out: the records may be of a clock that was ahead.
    pub(crate) fn counted(self, timeout: Duration) -> Self {
        let limit = self.configuration.as_deref().and_then(JobConfiguration::max_time_diff_seconds);
        let Some(tolerance) = limit.and_then(|limit| tolerance(limit, timeout)) else { return self };
        let of_item = |item: ParentItem| match item.written {
            0 => item,
            written => ParentItem { record: item.record.counted(written, tolerance), ..item },
        };
        let decided_at = self.decided_at;
        let of_job =
            |record: DependencyRecord| if decided_at > 0 { record.counted(decided_at, tolerance) } else { record };
        let items = self.items.into_iter().map(|(number, item)| (number, of_item(item))).collect();
        Self { items, decided: self.decided.map(of_job), ..self }
    }

    /// How many items a fire has: without those that an operator disabled.
    pub(crate) fn parts(&self) -> usize {
        let total = self.configuration.as_ref().map_or(0, |configuration| configuration.sharding_total_count());
        let is_disabled = |item: &ShardingItem| self.items.get(item).is_some_and(|known| known.disabled);
        (0..total).filter(|item| !is_disabled(item)).count()
    }
}

impl ParentItem {
    /// Its last run, if that is one for the scheduled fire at this time.
    pub(crate) fn begun_for(&self, at: i64) -> Option<&Begun> {
        self.record.last.as_ref().filter(|begun| !begun.manual && begun.at == at)
    }

    /// Whether it has begun a later scheduled fire. What began before its time says nothing of the fires in between.
    fn ran_since(&self, at: i64) -> bool {
        let last = self.record.last.as_ref().filter(|begun| !begun.manual);
        last.is_some_and(|begun| begun.at > at && self.record.ahead != Some(begun.at))
    }
}

/// The jobs that a job depends on, as its leader knows them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parents(BTreeMap<JobName, Parent>);

/// One of them.
#[derive(Debug, Clone, Default)]
struct Parent {
    view: ParentView,
    /// How items ended for fires: an item that runs for the next fire does not say any more how it ended for this one.
    seen: BTreeMap<i64, BTreeMap<ShardingItem, FireState>>,
}

/// What is known of a fire of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stand {
    /// The job has no fire at this time.
    NoSuchFire,
    /// It is not over.
    Pending,
    Over(ParentEnd),
}

/// How an item ended for a fire.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ItemStand {
    Pending,
    Succeeded,
    Failed,
    /// It is not a part of the fire: an operator disabled it.
    LeftOut,
    Unknown,
}

impl Parents {
    /// Takes what the registry says of one of them now.
    pub(crate) fn learn(&mut self, job: JobName, view: ParentView) {
        let parent = self.0.entry(job).or_default();
        for (item, known) in &view.items {
            // Without its mark a run was lost. It may begin again as long as its fire is open, and otherwise has failed.
            let is_told = |state: FireState| state != FireState::Running || !known.marked;
            if let Some(begun) = known.record.last.as_ref().filter(|begun| !begun.manual && is_told(begun.state)) {
                parent.seen.entry(begun.at).or_default().insert(*item, begun.state);
            }
        }
        while parent.seen.len() > REMEMBERED {
            parent.seen.pop_first();
        }
        parent.view = view;
    }

    /// What the registry says of one of these jobs.
    pub(crate) fn view(&self, job: &JobName) -> Option<&ParentView> {
        self.0.get(job).map(|parent| &parent.view)
    }

    /// Takes items that stand in one way for ones that stand in another way: planted bugs.
    pub(crate) fn take_for(&mut self, state: FireState, other: FireState) {
        let items = self.0.values_mut().flat_map(|parent| parent.view.items.values_mut());
        let last = items.filter_map(|item| item.record.last.as_mut());
        last.filter(|begun| begun.state == state).for_each(|begun| begun.state = other);
    }

    /// Forgets the items that these jobs have no more: a planted bug.
    pub(crate) fn forget_former_items(&mut self) {
        for Parent { view, seen } in self.0.values_mut() {
            let total = view.configuration.as_ref().map_or(0, |configuration| configuration.sharding_total_count());
            view.items.retain(|item, _| *item < total);
            seen.values_mut().for_each(|items| items.retain(|item, _| *item < total));
        }
    }

    /// Forgets them all.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The times of the fires that any item of these jobs is known to have begun, or that they decided on.
    pub(super) fn fires(&self) -> BTreeSet<i64> {
        self.0.values().flat_map(Parent::fires).collect()
    }

    /// Whether an item ran this fire long before its time, by a clock that was ahead, and has run others since.
    pub(crate) fn ran_ahead(&self, at: i64) -> bool {
        self.0.values().flat_map(|parent| parent.view.items.values()).any(|item| item.record.ahead == Some(at))
    }

    /// The first fire after a time that was begun before its own.
    pub(crate) fn first_after(&self, at: i64) -> Option<i64> {
        self.fires().range(at.saturating_add(1)..).next().copied()
    }

    /// The times of the fires of one of these jobs, as far as they are known.
    pub(crate) fn fires_of(&self, job: &JobName) -> BTreeSet<i64> {
        self.0.get(job).into_iter().flat_map(Parent::fires).collect()
    }

    /// How many items a job has.
    pub(crate) fn total(&self, job: &JobName) -> Option<u32> {
        Some(self.0.get(job)?.view.configuration.as_deref()?.sharding_total_count())
    }

    /// How each item of the fire of a job at a time has ended, `None` where it has not. The error is how the fire stands
    /// as a whole: it is not over where the job has another number of items than this one.
    pub(super) fn ends_of_items(&self, job: &JobName, at: i64, total: u32) -> Result<Vec<Option<ParentEnd>>, Stand> {
        self.0.get(job).map_or(Err(Stand::Pending), |parent| parent.ends_of_items(at, total))
    }

    /// What is known of the fire of a job at a time.
    pub(crate) fn stand(&self, job: &JobName, at: i64) -> Stand {
        self.0.get(job).map_or(Stand::Pending, |parent| parent.stand(at))
    }
}

impl Parent {
    fn fires(&self) -> impl Iterator<Item = i64> {
        let begun = self.view.items.values().filter_map(|item| item.record.last.as_ref());
        let begun = begun.filter(|begun| !begun.manual).map(|begun| begun.at);
        let decided = self.view.decided.iter().flat_map(|record| &record.decided).map(|fire| fire.at);
        let open = self.view.decided.iter().filter_map(DependencyRecord::open).map(|due| due.at);
        let ahead = self.view.items.values().filter_map(|item| item.record.ahead);
        begun.chain(ahead).chain(self.seen.keys().copied()).chain(decided).chain(open)
    }

    /// The configuration by which the items of the fire are looked at, where it is there. The error is how the fire stands
    /// without them.
    fn of_fire(&self, at: i64) -> Result<&JobConfiguration, Stand> {
        let Some(configuration) = &self.view.configuration else { return Err(Stand::Pending) };
        if let Some(record) = &self.view.decided
            && let Some(decided) = record.decided.iter().find(|fire| fire.at == at)
            && decided.skipped.is_some()
        {
            return Err(Stand::Over(ParentEnd::Skipped));
        }
        let was_begun = self.fires().any(|begun| begun == at);
        if !was_begun {
            let is_on_schedule = configuration.schedule().map(|schedule| schedule.next_after(at - 1) == Some(at));
            let is_to_come = match (is_on_schedule, &self.view.decided) {
                (Some(is_on_schedule), _) => is_on_schedule,
                (None, Some(record)) => record.through < at,
                (None, None) => !configuration.depends_on().is_empty(),
            };
            if !is_to_come {
                return Err(Stand::NoSuchFire);
            }
        }
        Ok(configuration)
    }

    fn ends_of_items(&self, at: i64, total: u32) -> Result<Vec<Option<ParentEnd>>, Stand> {
        let configuration = self.of_fire(at)?;
        if configuration.sharding_total_count() != total {
            return Err(Stand::Pending);
        }
        let of_item = |item| match self.stand_of(configuration, item, at) {
            ItemStand::Pending => None,
            // What was no part of that fire is none of this one.
            ItemStand::LeftOut => Some(ParentEnd::Skipped),
            ItemStand::Failed if self.skips(at, item) => Some(ParentEnd::Skipped),
            ItemStand::Succeeded => Some(ParentEnd::Succeeded),
            ItemStand::Failed => Some(ParentEnd::Failed),
            ItemStand::Unknown => Some(ParentEnd::Unknown),
        };
        Ok((0..total).map(of_item).collect())
    }

    /// Whether the job does not run an item for a fire, as it follows an item of another job.
    fn skips(&self, at: i64, item: ShardingItem) -> bool {
        self.view.decided.as_ref().is_some_and(|record| record.skips(at, item))
    }

    fn stand(&self, at: i64) -> Stand {
        let configuration = match self.of_fire(at) {
            Ok(configuration) => configuration,
            Err(stand) => return stand,
        };
        let of_items = (0..configuration.sharding_total_count()).map(|item| self.stand_of(configuration, item, at));
        let of_former_items = self.former_items(configuration, at).map(|item| self.stand_of_former(item, at));
        of_items.chain(of_former_items).fold(Stand::Over(ParentEnd::Succeeded), |so_far, item| match (so_far, item) {
            (Stand::Pending, _) | (_, ItemStand::Pending) => Stand::Pending,
            (Stand::Over(ParentEnd::Failed), _) | (_, ItemStand::Failed) => Stand::Over(ParentEnd::Failed),
            (_, ItemStand::Unknown) => Stand::Over(ParentEnd::Unknown),
            (so_far, ItemStand::Succeeded | ItemStand::LeftOut) => so_far,
        })
    }

    /// Items that began the fire, or a later one, and are no items of the job any more.
    fn former_items(&self, configuration: &JobConfiguration, at: i64) -> impl Iterator<Item = ShardingItem> {
        let has_begun = |known: &ParentItem| known.begun_for(at).is_some() || known.ran_since(at);
        let last = self.view.items.iter().filter(move |(_, known)| has_begun(known)).map(|(item, _)| item);
        let seen = self.seen.get(&at).into_iter().flat_map(BTreeMap::keys);
        let begun: BTreeSet<ShardingItem> = last.chain(seen).copied().collect();
        let total = configuration.sharding_total_count();
        begun.into_iter().filter(move |item| *item >= total)
    }

    /// How such an item ended. What it leaves is not taken over.
    fn stand_of_former(&self, item: ShardingItem, at: i64) -> ItemStand {
        let known = self.view.items.get(&item);
        let last = known
            .and_then(|known| known.begun_for(at))
            .map(|begun| begun.state)
            .or(self.seen.get(&at).and_then(|items| items.get(&item).copied()));
        match last {
            Some(FireState::Running) if known.is_some_and(|known| known.marked) => ItemStand::Pending,
            Some(FireState::Succeeded) => ItemStand::Succeeded,
            // It may have had no part in the fire, or have failed.
            None => ItemStand::Unknown,
            Some(_) => ItemStand::Failed,
        }
    }

    fn stand_of(&self, configuration: &JobConfiguration, item: ShardingItem, at: i64) -> ItemStand {
        let of_state = |state: FireState| match state {
            FireState::Running => ItemStand::Pending,
            // Another instance takes it over.
            FireState::Cancelled if configuration.failover() => ItemStand::Pending,
            FireState::Succeeded => ItemStand::Succeeded,
            FireState::Failed | FireState::Cancelled | FireState::NotRun => ItemStand::Failed,
        };
        if self.skips(at, item) {
            return ItemStand::Failed;
        }
        let seen_last = self.seen.get(&at).and_then(|items| items.get(&item)).copied();
        let seen = || seen_last.filter(|state| !state.is_unfinished());
        let Some(known) = self.view.items.get(&item) else { return seen().map_or(ItemStand::Pending, of_state) };
        let record = &known.record;
        match record.last.as_ref().filter(|begun| !begun.manual) {
            Some(begun) if begun.at == at => of_state(begun.state),
            _ => {
                if let Some(state) = seen() {
                    return of_state(state);
                }
                let ran_since = known.ran_since(at);
                let is_decided = record.through >= Some(at) && record.to_make_up() != Some(at);
                match (ran_since, is_decided) {
                    // The last run before its time, and the item has run since.
                    (false, _) if record.ahead == Some(at) => ItemStand::Unknown,
                    // It was lost, or cut off, and was not run again.
                    (true, _) if seen_last.is_some() => ItemStand::Failed,
                    (true, _) => ItemStand::Unknown,
                    // A trigger by hand has taken the place of what the record said of this fire.
                    (false, true) if record.last.as_ref().is_some_and(|begun| begun.manual) => ItemStand::Unknown,
                    (false, true) if known.disabled => ItemStand::LeftOut,
                    (false, true) => ItemStand::Failed,
                    (false, false) if known.disabled => ItemStand::LeftOut,
                    (false, false) => ItemStand::Pending,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
