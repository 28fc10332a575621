//! The runs of an item for an earlier fire that still go on: a run that an operator cancelled has its grace period, or was never told to
//! end, as its scheduler died. The item is launched again when it has ended.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use elasticjob::ident::{JobName, ShardingItem};
use elasticjob::log::{info, warn};
use futures_util::future::try_join_all;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::item_states::Hub;
use super::launch_marks::Note;
use crate::carrier::{Carrier, ItemState, ItemStates, LaunchId, Stop, StopCause};

/// The pause before the carrier is asked again.
const AGAIN: Duration = Duration::from_secs(5);

/// A launch so much older than the present one, in milliseconds, is not on its way any more: 8 days. What a cluster deletes by
/// itself goes 7 days after its end.
const LONG_AGO: i64 = 8 * 24 * 3_600_000;

/// What the carrier says of items of earlier fires.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// They have ended.
    pub(super) ended: Vec<ShardingItem>,
    /// The carrier does not know their launch, which is old: it is deleted, or at another place.
    pub(super) gone: Vec<ShardingItem>,
}

/// A launch of each item.
type ByItem<T = LaunchId> = HashMap<JobName, BTreeMap<ShardingItem, T>>;

/// The earlier launches. Cheap to clone.
#[derive(Clone)]
pub(super) struct Formers {
    carrier: Arc<dyn Carrier>,
    hub: Hub,
    /// The last launch of each item whose end was seen here.
    ended: Arc<Mutex<ByItem>>,
    stopped: Arc<Mutex<ByItem<Stopped>>>,
    /// The items that wait, by their launch, with the earlier one that they wait for.
    held: Arc<Mutex<BTreeMap<LaunchId, BTreeMap<ShardingItem, LaunchId>>>>,
}

/// The stops of an item here.
struct Stopped {
    /// The last launch that is to be stopped.
    id: LaunchId,
    /// The cause of its first stop.
    cause: StopCause,
    /// The last launch whose stop the carrier took. It is not stopped twice: many programs take a second signal for the wish that they
    /// end at once.
    taken: Option<LaunchId>,
}

/// An item that waits, until this is dropped.
pub(super) struct Held {
    formers: Formers,
    id: LaunchId,
    item: ShardingItem,
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut held = lock(&self.formers.held);
        let Some(of_launch) = held.get_mut(&self.id) else { return };
        of_launch.remove(&self.item);
        if of_launch.is_empty() {
            held.remove(&self.id);
        }
    }
}

impl Formers {
    pub(super) fn new(carrier: Arc<dyn Carrier>, hub: Hub) -> Self {
        Self { carrier, hub, ended: Arc::default(), stopped: Arc::default(), held: Arc::default() }
    }

    /// A process of this launch has ended, or never will begin.
    pub(super) fn saw_end(&self, id: &LaunchId, item: ShardingItem) {
        lock(&self.ended).entry(id.job.clone()).or_default().insert(item, id.clone());
    }

    /// Nothing of a job is there any more.
    pub(super) fn forget(&self, job: &JobName) {
        lock(&self.ended).remove(job);
        lock(&self.stopped).remove(job);
    }

    /// Stops an item as soon as the carrier takes it, whether anybody waits for that or not. When the scheduler ends before, the
    /// next launch of the item does it.
    pub(super) fn stop(&self, id: &LaunchId, item: ShardingItem, stop: Stop) -> JoinHandle<()> {
        self.note_stop(id, item, &stop.cause, false);
        self.stop_noted(id, item, stop)
    }

    /// Stops an item also where it was stopped before: the carrier may have got it since.
    pub(super) fn stop_again(&self, id: &LaunchId, item: ShardingItem, stop: Stop) -> JoinHandle<()> {
        self.note_stop(id, item, &stop.cause, true);
        self.stop_noted(id, item, stop)
    }

    fn stop_noted(&self, id: &LaunchId, item: ShardingItem, stop: Stop) -> JoinHandle<()> {
        let (formers, id) = (self.clone(), id.clone());
        tokio::spawn(async move {
            let mut was_refused = false;
            // A later launch of the item may have stopped it meanwhile.
            while !formers.is_stopped(&id, item) {
                match formers.carrier.stop(&id, &[item], stop.clone()).await {
                    Ok(()) => {
                        formers.note_taken(&id, item);
                        if was_refused {
                            info!("item {item} of {id} is stopped now");
                        }
                        return;
                    }
                    Err(error) if !was_refused => {
                        was_refused = true;
                        let seconds = AGAIN.as_secs();
                        warn!(
                            "item {item} of {id} was cut off, and goes on for now: {error}; the stop is tried again every \
                             {seconds} s"
                        );
                    }
                    Err(_) => {}
                }
                sleep(AGAIN).await;
            }
        })
    }

    /// Notes that an item is to be stopped, and with `again` that no stop of this launch counts as taken so far.
    fn note_stop(&self, id: &LaunchId, item: ShardingItem, cause: &StopCause, again: bool) {
        let mut stopped = lock(&self.stopped);
        let new = || Stopped { id: id.clone(), cause: cause.clone(), taken: None };
        let stops = stopped.entry(id.job.clone()).or_default().entry(item).or_insert_with(new);
        if stops.id != *id {
            (stops.id, stops.cause) = (id.clone(), cause.clone());
        }
        if again {
            stops.taken.take_if(|taken| taken == id);
        }
    }

    fn note_taken(&self, id: &LaunchId, item: ShardingItem) {
        if let Some(stops) = lock(&self.stopped).get_mut(&id.job).and_then(|items| items.get_mut(&item)) {
            stops.taken = Some(id.clone());
        }
    }

    /// True once the carrier has taken a stop of this launch of an item.
    fn is_stopped(&self, id: &LaunchId, item: ShardingItem) -> bool {
        of_item(&lock(&self.stopped), id, item).is_some_and(|stopped| stopped.taken.as_ref() == Some(id))
    }

    /// Why an item was stopped here first; `None` where it was not.
    pub(super) fn cause(&self, id: &LaunchId, item: ShardingItem) -> Option<StopCause> {
        of_item(&lock(&self.stopped), id, item).filter(|stopped| stopped.id == *id).map(|stopped| stopped.cause.clone())
    }

    /// The items that still run for an earlier fire, by its launch, or that may, as the launch is on its way.
    ///
    /// # Errors
    /// The carrier did not answer.
    pub(super) async fn running(
        &self,
        id: &LaunchId,
        items: impl Iterator<Item = ShardingItem>,
        noted: &Note,
        is_on_its_way: impl Fn(&LaunchId, ShardingItem) -> bool,
    ) -> Result<BTreeMap<LaunchId, Vec<ShardingItem>>, String> {
        let open = |(former, item): &(LaunchId, ShardingItem)| {
            of_item(&lock(&self.ended), former, *item).is_none_or(|ended| ended != former)
        };
        let mut formers = by_launch(noted.formers(id, items).filter(open));
        for (former, items) in &mut formers {
            let states = self.states(former).await?;
            items.retain(|item| is_on_its_way(former, *item) || states.get(item).is_some_and(ItemState::is_open));
        }
        formers.retain(|_, items| !items.is_empty());
        Ok(formers)
    }

    /// The items without a note that run for another launch all the same, by that launch: an embedded registry center loses the
    /// notes with its process, and what was launched by then goes on.
    ///
    /// # Errors
    /// The carrier did not answer.
    pub(super) async fn running_unnoted(
        &self,
        id: &LaunchId,
        items: impl Iterator<Item = ShardingItem>,
        noted: &Note,
    ) -> Result<BTreeMap<LaunchId, Vec<ShardingItem>>, String> {
        let mut items: Vec<ShardingItem> = items.filter(|item| !noted.has(*item)).collect();
        let mut formers = BTreeMap::new();
        if items.is_empty() {
            return Ok(formers);
        }
        let launches = self.carrier.launches_of(&id.job).await.map_err(|error| error.to_string())?;
        let others = launches.into_iter().filter(|former| former != id);
        let states = others.map(|former| async move { Ok::<_, String>((self.states(&former).await?, former)) });
        for (states, former) in try_join_all(states).await? {
            let is_open = |item: &mut ShardingItem| states.get(item).is_some_and(ItemState::is_open);
            // One that runs for two of them is looked at again when it has ended for the first.
            let open: Vec<ShardingItem> = items.extract_if(.., is_open).collect();
            if !open.is_empty() {
                formers.insert(former, open);
            }
        }
        Ok(formers)
    }

    /// What is known of items whose earlier fire is noted.
    ///
    /// # Errors
    /// The carrier did not answer.
    pub(super) async fn known(
        &self,
        id: &LaunchId,
        items: impl Iterator<Item = ShardingItem>,
        noted: &Note,
    ) -> Result<Known, String> {
        let mut known = Known::default();
        for (former, items) in by_launch(noted.formers(id, items)) {
            let states = self.states(&former).await?;
            let is_old = id.fire.at().saturating_sub(former.fire.at()) > LONG_AGO;
            for item in items {
                match states.get(&item) {
                    Some(state) if !state.is_open() => known.ended.push(item),
                    None if is_old => known.gone.push(item),
                    Some(_) | None => {}
                }
            }
        }
        Ok(known)
    }

    async fn states(&self, id: &LaunchId) -> Result<ItemStates, String> {
        Ok(self.carrier.states(id).await.map_err(|error| error.to_string())?.unwrap_or_default())
    }

    /// An item of a launch waits for an earlier one.
    pub(super) fn hold(&self, id: &LaunchId, item: ShardingItem, former: &LaunchId) -> Held {
        lock(&self.held).entry(id.clone()).or_default().insert(item, former.clone());
        Held { formers: self.clone(), id: id.clone(), item }
    }

    /// What the items of a launch wait for here.
    pub(super) fn waiting(&self, id: &LaunchId) -> ItemStates {
        let why = |former: &LaunchId| ItemState::waiting(format!("its process of {former} has not ended"));
        lock(&self.held).get(id).into_iter().flatten().map(|(item, former)| (*item, why(former))).collect()
    }

    /// Waits until an item of an earlier launch has ended, as long as a later one waits for that, and stops it where that is wanted. A
    /// carrier need not tell the ends of what another scheduler launched, so it is asked again.
    pub(super) async fn end(
        &self,
        former: &LaunchId,
        item: ShardingItem,
        stop: Option<Stop>,
        is_wanted: impl Fn() -> bool,
    ) {
        let mut following = self.hub.follow(former, item);
        if let Some(stop) = stop {
            drop(self.stop(former, item, stop));
        }
        loop {
            self.hub.accepted(former, &[item]).await;
            if timeout(AGAIN, following.over()).await.is_ok() {
                return self.saw_end(former, item);
            }
            if !is_wanted() {
                return;
            }
        }
    }
}

pub(super) fn by_launch(
    items: impl Iterator<Item = (LaunchId, ShardingItem)>,
) -> BTreeMap<LaunchId, Vec<ShardingItem>> {
    let mut launches: BTreeMap<LaunchId, Vec<ShardingItem>> = BTreeMap::new();
    for (id, item) in items {
        launches.entry(id).or_default().push(item);
    }
    launches
}

fn of_item<'a, T>(launches: &'a ByItem<T>, id: &LaunchId, item: ShardingItem) -> Option<&'a T> {
    launches.get(&id.job)?.get(&item)
}

fn lock<T>(launches: &Mutex<T>) -> MutexGuard<'_, T> {
    launches.lock().unwrap_or_else(PoisonError::into_inner)
}
