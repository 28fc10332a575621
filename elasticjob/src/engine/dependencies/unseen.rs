//! Fires of the jobs before a job that its leader did not see.
//!
//! The record of an item names the fire that the item began last. Where all items have begun a later fire before a leader
//! looked, as the registry center was away or no instance of the job was there, no record names the fires in between. The
//! schedule does. Whether the job before ran for them is not known: it may have been disabled, or its own instances gone.

use std::collections::BTreeSet;

use super::parent::Parents;
use super::record::{DependencyRecord, KEPT};
use crate::config::Dependency;
use crate::schedule::Schedule;

/// So far back it is looked for them first, in milliseconds. Then twice as far, until there are enough.
const LOOKS_BACK: i64 = 16_000;

/// So many are named at most: the node names them, and the fire that is decided with them.
const NAMED: usize = KEPT - 1;

/// After so many steps schedules count as ones that never fire at the same time.
const STEPS: usize = 1_000;

/// Fires of which no item is known to have begun one, and that come before a fire that is known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Unseen {
    /// The latest ones.
    pub(crate) latest: BTreeSet<i64>,
    /// Of those before these the first ones, and the first ones after each fire that is known.
    pub(crate) earlier: BTreeSet<i64>,
}

impl Unseen {
    /// The fires that are passed over without a name where these are decided: the first ones, each with the decided one that
    /// comes after it.
    pub(crate) fn passed_over(&self, decided: &BTreeSet<i64>) -> Vec<(i64, i64)> {
        let next = |from: i64| decided.range(from..).next().copied();
        let mut passed: Vec<_> = self.earlier.iter().filter_map(|from| Some((*from, next(*from)?))).collect();
        passed.dedup_by_key(|(_, before)| *before);
        passed
    }
}

/// The schedules of all jobs before a job: it has fires at the times that they have in common.
struct Schedules<'a> {
    all: Vec<&'a Schedule>,
    /// Since when all are followed, in milliseconds since 1970. What came before was not on them.
    since: i64,
}

impl Schedules<'_> {
    fn next_after(&self, after: i64) -> Option<i64> {
        let (first, others) = self.all.split_first()?;
        let mut at = first.next_after(after)?;
        for _ in 0..STEPS {
            let mut latest = at;
            for schedule in others {
                latest = latest.max(schedule.next_after(at - 1)?);
            }
            if latest == at {
                return Some(at);
            }
            at = first.next_after(latest - 1)?;
        }
        None
    }

    /// The fires between two times, in ascending order.
    fn between(&self, after: i64, before: i64) -> impl Iterator<Item = i64> {
        let next = move |at: i64| self.next_after(at).filter(|at| *at < before);
        std::iter::successors(next(after), move |at| next(*at))
    }

    /// The latest fires between two times. The work is that for about twice as many, however far the times are apart.
    fn latest_between(&self, after: i64, before: i64) -> BTreeSet<i64> {
        let mut back = LOOKS_BACK;
        loop {
            let from = before.saturating_sub(back).max(after);
            let mut fires: BTreeSet<i64> = self.between(from, before).collect();
            if from == after || fires.len() >= NAMED {
                while fires.len() > NAMED {
                    fires.pop_first();
                }
                return fires;
            }
            back = back.saturating_mul(2);
        }
    }
}

impl Parents {
    /// The fires after those that are decided which the leader did not see. A fire that is too far ahead says nothing of those
    /// before it.
    ///
    /// Where one of the jobs runs after others itself, each fire is named by the node of that job.
    pub(crate) fn unseen(
        &self,
        dependencies: &[Dependency],
        record: &DependencyRecord,
        is_far_ahead: impl Fn(i64) -> bool,
    ) -> Unseen {
        let known = self.fires();
        let has_come = |at: &&i64| !record.covers(**at) && !is_far_ahead(**at);
        let Some(before) = known.iter().rev().find(has_come).copied() else { return Unseen::default() };
        let Some(schedules) = self.schedules(dependencies) else { return Unseen::default() };
        let open = record.open().map(|due| due.at);
        let is_unseen = |at: &i64| !known.contains(at) && !record.covers(*at) && open != Some(*at);
        let after = record.through.max(schedules.since - 1);
        let Some(first) = schedules.between(after, before).find(is_unseen) else { return Unseen::default() };
        let mut latest = schedules.latest_between(first - 1, before);
        let named_from = latest.first().copied().unwrap_or(before);
        latest.retain(is_unseen);
        let known_before = known.range(first..).take_while(|at| **at < named_from);
        let after_each = std::iter::once(after).chain(known_before.copied());
        let earlier = after_each.filter_map(|at| schedules.between(at, named_from).find(is_unseen)).collect();
        Unseen { latest, earlier }
    }

    /// `None` where one of the jobs has no schedule, or where it is not known since when it is followed.
    fn schedules(&self, dependencies: &[Dependency]) -> Option<Schedules<'_>> {
        let views: Option<Vec<_>> = dependencies.iter().map(|dependency| self.view(&dependency.job)).collect();
        let views = views?;
        let all: Option<Vec<_>> = views.iter().map(|view| view.configuration.as_deref()?.schedule()).collect();
        let since: Option<Vec<i64>> = views.iter().map(|view| view.scheduled_since).collect();
        Some(Schedules { all: all?, since: since?.into_iter().max()? })
    }
}

#[cfg(test)]
mod tests;
