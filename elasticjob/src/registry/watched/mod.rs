//! A registry center whose nodes are read once: answers are kept as long as one watch of the whole namespace says that
//! they are current.
//!
//! It is made for views: of a namespace at rest any number of pages needs no request, and after a change only the changed
//! nodes are read again, when a reader asks for them. The watch starts with the first question, and is given up when no
//! reader has asked for five minutes.
//!
//! While the registry center is lost, what is known is still answered, as of the time of the loss (see
//! [`WatchedRegistry::lost_since`]); a question about other nodes fails.

mod known;

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::Instant;

pub(crate) use self::known::Gone;
use self::known::Known;
use super::nodes::is_at_or_below;
use super::{
    Answer, CommitError, Committed, Moment, NodeData, Proof, RegistryCenter, RequestCount, SessionState, Transaction,
    WatchEvent, WatchStream,
};
use crate::ident::JobName;

/// Answers questions about nodes from what it was answered before, as long as that is current. Clones are the same.
///
/// It must be used within a Tokio runtime.
#[derive(Clone)]
pub struct WatchedRegistry {
    shared: Arc<Shared>,
}

struct Shared {
    center: Arc<dyn RegistryCenter>,
    /// The node that is watched, with all below it.
    root: String,
    state: Mutex<State>,
    /// The number of the last event.
    events: watch::Sender<u64>,
}

struct State {
    known: Known,
    /// `None` before the first question, and after the end of the watch.
    stream: Option<Box<dyn WatchStream>>,
    /// Wakes the task that follows the watch: also after a question has taken the events that were there.
    waker: Waker,
    task: Option<AbortHandle>,
    lost_since: Option<i64>,
    /// When a reader asked last.
    looked: Instant,
    /// No reader asked for long: the watch was given up, and starts again with the next question.
    is_resting: bool,
}

/// The watch is given up when no reader has asked for so long, and none follows the changes.
const IDLE: Duration = Duration::from_secs(300);

impl WatchedRegistry {
    /// Reads from this registry center.
    pub fn new(center: Arc<dyn RegistryCenter>) -> Self {
        Self::below(center, "/")
    }

    /// The same for one node and what is below it. Other nodes are read again with each question.
    pub fn below(center: Arc<dyn RegistryCenter>, root: impl Into<String>) -> Self {
        let state = State {
            known: Known::new(),
            stream: None,
            waker: Waker::noop().clone(),
            task: None,
            lost_since: None,
            looked: Instant::now(),
            is_resting: false,
        };
        let (root, events) = (root.into(), watch::Sender::new(0));
        Self { shared: Arc::new(Shared { center, root, state: Mutex::new(state), events }) }
    }

    /// The registry center that is read from.
    pub fn center(&self) -> &Arc<dyn RegistryCenter> {
        &self.shared.center
    }

    /// The number of the last event, now and as it grows: something changed in the namespace. The receiver can be told of
    /// several events at once. Ask nothing while a value of it is borrowed: a question takes the events that are there,
    /// and waits for the borrower.
    pub fn changes(&self) -> watch::Receiver<u64> {
        // The first event can come as soon as the watch is there.
        let changes = self.shared.events.subscribe();
        self.follow();
        changes
    }

    /// For each node below the root the number of the last event that concerns it or what is below it. What was made of
    /// these nodes when it was the same is current.
    pub fn last_events<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Vec<u64> {
        self.follow();
        let state = self.shared.settled();
        names.into_iter().map(|name| state.known.last_event(name)).collect()
    }

    /// Since when the registry center is lost, in milliseconds since 1970 by the clock of this host; `None` while it is
    /// connected.
    pub fn lost_since(&self) -> Option<i64> {
        self.follow();
        self.shared.settled().lost_since
    }

    /// When the last instance of a job left and the last leader did, where the watch was in place then and had no gap since.
    pub(crate) fn gone(&self, job: &JobName) -> Gone {
        self.follow();
        self.shared.settled().known.gone(job)
    }

    /// Starts the watch, unless it is there.
    fn follow(&self) {
        let mut state = self.shared.lock();
        state.looked = Instant::now();
        if std::mem::take(&mut state.is_resting) {
            state.stream = Some(self.shared.center.watch(&self.shared.root));
            // The task polls it from now on.
            state.waker.wake_by_ref();
        }
        if state.task.is_some() {
            return;
        }
        state.stream = Some(self.shared.center.watch(&self.shared.root));
        let (shared, session) = (Arc::downgrade(&self.shared), self.shared.center.session());
        state.task = Some(tokio::spawn(follow(shared, session)).abort_handle());
    }

    /// Answers a question from what is known, or asks.
    fn question<T: Send + 'static>(
        &self,
        path: &str,
        known: impl FnOnce(&Known) -> Option<T>,
        ask: impl FnOnce(&dyn RegistryCenter) -> Answer<T>,
        keep: impl FnOnce(&mut Known, u64, &str, &T) + Send + 'static,
    ) -> Answer<T> {
        if !is_at_or_below(path, self.shared.root.trim_end_matches('/')) {
            return ask(&*self.shared.center);
        }
        self.follow();
        let mut state = self.shared.settled();
        if let Some(known) = known(&state.known) {
            return Box::pin(std::future::ready(Ok(known)));
        }
        let generation = state.known.ask(path);
        let question = Question { shared: self.shared.clone(), path: path.to_owned() };
        // Asked under the lock: no event can come between the note and the question.
        let answer = ask(&*self.shared.center);
        drop(state);
        Box::pin(async move {
            let answer = answer.await?;
            // With all events that came before the answer.
            keep(&mut question.shared.settled().known, generation, &question.path, &answer);
            Ok(answer)
        })
    }
}

/// A question under way, until it is answered or no reader waits for the answer.
struct Question {
    shared: Arc<Shared>,
    path: String,
}

impl Drop for Question {
    fn drop(&mut self) {
        self.shared.lock().known.end(&self.path);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state with all events that are there.
    fn settled(&self) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        let before = state.known.events();
        state.take_events();
        let events = state.known.events();
        if events != before {
            self.events.send_replace(events);
        }
        state
    }
}

impl State {
    fn take_events(&mut self) {
        let waker = self.waker.clone();
        let mut cx = Context::from_waker(&waker);
        while let Some(stream) = &mut self.stream {
            match stream.poll_next(&mut cx) {
                Poll::Ready(Some(event)) => {
                    self.known.on_event(&event);
                    if let WatchEvent::Deleted(path) = &event {
                        self.known.on_gone(path, Moment::now().wall_ms);
                    }
                }
                Poll::Ready(None) => {
                    self.known.forget();
                    self.stream = None;
                }
                Poll::Pending => return,
            }
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(task) = &self.lock().task {
            task.abort();
        }
    }
}

/// Takes the events also while no reader asks, and notes when the registry center is lost, until the watch ends.
async fn follow(shared: Weak<Shared>, mut session: watch::Receiver<SessionState>) {
    loop {
        let taken = std::future::poll_fn(|cx| {
            let Some(shared) = shared.upgrade() else { return Poll::Ready(()) };
            shared.lock().waker.clone_from(cx.waker());
            let state = shared.settled();
            if state.stream.is_none() && !state.is_resting { Poll::Ready(()) } else { Poll::Pending }
        });
        let Some(idle_at) = shared.upgrade().map(|shared| shared.lock().looked + IDLE) else { return };
        note_loss(&shared, *session.borrow_and_update());
        tokio::select! {
            () = taken => return,
            () = tokio::time::sleep_until(idle_at) => rest(&shared),
            changed = session.changed() => if changed.is_err() { return },
        }
    }
}

/// Gives the watch up where no reader asked for long. While the registry center is lost it stays: it holds what was
/// known.
fn rest(shared: &Weak<Shared>) {
    let Some(shared) = shared.upgrade() else { return };
    let mut state = shared.lock();
    let now = Instant::now();
    if now < state.looked + IDLE {
        return;
    }
    if shared.events.receiver_count() > 0 || state.lost_since.is_some() || state.is_resting {
        state.looked = now;
        return;
    }
    state.stream = None;
    state.known.forget();
    state.is_resting = true;
    state.looked = now;
}

fn note_loss(shared: &Weak<Shared>, session: SessionState) {
    let Some(shared) = shared.upgrade() else { return };
    let mut state = shared.lock();
    let before = state.lost_since;
    state.lost_since = match session {
        SessionState::Connected { .. } => None,
        _ => before.or_else(|| Some(Moment::now().wall_ms)),
    };
    let has_changed = state.lost_since != before;
    drop(state);
    if has_changed {
        // The readers that follow the changes show it.
        shared.events.send_modify(|_| {});
    }
}

impl RegistryCenter for WatchedRegistry {
    fn get(&self, path: &str) -> Answer<Option<NodeData>> {
        self.question(
            path,
            |known| known.data(path),
            |center| center.get(path),
            |known, generation, path, answer| known.on_read(generation, path, answer.as_ref()),
        )
    }

    fn children(&self, path: &str) -> Answer<Option<Vec<String>>> {
        self.question(
            path,
            |known| known.children(path),
            |center| center.children(path),
            |known, generation, path, answer| known.on_listed(generation, path, answer.as_deref()),
        )
    }

    /// Is not kept: the events of the transaction come before its answer.
    fn commit(&self, transaction: Transaction) -> Answer<Committed, CommitError> {
        self.shared.center.commit(transaction)
    }

    fn watch(&self, path: &str) -> Box<dyn WatchStream> {
        self.shared.center.watch(path)
    }

    fn watch_node(&self, path: &str) -> Box<dyn WatchStream> {
        self.shared.center.watch_node(path)
    }

    fn session(&self) -> watch::Receiver<SessionState> {
        self.shared.center.session()
    }

    fn proof(&self) -> Option<Proof> {
        self.shared.center.proof()
    }

    fn is_open(&self) -> bool {
        self.shared.center.is_open()
    }

    fn requests(&self) -> RequestCount {
        self.shared.center.requests()
    }

    fn namespace_bytes(&self) -> usize {
        self.shared.center.namespace_bytes()
    }

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
        self.shared.center.close()
    }
}

impl fmt::Debug for WatchedRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchedRegistry").field("center", &self.shared.center).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests;
