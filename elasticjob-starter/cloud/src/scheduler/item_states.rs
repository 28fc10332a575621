//! Follows the states of launched items for this scheduler, as the carrier reports them.

mod unread;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use elasticjob::ident::ShardingItem;
use elasticjob::log::warn;
use futures_util::stream::{FuturesUnordered, StreamExt, iter};
use tokio::sync::watch;
use tokio::task::AbortHandle;

use self::unread::{AT_A_TIME, Unread};
use super::place_losses::Losses;
use crate::carrier::{
    Carrier, CarrierError, ItemState, ItemStates, LaunchEvent, LaunchId, LostPlace, Outcome, StopCause,
};

/// The pause before the carrier is asked again.
pub(super) const AGAIN: Duration = Duration::from_secs(1);

/// What an item waits for that the carrier was not asked for so far, or of which it says nothing.
const BEING_LAUNCHED: &str = "it is being launched";

/// The items that are waited for. Cheap to clone.
#[derive(Clone)]
pub(super) struct Hub {
    carrier: Arc<dyn Carrier>,
    followed: Arc<Mutex<BTreeMap<LaunchId, Launched>>>,
    /// Numbers what is heard of items.
    numbers: Arc<AtomicU64>,
    losses: Losses,
    task: Arc<TaskGuard>,
}

/// Ends the task with the last clone.
struct TaskGuard(Mutex<Option<AbortHandle>>);

impl Drop for TaskGuard {
    fn drop(&mut self) {
        let task = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        task.iter().for_each(AbortHandle::abort);
    }
}

type Launched = BTreeMap<ShardingItem, Followed>;

struct Followed {
    state: watch::Sender<Option<ItemState>>,
    /// Whether the carrier accepted it: only then it can be lost.
    accepted: bool,
    /// Why the carrier has not taken it so far; nothing while it was not asked.
    not_taken: Option<String>,
    /// The attempt that ran last, as far as this scheduler saw it, and where.
    ran: Option<(u32, String)>,
    /// The last attempt whose place is known to be lost; 0 where none is.
    lost: u32,
    /// The number of the last event, or of the begin of the last read, that its state is of.
    as_of: u64,
}

impl Followed {
    fn new() -> Self {
        Self { state: watch::Sender::new(None), accepted: false, not_taken: None, ran: None, lost: 0, as_of: 0 }
    }
}

/// An item that is waited for, until this is dropped.
pub(super) struct Following {
    hub: Hub,
    id: LaunchId,
    item: ShardingItem,
    state: watch::Receiver<Option<ItemState>>,
}

impl Drop for Following {
    fn drop(&mut self) {
        let mut followed = self.hub.lock();
        let Some(launched) = followed.get_mut(&self.id) else { return };
        if launched.get(&self.item).is_some_and(|it| it.state.receiver_count() <= 1) {
            launched.remove(&self.item);
        }
        if launched.is_empty() {
            followed.remove(&self.id);
        }
    }
}

impl Following {
    /// Completes when the item has ended: how, and why it was stopped, where it was and the carrier knows that.
    pub(super) async fn end(&mut self) -> (Outcome, Option<StopCause>) {
        let ended = |state: &Option<ItemState>| state.as_ref().is_some_and(|state| state.outcome().is_some());
        match self.state.wait_for(ended).await.ok().and_then(|state| state.clone()) {
            Some(ItemState::Ended { outcome, stopped }) => (outcome, stopped),
            // The sender lives as long as this does.
            _ => std::future::pending().await,
        }
    }

    /// Whether the carrier is known to have the item.
    pub(super) fn is_accepted(&self) -> bool {
        self.hub.lock().get(&self.id).and_then(|launched| launched.get(&self.item)).is_some_and(|it| it.accepted)
    }

    /// Asks the carrier for its state as it is now; `None` where the carrier does not know it.
    pub(super) fn asked(&self) -> impl Future<Output = Result<Option<ItemState>, CarrierError>> + Send + use<> {
        let (carrier, id, item) = (self.hub.carrier.clone(), self.id.clone(), self.item);
        async move { Ok(carrier.states(&id).await?.and_then(|mut states| states.remove(&item))) }
    }

    /// Its states as they change; `None` while nothing is known of it. Drop them before this: with them the item counts as waited for.
    pub(super) fn states(&self) -> watch::Receiver<Option<ItemState>> {
        self.state.clone()
    }

    /// Completes when the process of the item has ended, or does not begin without another launch.
    pub(super) async fn over(&mut self) {
        // The sender lives as long as this does.
        let _ = self.state.wait_for(|state| state.as_ref().is_some_and(|state| !state.is_open())).await;
    }
}

impl Hub {
    /// Begins to listen to the carrier. It needs a tokio runtime.
    pub(super) fn new(carrier: Arc<dyn Carrier>, losses: Losses) -> Self {
        let task = Arc::new(TaskGuard(Mutex::new(None)));
        let hub = Self { carrier, followed: Arc::default(), numbers: Arc::default(), losses, task };
        let task = tokio::spawn(hub.listening().listen()).abort_handle();
        *hub.task.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
        hub
    }

    /// Waits for an item from now on.
    pub(super) fn follow(&self, id: &LaunchId, item: ShardingItem) -> Following {
        let mut followed = self.lock();
        let item_of = followed.entry(id.clone()).or_default().entry(item).or_insert_with(Followed::new);
        let state = item_of.state.subscribe();
        drop(followed);
        Following { hub: self.clone(), id: id.clone(), item, state }
    }

    /// The carrier accepted these items: from now on their states count.
    pub(super) async fn accepted(&self, id: &LaunchId, items: &[ShardingItem]) {
        if let Some(launched) = self.lock().get_mut(id) {
            for (_, followed) in launched.iter_mut().filter(|(item, _)| items.contains(item)) {
                (followed.accepted, followed.not_taken) = (true, None);
            }
        }
        self.listening().refresh(id).await;
    }

    /// The carrier has not taken these items, and is asked again.
    pub(super) fn not_taken(&self, id: &LaunchId, items: impl Iterator<Item = ShardingItem>, why: &str) {
        self.tell_not_taken(id, items, Some(why));
    }

    /// The carrier is asked for these items now.
    pub(super) fn is_being_launched(&self, id: &LaunchId, items: impl Iterator<Item = ShardingItem>) {
        self.tell_not_taken(id, items, None);
    }

    fn tell_not_taken(&self, id: &LaunchId, items: impl Iterator<Item = ShardingItem>, why: Option<&str>) {
        let mut followed = self.lock();
        let Some(launched) = followed.get_mut(id) else { return };
        for item in items {
            if let Some(followed) = launched.get_mut(&item) {
                followed.not_taken = why.map(str::to_owned);
            }
        }
    }

    /// Ends the wait for an item of which something is known that the carrier does not know. Its end is told with its run, not
    /// as a lost place: it may never have had one.
    pub(super) fn settle(&self, id: &LaunchId, item: ShardingItem, outcome: Outcome) {
        let mut followed = self.lock();
        if let Some(followed) = followed.get_mut(id).and_then(|launched| launched.get_mut(&item)) {
            followed.take(outcome.into());
        }
    }

    /// Reads all states again that are waited for, each once.
    ///
    /// # Errors
    /// [`CarrierError`] of a launch that could not be read. All others were read.
    pub(super) async fn refresh_all(&self) -> Result<(), CarrierError> {
        let listening = self.listening();
        let reads: Vec<_> = self.launches().into_iter().map(|id| listening.read(id)).collect();
        let reads = iter(reads).buffer_unordered(AT_A_TIME);
        reads.fold(Ok(()), async |all, (_, read)| all.and(read)).await
    }

    /// The launches that are waited for.
    pub(super) fn launches(&self) -> Vec<LaunchId> {
        self.lock().keys().cloned().collect()
    }

    /// The items of a launch that are waited for and whose process is not known to run, each with what it waits for.
    pub(super) fn waiting(&self, id: &LaunchId) -> ItemStates {
        let followed = self.lock();
        let items = followed.get(id).into_iter().flatten();
        items.filter_map(|(item, followed)| Some((*item, followed.waiting()?))).collect()
    }

    /// Whether a launch is waited for here.
    pub(super) fn follows(&self, id: &LaunchId) -> bool {
        self.lock().contains_key(id)
    }

    /// Whether an item is waited for here.
    pub(super) fn follows_item(&self, id: &LaunchId, item: ShardingItem) -> bool {
        self.lock().get(id).is_some_and(|launched| launched.contains_key(&item))
    }

    fn listening(&self) -> Listening {
        Listening {
            carrier: self.carrier.clone(),
            followed: self.followed.clone(),
            numbers: self.numbers.clone(),
            losses: self.losses.clone(),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<LaunchId, Launched>> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The part of the hub that its own task has: without the guard that ends the task.
struct Listening {
    carrier: Arc<dyn Carrier>,
    followed: Arc<Mutex<BTreeMap<LaunchId, Launched>>>,
    numbers: Arc<AtomicU64>,
    losses: Losses,
}

impl Listening {
    /// Takes events, and reads what may be missed beside them: a launch that cannot be read keeps no news of another one.
    async fn listen(self) {
        let mut events = self.carrier.watch();
        let (mut unread, mut reads) = (Unread::default(), FuturesUnordered::new());
        loop {
            while let Some(id) = unread.pop() {
                reads.push(self.read(id));
            }
            tokio::select! {
                event = events.next() => match event {
                    None => return,
                    Some(LaunchEvent::Gap) => unread.extend(self.lock().keys().cloned()),
                    Some(LaunchEvent::Changed { id, item, state }) => self.tell(&id, item, state),
                },
                Some((id, read)) = reads.next(), if !reads.is_empty() => unread.was_read(id, read),
                () = unread.until_again() => unread.read_again(),
            }
        }
    }

    /// Reads the states of a launch. A carrier that does not answer is asked again, as long as the launch is waited for.
    async fn refresh(&self, id: &LaunchId) {
        while let (_, Err(error)) = self.read(id.clone()).await {
            warn!("{error}; still waiting for the launch {id}, and asking the carrier again");
            tokio::time::sleep(AGAIN).await;
        }
    }

    /// Reads the states of a launch once, if it is waited for.
    async fn read(&self, id: LaunchId) -> (LaunchId, Result<(), CarrierError>) {
        let begun = self.numbers.fetch_add(1, Ordering::SeqCst) + 1;
        if !self.lock().contains_key(&id) {
            return (id, Ok(()));
        }
        let accepted = self.accepted(&id);
        let states = self.carrier.states(&id).await;
        let read = states.map(|states| self.take_over(&id, states.unwrap_or_default(), &accepted, begun));
        (id, read)
    }

    /// The items of a launch that the carrier accepted.
    fn accepted(&self, id: &LaunchId) -> BTreeSet<ShardingItem> {
        let followed = self.lock();
        let launched = followed.get(id).into_iter().flatten();
        launched.filter(|(_, followed)| followed.accepted).map(|(item, _)| *item).collect()
    }

    /// Takes over an answer of the carrier. What it accepted after it was asked may be missing in the answer, and what it told
    /// meanwhile may be later.
    fn take_over(&self, id: &LaunchId, mut states: ItemStates, accepted_before: &BTreeSet<ShardingItem>, begun: u64) {
        let mut followed = self.lock();
        for (item, followed) in followed.get_mut(id).into_iter().flatten().filter(|(_, it)| it.as_of < begun) {
            followed.as_of = begun;
            let gone = || ItemState::from(Outcome::Lost { why: "the carrier does not know it any more".to_owned() });
            let state = states.remove(item).or_else(|| accepted_before.contains(item).then(gone));
            if let Some(state) = state
                && let Some(lost) = followed.hear(state)
            {
                self.losses.tell(id, *item, &lost);
            }
        }
    }

    fn tell(&self, id: &LaunchId, item: ShardingItem, state: ItemState) {
        let mut followed = self.lock();
        let Some(followed) = followed.get_mut(id).and_then(|launched| launched.get_mut(&item)) else { return };
        followed.as_of = self.numbers.fetch_add(1, Ordering::SeqCst) + 1;
        if let Some(lost) = followed.hear(state) {
            self.losses.tell(id, item, &lost);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<LaunchId, Launched>> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place that is lost by a state, where `ran` is the attempt that ran last, and `told` the last one whose place is known to be
/// lost. An item that is lost and was not seen to run has lost no place that anybody could look at.
fn lost_since(ran: Option<&(u32, String)>, state: &ItemState, told: u32) -> Option<LostPlace> {
    match state.outcome() {
        Some(Outcome::Lost { why }) => {
            let (attempt, place) = ran.filter(|(attempt, _)| *attempt > told)?;
            Some(LostPlace::new(*attempt, Some(place.clone()), why.clone()))
        }
        _ => state.lost().filter(|lost| lost.attempt > told).cloned(),
    }
}

impl Followed {
    /// What it waits for, unless its process runs or has ended.
    fn waiting(&self) -> Option<ItemState> {
        match &*self.state.borrow() {
            Some(state) => matches!(state, ItemState::Waiting { .. }).then(|| state.clone()),
            // The carrier has it, and has not been read since.
            None if self.accepted => None,
            None => Some(ItemState::waiting(self.not_taken.as_deref().unwrap_or(BEING_LAUNCHED))),
        }
    }

    /// Takes what the carrier says. What it lost before it accepted the launch runs again by it, where it may. Returns the place that
    /// is lost since the last state.
    fn hear(&mut self, state: ItemState) -> Option<LostPlace> {
        if self.accepted || !matches!(state.outcome(), Some(Outcome::Lost { .. })) { self.take(state) } else { None }
    }

    /// An end is final: an event that comes late does not take it back.
    fn take(&mut self, state: ItemState) -> Option<LostPlace> {
        let (mut lost, ran) = (None, &mut self.ran);
        self.state.send_if_modified(|known| {
            let is_new = known.as_ref() != Some(&state) && known.as_ref().is_none_or(|known| known.outcome().is_none());
            if is_new {
                lost = lost_since(ran.as_ref(), &state, self.lost);
                if let ItemState::Running { place, attempt, .. } = &state {
                    *ran = Some((*attempt, place.clone()));
                }
                *known = Some(state);
            }
            is_new
        });
        self.lost = lost.as_ref().map_or(self.lost, |lost| lost.attempt);
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The places that are told to be lost while an item goes through these states.
    fn told(states: impl IntoIterator<Item = ItemState>) -> Vec<LostPlace> {
        let mut followed = Followed { accepted: true, ..Followed::new() };
        states.into_iter().filter_map(|state| followed.hear(state)).collect()
    }

    fn place(attempt: u32, place: &str, why: &str) -> LostPlace {
        LostPlace::new(attempt, Some(place.to_owned()), why)
    }

    #[test]
    fn each_lost_place_is_news_once() {
        let (first, second) = (place(1, "n1", "evicted"), place(2, "n2", "its node is gone"));
        let runs = ItemState::running("n1", 5);
        let again = ItemState::waiting("no room").after(Some(first.clone()));
        let on_second = ItemState::running("n2", 9).after(Some(first.clone()));
        let silent = ItemState::waiting("its node does not answer").after(Some(first.clone()));
        let lost = ItemState::from(Outcome::Lost { why: "its node is gone".to_owned() });
        let both = vec![first.clone(), second];
        assert_eq!(told([runs.clone(), again.clone(), on_second.clone(), lost.clone()]), both);
        assert_eq!(told([runs.clone(), again.clone(), on_second, silent, lost.clone()]), both, "its node was silent");
        // A scheduler that adopts it hears of it, too.
        assert_eq!(told([again.clone()]), std::slice::from_ref(&first));
        assert_eq!(told([runs.clone(), again, lost.clone()]), [first], "it did not run again");
        assert_eq!(told([runs.clone(), Outcome::Succeeded.into()]), []);
        assert_eq!(told([ItemState::waiting("no room"), lost.clone()]), [], "it never ran");
        // What the carrier lost before it took the launch runs again by it.
        assert_eq!(Followed::new().hear(lost), None);
    }

    #[test]
    fn an_item_that_the_carrier_took_waits_only_where_the_carrier_says_so() {
        let mut followed = Followed::new();
        assert_eq!(followed.waiting(), Some(ItemState::waiting(BEING_LAUNCHED)));
        followed.not_taken = Some("no engine".to_owned());
        assert_eq!(followed.waiting(), Some(ItemState::waiting("no engine")));
        followed.accepted = true;
        assert_eq!(followed.waiting(), None);
        followed.hear(ItemState::waiting("no room"));
        assert_eq!(followed.waiting(), Some(ItemState::waiting("no room")));
        followed.hear(ItemState::running("n1", 5));
        assert_eq!(followed.waiting(), None);
    }
}
