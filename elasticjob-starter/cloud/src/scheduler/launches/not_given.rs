//! Items whose launch was noted, and that the carrier was not given, or has not answered for.
//!
//! A run that is cut off between its note and the launch is not started any more. The scheduler that takes its item over finds the note,
//! and a carrier that does not know the launch: that is a lost item, which may have run. The scheduler that had it knows better, as
//! long as no request is on its way, and says so in the note: when the engine was not reached, and when it leaves. While a request is
//! on its way nobody knows: what comes after it in the same scheduler waits for its answer.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::panic::resume_unwind;
use std::sync::{Mutex, MutexGuard, PoisonError};

use elasticjob::ident::{JobName, ShardingItem};
use elasticjob::log::warn;
use tokio::sync::watch;

use super::Launches;
use crate::carrier::{Launch, LaunchError, LaunchId, LaunchItem};
use crate::scheduler::earlier_runs::by_launch;
use crate::scheduler::launch_marks::Note;

#[derive(Debug, Default)]
pub(super) struct NotGiven {
    /// Each with the fencing token of the run that it was noted for.
    items: Mutex<HashSet<(LaunchId, ShardingItem, Option<i64>)>>,
    /// What the carrier was asked to launch, and has not answered: how many requests.
    on_their_way: watch::Sender<OnTheirWay>,
}

type OnTheirWay = HashMap<(LaunchId, ShardingItem), usize>;

impl NotGiven {
    /// These items are about to be noted, or the carrier has not taken them.
    pub(super) fn add<'a>(&self, id: &LaunchId, items: impl IntoIterator<Item = &'a LaunchItem>) {
        // First of all: the iterator may ask this one, which takes the lock.
        let new: Vec<_> = items.into_iter().map(|wanted| (id.clone(), wanted.item, wanted.fencing_token)).collect();
        self.lock().extend(new);
    }

    /// The carrier is given these items: from now on only it can tell whether it has them, also for runs before. Returns those that
    /// it was not given until now.
    fn give(&self, id: &LaunchId, items: &[LaunchItem]) -> Vec<LaunchItem> {
        let new = items.iter().filter(|wanted| self.has(id, wanted.item, wanted.fencing_token)).cloned().collect();
        let is_given = |item| items.iter().any(|wanted| wanted.item == item);
        self.lock().retain(|(of, item, _)| of.job != id.job || !is_given(*item));
        new
    }

    /// Whether the carrier was not given an item for the run with this fencing token.
    fn has(&self, id: &LaunchId, item: ShardingItem, token: Option<i64>) -> bool {
        self.lock().contains(&(id.clone(), item, token))
    }

    /// Whether a request to launch an item is on its way: until it is answered, nobody knows whether the carrier has it.
    pub(super) fn is_on_its_way(&self, id: &LaunchId, item: ShardingItem) -> bool {
        self.on_their_way.borrow().contains_key(&(id.clone(), item))
    }

    /// The items of a job that a request to launch them is on its way for.
    pub(super) fn on_their_way(&self, job: &JobName) -> BTreeMap<LaunchId, Vec<ShardingItem>> {
        by_launch(self.on_their_way.borrow().keys().filter(|(id, _)| id.job == *job).cloned())
    }

    /// The jobs of all requests to launch items that are on their way.
    pub(super) fn jobs_on_their_way(&self) -> BTreeSet<JobName> {
        self.on_their_way.borrow().keys().map(|(id, _)| id.job.clone()).collect()
    }

    /// Whether the carrier was asked for an item, or was to be, and has it by none of these requests.
    pub(super) fn lacks(&self, id: &LaunchId, item: ShardingItem) -> bool {
        self.lock().iter().any(|(of, lacking, _)| of == id && *lacking == item)
    }

    /// Waits until no request to launch one of these items is on its way.
    pub(super) async fn until_answered(&self, id: &LaunchId, items: impl IntoIterator<Item = ShardingItem>) {
        let items: Vec<ShardingItem> = items.into_iter().collect();
        self.until(|all| !items.iter().any(|item| all.contains_key(&(id.clone(), *item)))).await;
    }

    /// Waits until no request to launch items of a job is on its way.
    pub(super) async fn until_all_answered(&self, job: &JobName) {
        self.until(|all| all.keys().all(|(id, _)| id.job != *job)).await;
    }

    async fn until(&self, is_so: impl FnMut(&OnTheirWay) -> bool) {
        // An error says that the sender is gone, which lives as long as this.
        let _ = self.on_their_way.subscribe().wait_for(is_so).await;
    }

    /// The job is removed.
    pub(super) fn forget(&self, job: &JobName) {
        self.lock().retain(|(of, ..)| of.job != *job);
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<(LaunchId, ShardingItem, Option<i64>)>> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Launches {
    /// The jobs of which items are on their way to the carrier.
    pub(in crate::scheduler) fn jobs_on_their_way(&self) -> BTreeSet<JobName> {
        self.0.not_given.jobs_on_their_way()
    }

    /// Whether the carrier may have been given an item for this fire by another run, as its note says.
    pub(super) fn was_given(&self, id: &LaunchId, wanted: &LaunchItem, noted: &Note) -> bool {
        let item = wanted.item;
        noted.is_given_by_another_run(id, wanted) && !self.0.not_given.has(id, item, noted.token_of(item))
    }

    /// Notes that the carrier was not given these items, so that the scheduler that takes them over launches them. Where the registry
    /// center does not answer they count as given.
    pub(super) async fn note_not_given(&self, id: &LaunchId, items: &[LaunchItem]) {
        if let Err(error) = self.0.marks.note_not_given(id, items).await {
            warn!("{id}: the registry center does not have it that the carrier was not given items: {error}");
        }
    }

    /// Gives the items of a launch to the carrier, but for those that were cut off by now, which are left out; returns those that it
    /// has taken. Where the run is cut
    /// off before the answer, the request goes on: it is unknown whether it arrived, and what comes after it has to wait until it is
    /// known.
    pub(super) async fn give(&self, launch: &mut Launch) -> Result<BTreeSet<ShardingItem>, LaunchError> {
        let mut on_its_way = OnItsWay::new(self, launch);
        // Only now: a run that begins after an item was cut off finds it either not given or on its way.
        launch.leave_out_withdrawn();
        if launch.items.len() < on_its_way.items.len() {
            on_its_way.retain(|item| launch.items.iter().any(|wanted| wanted.item == item));
        }
        if launch.items.is_empty() {
            return Ok(BTreeSet::new());
        }
        let new = self.0.not_given.give(&launch.id, &launch.items);
        let (launches, launch) = (self.clone(), launch.clone());
        let asked = tokio::spawn(async move {
            let answer = launches.0.carrier.launch(launch.clone()).await;
            let answer = answer.map(|launched| launched.started.into_iter().chain(launched.adopted).collect());
            let taken: Option<BTreeSet<ShardingItem>> = match &answer {
                Ok(taken) => Some(BTreeSet::clone(taken)),
                Err(LaunchError::NotReached { .. }) => Some(BTreeSet::new()),
                // It may have taken a part of them before.
                Err(LaunchError::Refused { .. }) => {
                    let states = launches.0.carrier.states(&launch.id).await;
                    states.ok().map(|states| states.unwrap_or_default().into_keys().collect())
                }
                Err(LaunchError::Unknown { .. }) => None,
            };
            let may_be_taken = |item| taken.as_ref().is_none_or(|taken| taken.contains(&item));
            if launch.items.iter().any(|wanted| may_be_taken(wanted.item)) {
                launches.keep(launch.id.clone());
            }
            launches.0.not_given.add(&launch.id, new.iter().filter(|wanted| !may_be_taken(wanted.item)));
            drop(on_its_way);
            // It may be hours before the engine is reached, and this scheduler may be killed by then.
            if matches!(answer, Err(LaunchError::NotReached { .. })) {
                launches.note_not_given(&launch.id, &new).await;
            }
            answer
        });
        match asked.await.map_err(|error| error.try_into_panic()) {
            Ok(answer) => answer,
            Err(Ok(panic)) => resume_unwind(panic),
            Err(Err(_)) => Err(LaunchError::Unknown { why: "the scheduler is ending".to_owned() }),
        }
    }
}

/// A request to launch items, until it is answered.
struct OnItsWay {
    launches: Launches,
    id: LaunchId,
    items: Vec<ShardingItem>,
}

impl OnItsWay {
    fn new(launches: &Launches, launch: &Launch) -> Self {
        let items: Vec<ShardingItem> = launch.items.iter().map(|wanted| wanted.item).collect();
        launches.0.not_given.on_their_way.send_modify(|all| {
            items.iter().for_each(|item| *all.entry((launch.id.clone(), *item)).or_default() += 1);
        });
        Self { launches: launches.clone(), id: launch.id.clone(), items }
    }

    /// The request has these items alone.
    fn retain(&mut self, has: impl Fn(ShardingItem) -> bool) {
        let (id, left_out) = (self.id.clone(), self.items.extract_if(.., |item| !has(*item)).collect());
        drop(Self { launches: self.launches.clone(), id, items: left_out });
    }
}

impl Drop for OnItsWay {
    fn drop(&mut self) {
        if self.items.is_empty() {
            return;
        }
        self.launches.0.not_given.on_their_way.send_modify(|all| {
            for item in std::mem::take(&mut self.items) {
                // Another request of the same item may be on its way too.
                let key = (self.id.clone(), item);
                if let Some(requests) = all.get_mut(&key).filter(|requests| **requests > 1) {
                    *requests -= 1;
                } else {
                    all.remove(&key);
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use elasticjob::fire::Fire;

    use super::*;

    #[test]
    fn what_was_noted_is_not_given_until_the_carrier_gets_the_item() {
        let id = |job: &str, at| LaunchId { job: JobName::new(job).unwrap(), fire: Fire::Scheduled(at) };
        let (first, later, other) = (id("job", 1_000), id("job", 2_000), id("other", 1_000));
        let wanted = |item, token| LaunchItem::new(item, Some(token));
        let not_given = NotGiven::default();
        not_given.add(&first, &[wanted(0, 7), wanted(1, 7)]);
        not_given.add(&other, &[wanted(0, 7)]);
        assert!(not_given.has(&first, 0, Some(7)) && not_given.has(&first, 1, Some(7)));
        assert!(!not_given.has(&first, 0, Some(8)) && !not_given.has(&later, 0, Some(7)), "of other runs");
        assert!(not_given.give(&later, &[wanted(0, 9)]).is_empty());
        assert!(!not_given.has(&first, 0, Some(7)), "a later launch may have ended the run");
        assert!(not_given.has(&first, 1, Some(7)) && not_given.has(&other, 0, Some(7)));
        let given: Vec<_> = not_given.give(&first, &[wanted(0, 7), wanted(1, 7)]).iter().map(|new| new.item).collect();
        assert_eq!(given, [1]);
        not_given.forget(&other.job);
        assert!(!not_given.has(&other, 0, Some(7)));
    }
}
