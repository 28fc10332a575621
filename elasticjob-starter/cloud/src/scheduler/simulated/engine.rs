//! The engine behind the modelled carrier: it keeps the truth of what ran.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use elasticjob::ident::ShardingItem;
use elasticjob::testing::rng::Rng;
use tokio::time::{Instant, sleep};

use crate::carrier::{EventSender, ItemState, ItemStates, Launch, LaunchEvent, LaunchId, Launched, Outcome};

/// How often an item is started that is lost each time.
const ATTEMPTS: u32 = 3;

/// An engine. Clones are the same one.
#[derive(Clone)]
pub(super) struct Engine(Arc<Mutex<Inner>>);

struct Inner {
    rng: Rng,
    /// When the history began.
    began: Instant,
    launches: BTreeMap<LaunchId, BTreeMap<ShardingItem, Life>>,
    events: EventSender,
    /// It answers no carrier until then.
    away: Instant,
}

/// What became of an item.
#[derive(Debug, Clone)]
pub(super) struct Life {
    pub(super) state: ItemState,
    /// When the engine accepted it, from the begin of the history on.
    pub(super) accepted: Duration,
    /// How often its program began.
    pub(super) begun: u32,
    /// How often its place was lost.
    pub(super) lost: u32,
}

impl Engine {
    pub(super) fn new(seed: u64, began: Instant) -> Self {
        let inner = Inner {
            rng: Rng::new(seed),
            began,
            launches: BTreeMap::new(),
            events: EventSender::default(),
            away: Instant::now(),
        };
        Self(Arc::new(Mutex::new(inner)))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap()
    }

    pub(super) fn events(&self) -> EventSender {
        self.lock().events.clone()
    }

    pub(super) fn is_away(&self) -> bool {
        Instant::now() < self.lock().away
    }

    /// Is away for a while.
    pub(super) fn leave(&self, time: Duration) {
        self.lock().away = Instant::now() + time;
    }

    /// Accepts items. Those that are known are adopted.
    pub(super) fn launch(&self, launch: &Launch) -> Launched {
        let mut launched = Launched::default();
        let mut inner = self.lock();
        let accepted = inner.began.elapsed();
        let lives = inner.launches.entry(launch.id.clone()).or_default();
        for item in &launch.items {
            if lives.contains_key(&item.item) {
                launched.adopted.push(item.item);
                continue;
            }
            let state = ItemState::waiting("it is queued");
            lives.insert(item.item, Life { state, accepted, begun: 0, lost: 0 });
            launched.started.push(item.item);
        }
        drop(inner);
        for item in &launched.started {
            tokio::spawn(self.clone().live(launch.id.clone(), *item, launch.replaces_lost()));
        }
        launched
    }

    /// The life of an item: it waits, runs, ends, or loses its place.
    async fn live(self, id: LaunchId, item: ShardingItem, replaces_lost: bool) {
        for attempt in 1..=ATTEMPTS {
            self.pass(2_000).await;
            let running = ItemState::Running { place: format!("node {attempt}"), since: 0, attempt };
            self.change(&id, item, running, |life| life.begun += 1);
            self.pass(20_000).await;
            let chance = self.lock().rng.below(10);
            if chance > 1 {
                let failed = || Outcome::Failed { exit: Some(3), text: "the table is locked".to_owned() };
                let outcome = if chance > 3 { Outcome::Succeeded } else { failed() };
                return self.change(&id, item, outcome.into(), |_| ());
            }
            if !replaces_lost || attempt == ATTEMPTS {
                let lost = Outcome::Lost { why: "its node failed".to_owned() };
                return self.change(&id, item, lost.into(), |life| life.lost += 1);
            }
            self.change(&id, item, ItemState::waiting("its node failed"), |life| life.lost += 1);
        }
    }

    async fn pass(&self, most: u64) {
        let time = self.lock().rng.below(most);
        sleep(Duration::from_millis(time)).await;
    }

    fn change(&self, id: &LaunchId, item: ShardingItem, state: ItemState, count: impl FnOnce(&mut Life)) {
        let mut inner = self.lock();
        let life = inner.launches.get_mut(id).and_then(|lives| lives.get_mut(&item)).unwrap();
        life.state = state.clone();
        count(life);
        inner.events.send(LaunchEvent::Changed { id: id.clone(), item, state });
    }

    pub(super) fn states(&self, id: &LaunchId) -> Option<ItemStates> {
        let inner = self.lock();
        let lives = inner.launches.get(id)?;
        Some(lives.iter().map(|(item, life)| (*item, life.state.clone())).collect())
    }

    pub(super) fn ids(&self) -> Vec<LaunchId> {
        self.lock().launches.keys().cloned().collect()
    }

    /// All items and what became of them.
    pub(super) fn lives(&self) -> Vec<(LaunchId, ShardingItem, Life)> {
        let inner = self.lock();
        let of = |(id, lives): (&LaunchId, &BTreeMap<ShardingItem, Life>)| {
            lives.iter().map(|(item, life)| (id.clone(), *item, life.clone())).collect::<Vec<_>>()
        };
        inner.launches.iter().flat_map(of).collect()
    }
}
