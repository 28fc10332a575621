//! Recursive watches that outlive connections and sessions.
//!
//! The client library loses recursive watches at every reconnect, and the server tells nothing of what it missed. So the
//! session loop adds each watch anew and hands it over through a [`Slot`]; the stream then tells of the gap. Events go
//! straight from the library to the reader of the stream: a task in between could deliver them behind an answer.

use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use zookeeper_client::{Error, EventType, PersistentWatcher};

use super::session::Session;
use crate::registry::{WatchEvent, WatchStream};

pub(super) type AddedWatcher = Pin<Box<dyn Future<Output = Result<PersistentWatcher, Error>> + Send>>;

/// A watch that is sent, and not answered yet.
pub(super) struct Adding {
    pub(super) watcher: AddedWatcher,
    pub(super) connection: u64,
}

/// Where the session loop leaves the watcher of a new connection for a stream.
#[derive(Debug)]
pub(super) struct Slot {
    id: u64,
    pub(super) path: String,
    state: Mutex<SlotState>,
}

#[derive(Debug, Default)]
struct SlotState {
    watcher: Option<PersistentWatcher>,
    /// The connection that the watch was added on, or is being added on.
    connection: Option<u64>,
    closed: bool,
    waker: Option<Waker>,
}

impl Slot {
    /// A slot for a watch that is being added on `connection`, or on none so far.
    pub(super) fn new(id: u64, path: &str, connection: Option<u64>) -> Self {
        Self { id, path: path.to_owned(), state: Mutex::new(SlotState { connection, ..SlotState::default() }) }
    }

    pub(super) fn is_on(&self, connection: u64) -> bool {
        self.lock().connection == Some(connection)
    }

    pub(super) fn put(&self, watcher: PersistentWatcher, connection: u64) {
        self.change(|state| {
            state.watcher = Some(watcher);
            state.connection = Some(connection);
        });
    }

    pub(super) fn close(&self) {
        self.change(|state| state.closed = true);
    }

    /// The watch is not on that connection after all.
    fn failed_on(&self, connection: u64) {
        let mut state = self.lock();
        if state.connection == Some(connection) {
            state.connection = None;
        }
    }

    /// The next watcher, or `None` when there will be none.
    fn poll_watcher(&self, cx: &mut Context<'_>) -> Poll<Option<PersistentWatcher>> {
        let mut state = self.lock();
        if state.closed {
            return Poll::Ready(None);
        }
        match state.watcher.take() {
            Some(watcher) => Poll::Ready(Some(watcher)),
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

/// Where the events of a stream come from.
enum Source {
    Adding(Adding),
    Watcher(PersistentWatcher),
    /// The connection broke, or there was none.
    Broken,
}

/// The stream of one watch.
pub(super) struct ZookeeperWatch {
    session: Arc<Session>,
    slot: Arc<Slot>,
    source: Source,
}

impl ZookeeperWatch {
    pub(super) fn new(session: Arc<Session>, slot: Arc<Slot>, adding: Option<Adding>) -> Self {
        Self { session, slot, source: adding.map_or(Source::Broken, Source::Adding) }
    }

    /// The next event of the watch in place, `None` when the source is broken.
    fn poll_source(&mut self, cx: &mut Context<'_>) -> Poll<Option<WatchEvent>> {
        match &mut self.source {
            Source::Broken => Poll::Ready(None),
            Source::Adding(adding) => match adding.watcher.as_mut().poll(cx) {
                Poll::Pending => Poll::Pending,
                Poll::Ready(Ok(watcher)) => {
                    self.source = Source::Watcher(watcher);
                    Poll::Ready(Some(WatchEvent::Gap))
                }
                Poll::Ready(Err(error)) => {
                    tracing::debug!(path = self.slot.path, %error, "the watch could not be added");
                    self.slot.failed_on(adding.connection);
                    self.session.add_watches_again();
                    Poll::Ready(None)
                }
            },
            Source::Watcher(watcher) => loop {
                let Poll::Ready(event) = pin!(watcher.changed()).poll(cx) else { return Poll::Pending };
                return Poll::Ready(match event.event_type {
                    EventType::NodeCreated => Some(WatchEvent::Created(event.path)),
                    EventType::NodeDataChanged => Some(WatchEvent::Changed(event.path)),
                    EventType::NodeDeleted => Some(WatchEvent::Deleted(event.path)),
                    EventType::NodeChildrenChanged => continue,
                    // Whatever it says: the server knows nothing of this watch any more. Polled again after the
                    // session has ended, the watcher would panic.
                    EventType::Session => None,
                });
            },
        }
    }
}

impl WatchStream for ZookeeperWatch {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<WatchEvent>> {
        match self.poll_source(cx) {
            Poll::Ready(Some(event)) => return Poll::Ready(Some(event)),
            Poll::Ready(None) => self.source = Source::Broken,
            Poll::Pending => (),
        }
        // Only now: what the old watch still held is older than the gap.
        match self.slot.poll_watcher(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Ready(Some(watcher)) => {
                self.source = Source::Watcher(watcher);
                Poll::Ready(Some(WatchEvent::Gap))
            }
        }
    }
}

impl Drop for ZookeeperWatch {
    fn drop(&mut self) {
        self.session.forget_watch(self.slot.id);
    }
}
