//! Items that were launched and do not start: the carrier says what they wait for, and operators have to hear of it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use elasticjob::ident::{JobName, ShardingItem};
use elasticjob::operations::CarriedWait;
use elasticjob::registry::RegistryCenter;
use tokio_util::sync::CancellationToken;

use super::item_states::Hub;
use super::job_notes::Noted;
use super::launches::Launches;
use super::wait::{LONG, Wait};
use crate::carrier::{ItemState, LaunchId};

/// How often the items are looked at. It costs no request.
const LOOK: Duration = Duration::from_secs(1);

/// How many reasons are told of a job, each with its items: those that have stood longest.
const MOST: usize = 16;

/// What is known of the items that wait. Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct Waits(Arc<Mutex<BTreeMap<(LaunchId, ShardingItem), Wait>>>);

impl Waits {
    /// Since when this scheduler sees an item wait, in milliseconds since 1970.
    pub(super) fn since(&self, id: &LaunchId, item: ShardingItem) -> Option<i64> {
        self.lock().get(&(id.clone(), item)).map(Wait::since)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(LaunchId, ShardingItem), Wait>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a look at what waits now.
    fn see(&self, waiting: BTreeMap<(LaunchId, ShardingItem), String>, now: i64) {
        let mut all = self.lock();
        all.retain(|key, _| waiting.contains_key(key));
        for (key, why) in waiting {
            all.entry(key).or_insert_with(|| Wait::new(why.clone(), now)).see(why, now, LONG);
        }
    }

    /// What is told, by job.
    fn told(&self, carrier: &str) -> BTreeMap<JobName, Vec<CarriedWait>> {
        let all = self.lock();
        let mut groups = BTreeMap::<(&LaunchId, &str), (i64, Vec<ShardingItem>)>::new();
        for ((id, item), wait) in &*all {
            let Some(told) = wait.told() else { continue };
            let (since, items) = groups.entry((id, told)).or_insert((wait.since(), Vec::new()));
            *since = wait.since().min(*since);
            items.push(*item);
        }
        let mut of_jobs = BTreeMap::<JobName, Vec<CarriedWait>>::new();
        for ((id, why), (since, items)) in groups {
            let wait = CarriedWait::new(id.fire, items, carrier, why, since);
            of_jobs.entry(id.job.clone()).or_default().push(wait);
        }
        for waits in of_jobs.values_mut() {
            waits.sort_by_key(|wait| wait.since);
            waits.truncate(MOST);
        }
        of_jobs
    }
}

/// Looks at the items again and again, and notes those that wait for long.
pub(super) struct Watch {
    /// What it sees.
    pub(super) waits: Waits,
    pub(super) hub: Hub,
    pub(super) launches: Launches,
    /// The name of the carrier.
    pub(super) carrier: String,
    /// Where it is noted, for everybody who looks at the job.
    pub(super) registry: Arc<dyn RegistryCenter>,
}

impl Watch {
    pub(super) async fn watch(self, ending: CancellationToken) {
        let mut looks = tokio::time::interval(LOOK);
        let mut noted = Noted::new(self.registry.clone());
        loop {
            tokio::select! {
                _ = looks.tick() => {}
                () = ending.cancelled() => return,
            }
            self.waits.see(self.waiting(), chrono::Utc::now().timestamp_millis());
            noted.note(self.waits.told(&self.carrier)).await;
        }
    }

    /// What the items wait for.
    fn waiting(&self) -> BTreeMap<(LaunchId, ShardingItem), String> {
        let mut waiting = BTreeMap::new();
        for id in self.hub.launches() {
            for (item, state) in self.launches.waiting(&id) {
                if let ItemState::Waiting { why, .. } = state {
                    waiting.insert((id.clone(), item), why);
                }
            }
        }
        waiting
    }
}

#[cfg(test)]
mod tests {
    use elasticjob::fire::Fire;

    use super::super::wait::STEADY;
    use super::*;

    const NO_CPU: &str = "0/1 nodes are available: 1 Insufficient cpu";

    fn key(item: ShardingItem) -> (LaunchId, ShardingItem) {
        (LaunchId { job: JobName::new("work").unwrap(), fire: Fire::Scheduled(5_000) }, item)
    }

    fn look(waits: &Waits, waiting: &[(ShardingItem, &str)], now: i64) -> Vec<CarriedWait> {
        waits.see(waiting.iter().map(|(item, why)| (key(*item), (*why).to_owned())).collect(), now);
        waits.told("KUBERNETES").into_values().flatten().collect()
    }

    fn told(items: &[ShardingItem], why: &str, since: i64) -> CarriedWait {
        CarriedWait::new(Fire::Scheduled(5_000), items.iter().copied(), "KUBERNETES", why, since)
    }

    #[test]
    fn an_item_that_waits_for_long_is_told_until_it_starts() {
        let waits = Waits::default();
        assert_eq!(look(&waits, &[(0, NO_CPU), (1, NO_CPU)], 100), []);
        assert_eq!((waits.since(&key(0).0, 0), waits.since(&key(0).0, 2)), (Some(100), None));
        assert_eq!(look(&waits, &[(0, NO_CPU), (1, NO_CPU)], 100 + LONG - 1), []);
        assert_eq!(look(&waits, &[(0, NO_CPU), (1, NO_CPU)], 100 + LONG), [told(&[0, 1], NO_CPU, 100)]);
        assert_eq!(look(&waits, &[(1, NO_CPU)], 101 + LONG), [told(&[1], NO_CPU, 100)]);
        assert_eq!(look(&waits, &[], 102 + LONG), []);
        // One that is launched again waits from then on.
        assert_eq!(look(&waits, &[(1, NO_CPU)], 103 + LONG), []);
    }

    #[test]
    fn another_reason_is_told_when_it_has_stood_for_some_time() {
        let waits = Waits::default();
        look(&waits, &[(0, "2 CPU are free")], 0);
        let free_2 = [told(&[0], "2 CPU are free", 0)];
        assert_eq!(look(&waits, &[(0, "2 CPU are free")], LONG), free_2);
        // It changes all the time: that is not written all the time.
        for second in 1..8 {
            let why = format!("{} CPU are free", 2 + second % 2);
            assert_eq!(look(&waits, &[(0, &why)], LONG + second * 1_000), free_2, "{second}");
        }
        assert_eq!(look(&waits, &[(0, "3 CPU are free")], LONG + 6_999 + STEADY), free_2);
        assert_eq!(look(&waits, &[(0, "3 CPU are free")], LONG + 7_000 + STEADY), [told(&[0], "3 CPU are free", 0)]);
    }

    #[test]
    fn of_many_reasons_those_are_told_that_have_stood_longest() {
        let waits = Waits::default();
        let whys: Vec<String> = (0..20).map(|number| format!("reason {number}")).collect();
        let all: Vec<(ShardingItem, &str)> = (0..20).zip(whys.iter().map(String::as_str)).collect();
        look(&waits, &all[1..], 0);
        look(&waits, &all, 1);
        let told = look(&waits, &all, 1 + LONG);
        assert_eq!(told.len(), MOST);
        assert!(told.iter().all(|wait| wait.since == 0), "{told:?}");
    }
}
