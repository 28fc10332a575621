//! The engine behind the modelled carrier: it keeps the truth of what ran.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use elasticjob::ident::ShardingItem;
use elasticjob::testing::rng::Rng;
use tokio::time::{Instant, sleep};

use crate::carrier::{
    EventSender, ItemState, ItemStates, Launch, LaunchEvent, LaunchId, Launched, Outcome, Permit, Stop, StopCause,
};

/// How often an item is started that is lost each time.
const ATTEMPTS: u32 = 3;

/// The longest time in milliseconds that an attempt of an item of the long fire runs.
const LONG: u64 = 1_000_000;

/// An engine. Clones are the same one.
#[derive(Clone)]
pub(super) struct Engine(Arc<Mutex<Inner>>);

struct Inner {
    rng: Rng,
    /// When the history began.
    began: Instant,
    launches: BTreeMap<LaunchId, BTreeMap<ShardingItem, Life>>,
    /// What it had of launches that it was told to forget.
    forgotten: Vec<(LaunchId, BTreeMap<ShardingItem, Life>)>,
    /// The lives that it began: each has another number.
    lives: u64,
    /// The items of the fire of this time run much longer than others.
    long: Option<i64>,
    events: EventSender,
    overlaps: Vec<Overlap>,
    /// It answers no carrier until then.
    away: Instant,
    /// Whether it is a part of its scheduler, as the processes of a host are: then it starts nothing that may not be started any
    /// more.
    asks_for_permits: bool,
}

/// An item that ran for two fires at a time.
#[derive(Debug, Clone)]
pub(super) struct Overlap {
    pub(super) item: ShardingItem,
    pub(super) fires: (i64, i64),
    /// When the engine accepted it for the earlier fire.
    pub(super) accepted: Duration,
}

/// What became of an item.
#[derive(Debug, Clone)]
pub(super) struct Life {
    number: u64,
    pub(super) state: ItemState,
    /// When the engine accepted it, from the begin of the history on.
    pub(super) accepted: Duration,
    /// How often its program began.
    pub(super) begun: u32,
    /// When its program began last.
    pub(super) last_begin: Option<Duration>,
    /// How often its place was lost.
    pub(super) lost: u32,
    /// That of the last launch that named it.
    permit: Permit,
    /// Why it was stopped first.
    stopped: Option<StopCause>,
}

impl Engine {
    pub(super) fn new(seed: u64, began: Instant, asks_for_permits: bool) -> Self {
        let inner = Inner {
            rng: Rng::new(seed),
            began,
            launches: BTreeMap::new(),
            forgotten: Vec::new(),
            lives: 0,
            long: None,
            events: EventSender::default(),
            overlaps: Vec::new(),
            away: Instant::now(),
            asks_for_permits,
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
        let mut begun = Vec::new();
        let mut inner = self.lock();
        let (accepted, mut number, asks) = (inner.began.elapsed(), inner.lives, inner.asks_for_permits);
        let lives = inner.launches.entry(launch.id.clone()).or_default();
        for item in &launch.items {
            if asks && item.permit.is_withdrawn() {
                continue;
            }
            if let Some(known) = lives.get_mut(&item.item).filter(|known| known.state != ItemState::LetGo) {
                known.permit = item.permit.clone();
                launched.adopted.push(item.item);
                continue;
            }
            number += 1;
            let state = ItemState::waiting("it is queued");
            let permit = item.permit.clone();
            let life = Life { number, state, accepted, begun: 0, last_begin: None, lost: 0, permit, stopped: None };
            lives.insert(item.item, life);
            launched.started.push(item.item);
            begun.push((item.item, number));
        }
        inner.lives = number;
        drop(inner);
        for (item, number) in begun {
            tokio::spawn(self.clone().live(launch.id.clone(), item, number, launch.replaces_lost()));
        }
        launched
    }

    /// Ends items within a grace period. Those that it does not know, or that have ended, stay as they are.
    pub(super) fn stop(&self, id: &LaunchId, items: &[ShardingItem], stop: &Stop) {
        let mut inner = self.lock();
        let Some(lives) = inner.launches.get_mut(id) else { return };
        for item in items {
            let Some(life) = lives.get_mut(item).filter(|life| life.state.is_open()) else { continue };
            let cause = life.stopped.get_or_insert_with(|| stop.cause.clone()).clone();
            let (engine, id, item, number) = (self.clone(), id.clone(), *item, life.number);
            let grace = u64::try_from(stop.grace.as_millis()).unwrap();
            tokio::spawn(async move {
                engine.pass(grace).await;
                let ended = ItemState::from(Outcome::Stopped).stopped_for(Some(cause));
                engine.change((&id, item, number), ended, |_| ());
            });
        }
    }

    /// The items that ran for two fires at a time.
    pub(super) fn overlaps(&self) -> Vec<Overlap> {
        self.lock().overlaps.clone()
    }

    /// Deletes what it has of a launch. What still runs is killed.
    pub(super) fn forget(&self, id: &LaunchId) {
        let mut inner = self.lock();
        if let Some(lives) = inner.launches.remove(id) {
            inner.forgotten.push((id.clone(), lives));
        }
    }

    /// Has the items of the fire of this time run much longer than others.
    pub(super) fn make_long(&self, at: i64) {
        self.lock().long = Some(at);
    }

    /// The launches that it was told to forget, and what it killed by it.
    pub(super) fn forgotten(&self) -> (usize, Vec<(LaunchId, ShardingItem)>) {
        let inner = self.lock();
        let live = |(id, lives): &(LaunchId, BTreeMap<ShardingItem, Life>)| {
            let live = lives.iter().filter(|(_, life)| life.state.is_open());
            live.map(|(item, _)| (id.clone(), *item)).collect::<Vec<_>>()
        };
        (inner.forgotten.len(), inner.forgotten.iter().flat_map(live).collect())
    }

    /// The life of an item: it waits, runs, ends, or loses its place.
    async fn live(self, id: LaunchId, item: ShardingItem, number: u64, replaces_lost: bool) {
        let key = (&id, item, number);
        let longest = if self.lock().long == Some(id.fire.at()) { LONG } else { 20_000 };
        for attempt in 1..=ATTEMPTS {
            self.pass(2_000).await;
            if self.lets_go(key) {
                return;
            }
            let began = self.lock().began.elapsed();
            let running = ItemState::Running { place: format!("node {attempt}"), since: 0, attempt, lost: None };
            self.change(key, running, |life| {
                life.begun += 1;
                life.last_begin = Some(began);
            });
            self.pass(longest).await;
            let chance = self.lock().rng.below(10);
            if chance > 1 {
                let failed = || Outcome::Failed { exit: Some(3), text: "the table is locked".to_owned() };
                let outcome = if chance > 3 { Outcome::Succeeded } else { failed() };
                return self.change(key, outcome.into(), |_| ());
            }
            if !replaces_lost || attempt == ATTEMPTS {
                let lost = Outcome::Lost { why: "its node failed".to_owned() };
                return self.change(key, lost.into(), |life| life.lost += 1);
            }
            self.change(key, ItemState::waiting("its node failed"), |life| life.lost += 1);
        }
    }

    /// Lets go of an item that may not be started any more, unless it is stopped. One that ran and was lost stays so.
    fn lets_go(&self, (id, item, number): (&LaunchId, ShardingItem, u64)) -> bool {
        let mut inner = self.lock();
        let asks = inner.asks_for_permits;
        let Some(lives) = inner.launches.get_mut(id).filter(|_| asks) else { return false };
        let life = lives.get_mut(&item).filter(|life| life.number == number && life.stopped.is_none());
        let Some(life) = life.filter(|life| life.permit.is_withdrawn()) else { return false };
        life.state = match life.begun {
            0 => ItemState::LetGo,
            _ => Outcome::Lost { why: "its node failed".to_owned() }.into(),
        };
        true
    }

    async fn pass(&self, most: u64) {
        let time = self.lock().rng.below(most);
        sleep(Duration::from_millis(time)).await;
    }

    fn change(
        &self,
        (id, item, number): (&LaunchId, ShardingItem, u64),
        state: ItemState,
        count: impl FnOnce(&mut Life),
    ) {
        let mut inner = self.lock();
        // It was forgotten, and may have been launched again since.
        let Some(life) = inner.launches.get_mut(id).and_then(|lives| lives.get_mut(&item)) else { return };
        // An end is final.
        if life.number != number || life.state.outcome().is_some() {
            return;
        }
        life.state = state.clone();
        count(life);
        if matches!(state, ItemState::Running { .. }) {
            let of_item = inner.launches.iter().filter_map(|(id, lives)| Some((id.fire.at(), lives.get(&item)?)));
            let mut run: Vec<_> = of_item.filter(|(_, life)| matches!(life.state, ItemState::Running { .. })).collect();
            run.sort_unstable_by_key(|(at, _)| *at);
            if let [(earlier, life), (later, _), ..] = run[..] {
                let overlap = Overlap { item, fires: (earlier, later), accepted: life.accepted };
                inner.overlaps.push(overlap);
            }
        }
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
        let forgotten = inner.forgotten.iter().map(|(id, lives)| (id, lives));
        inner.launches.iter().chain(forgotten).flat_map(of).collect()
    }
}
