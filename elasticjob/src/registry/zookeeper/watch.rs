//! Persistent watches that outlive connections and sessions.
//!
//! The client library loses persistent watches at every reconnect, and the server does not report what was missed. So
//! the session loop adds each watch again and hands it over through a [`Slot`]; the stream then delivers a gap. Events
//! go straight from the library to the reader of the stream: a task in between could deliver them after an answer.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use zookeeper_client::{AddWatchMode, Error, EventType, PersistentWatcher};

use super::session::Session;
use crate::registry::{WatchEvent, WatchStream};

/// A watch that is sent and not answered yet.
pub(super) type Adding = Pin<Box<dyn Future<Output = Result<PersistentWatcher, Error>> + Send>>;

/// The place in which the session loop leaves the watcher of a new connection for a stream. The loop can reach all
/// slots, so it can take back watchers that keep the session from ending.
#[derive(Debug)]
pub(super) struct Slot {
    id: u64,
    pub(super) path: String,
    pub(super) mode: AddWatchMode,
    state: Mutex<SlotState>,
}

#[derive(Default)]
struct SlotState {
    adding: Option<Adding>,
    watcher: Option<PersistentWatcher>,
    /// The connection that the watch was added on, or is being added on.
    connection: Option<u64>,
    closed: bool,
    waker: Option<Waker>,
}

impl Slot {
    /// A slot for a watch that is on no connection so far.
    pub(super) fn new(id: u64, path: &str, mode: AddWatchMode) -> Self {
        Self { id, path: path.to_owned(), mode, state: Mutex::default() }
    }

    /// A slot for a watch that is being added on a connection.
    pub(super) fn adding(id: u64, path: &str, mode: AddWatchMode, adding: Adding, connection: u64) -> Self {
        let state = SlotState { adding: Some(adding), connection: Some(connection), ..SlotState::default() };
        Self { id, path: path.to_owned(), mode, state: Mutex::new(state) }
    }

    pub(super) fn is_on(&self, connection: u64) -> bool {
        self.lock().connection == Some(connection)
    }

    pub(super) fn put(&self, watcher: PersistentWatcher, connection: u64) {
        self.change(|state| {
            state.adding = None;
            state.watcher = Some(watcher);
            state.connection = Some(connection);
        });
    }

    /// The watch on this connection delivers nothing any more: another one has to be added.
    fn lost(&self) {
        self.change(|state| state.connection = None);
    }

    pub(super) fn close(&self) {
        self.change(|state| {
            state.adding = None;
            state.closed = true;
        });
    }

    /// The next watcher, or the reason why there is none.
    fn poll_watcher(&self, cx: &mut Context<'_>) -> Poll<Result<PersistentWatcher, NoWatcher>> {
        let mut state = self.lock();
        if state.closed {
            return Poll::Ready(Err(NoWatcher::Closed));
        }
        if let Some(added) = state.adding.as_mut().map(|adding| adding.as_mut().poll(cx)) {
            let Poll::Ready(added) = added else {
                // The loop may be faster, with a watch on another connection.
                state.waker = Some(cx.waker().clone());
                return Poll::Pending;
            };
            state.adding = None;
            if added.is_err() {
                state.connection = None;
            }
            return Poll::Ready(added.map_err(NoWatcher::Failed));
        }
        match state.watcher.take() {
            Some(watcher) => Poll::Ready(Ok(watcher)),
            None => {
                state.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    fn change(&self, change: impl FnOnce(&mut SlotState)) {
        let waker = {
            let mut state = self.lock();
            change(&mut state);
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, SlotState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The reason why a slot has no watcher.
enum NoWatcher {
    /// No watcher will come.
    Closed,
    /// The watch could not be added; the loop has to add it again.
    Failed(Error),
}

impl fmt::Debug for SlotState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SlotState").field("connection", &self.connection).field("closed", &self.closed).finish()
    }
}

/// The stream of one watch.
pub(super) struct ZookeeperWatch {
    session: Arc<Session>,
    slot: Arc<Slot>,
    /// The source of events. `None` when its connection broke, or when there was none so far.
    watcher: Option<PersistentWatcher>,
}

impl ZookeeperWatch {
    pub(super) fn new(session: Arc<Session>, slot: Arc<Slot>) -> Self {
        Self { session, slot, watcher: None }
    }

    /// The next event of the current watcher. `None` when there is no watcher any more.
    fn poll_watcher(&mut self, cx: &mut Context<'_>) -> Poll<Option<WatchEvent>> {
        let Some(watcher) = &mut self.watcher else { return Poll::Ready(None) };
        loop {
            // The watcher panics when the task of its client has died. That must not end the driver of the job that reads
            // the stream: the watchdog gives the client up, and a watch on the next one follows. Should the client still
            // work, it gets another watch.
            let Ok(polled) = catch_unwind(AssertUnwindSafe(|| pin!(watcher.changed()).poll(cx))) else {
                self.watcher = None;
                self.slot.lost();
                self.session.add_watches_again();
                return Poll::Ready(None);
            };
            let Poll::Ready(event) = polled else { return Poll::Pending };
            return Poll::Ready(match event.event_type {
                EventType::NodeCreated => Some(WatchEvent::Created(event.path)),
                EventType::NodeDataChanged => Some(WatchEvent::Changed(event.path)),
                EventType::NodeDeleted => Some(WatchEvent::Deleted(event.path)),
                EventType::NodeChildrenChanged => continue,
                // Every session event means that the server has lost this watch. The watcher would panic when it is
                // polled again after the session has ended.
                EventType::Session => {
                    self.watcher = None;
                    None
                }
            });
        }
    }
}

impl WatchStream for ZookeeperWatch {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<WatchEvent>> {
        if let Poll::Ready(Some(event)) = self.poll_watcher(cx) {
            return Poll::Ready(Some(event));
        }
        // The gap comes only now: events that the old watcher still held are older than the gap.
        loop {
            match self.slot.poll_watcher(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(watcher)) => {
                    self.watcher = Some(watcher);
                    return Poll::Ready(Some(WatchEvent::Gap));
                }
                Poll::Ready(Err(NoWatcher::Closed)) => return Poll::Ready(None),
                Poll::Ready(Err(NoWatcher::Failed(error))) => {
                    let path = self.slot.path.clone();
                    crate::log::apart(move || crate::log::debug!(path, %error, "the watch could not be added"));
                    self.session.add_watches_again();
                }
            }
        }
    }
}

impl Drop for ZookeeperWatch {
    fn drop(&mut self) {
        self.session.forget_watch(self.slot.id);
    }
}
