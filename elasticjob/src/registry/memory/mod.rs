//! The embedded registry center: a tree in this process, for one process without any service, and for tests.
//!
//! Sessions end when they are closed, never by themselves: there is no connection that could break.

#[cfg(any(test, feature = "testing"))]
mod faults;
mod watchers;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use elasticjob_syntax::message::Message;
use tokio::sync::watch;

use self::watchers::{Queue, Watchers};
use super::tree::Tree;
use super::{
    Answer, CommitError, Committed, Moment, NodeData, Proof, Refusal, RegistryCenter, RegistryError, RequestCount,
    SessionId, SessionState, Transaction, WatchEvent, WatchStream, limits,
};
use crate::texts;

/// The time-out that sessions report by default. It never passes.
const SESSION_TIMEOUT: Duration = Duration::from_secs(60);

/// A registry in this process. Clones are the same registry.
#[derive(Clone)]
pub struct MemoryRegistry {
    shared: Arc<Mutex<Shared>>,
}

struct Shared {
    tree: Tree,
    watchers: Watchers,
    clients: BTreeMap<u64, Link>,
    last_client: u64,
    last_session: i64,
}

/// One client as the registry sees it.
struct Link {
    session: SessionId,
    #[cfg(any(test, feature = "testing"))]
    timeout: Duration,
    state: watch::Sender<SessionState>,
    /// Since when the client is cut off from the registry. Only tests cut a client off.
    cut: Option<Moment>,
}

impl Shared {
    fn open_session(&mut self, timeout: Duration) -> SessionId {
        self.last_session += 1;
        let id = SessionId(self.last_session);
        self.tree.open_session(id, timeout);
        id
    }

    fn close_session(&mut self, id: SessionId) {
        let events = self.tree.close_session(id);
        self.dispatch(events);
    }

    fn dispatch(&self, events: Vec<WatchEvent>) {
        self.watchers.dispatch(events, |client| self.clients.get(&client).is_none_or(|link| link.cut.is_some()));
    }

    /// The session of a client that can be reached.
    fn reach(&self, client: u64) -> Result<SessionId, Message> {
        match self.clients.get(&client) {
            None => Err(texts::center_closed()),
            Some(Link { cut: Some(_), .. }) => Err(texts::connection_lost()),
            Some(link) => Ok(link.session),
        }
    }

    fn end_client(&mut self, client: u64) {
        if let Some(link) = self.clients.remove(&client) {
            self.close_session(link.session);
            self.watchers.close(client);
            link.state.send_replace(SessionState::Closed);
        }
    }
}

impl MemoryRegistry {
    /// An empty registry. Its transaction ids start from the clock, so that they grow over restarts of the process.
    pub fn new() -> Self {
        // In microseconds: transactions cannot come faster than that.
        let base = i64::try_from(since_epoch().as_micros()).unwrap_or_default();
        let shared = Shared {
            tree: Tree::new(base),
            watchers: Watchers::default(),
            clients: BTreeMap::new(),
            last_client: 0,
            last_session: 0,
        };
        Self { shared: Arc::new(Mutex::new(shared)) }
    }

    /// Opens a session. It lives until the registry center is closed or dropped.
    pub fn connect(&self) -> MemoryRegistryCenter {
        self.connect_with_timeout(SESSION_TIMEOUT)
    }

    /// As [`Self::connect`]. The session reports another time-out than 60 s, which never passes either.
    pub fn connect_with_timeout(&self, timeout: Duration) -> MemoryRegistryCenter {
        let mut shared = self.lock();
        shared.last_client += 1;
        let client = shared.last_client;
        let session = shared.open_session(timeout);
        let state = watch::Sender::new(SessionState::Connected { id: session, timeout });
        let receiver = state.subscribe();
        let link = Link {
            session,
            #[cfg(any(test, feature = "testing"))]
            timeout,
            state,
            cut: None,
        };
        shared.clients.insert(client, link);
        drop(shared);
        let (requests, writes) = (AtomicU64::new(0), AtomicU64::new(0));
        MemoryRegistryCenter { registry: self.clone(), client, state: receiver, requests, writes }
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryRegistry {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemoryRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shared = self.lock();
        let (nodes, clients) = (shared.tree.len(), shared.clients.len());
        f.debug_struct("MemoryRegistry").field("nodes", &nodes).field("clients", &clients).finish()
    }
}

/// A session with a [`MemoryRegistry`]. Dropping it ends the session.
pub struct MemoryRegistryCenter {
    registry: MemoryRegistry,
    client: u64,
    state: watch::Receiver<SessionState>,
    requests: AtomicU64,
    writes: AtomicU64,
}

impl MemoryRegistryCenter {
    /// Counts a request and performs it.
    fn read<T>(
        &self,
        path: &str,
        read: impl FnOnce(&Tree) -> Result<Option<T>, Refusal>,
    ) -> Result<Option<T>, RegistryError> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let shared = self.registry.lock();
        shared.reach(self.client).map_err(|why| RegistryError::NoAnswer { why })?;
        read(&shared.tree).map_err(|reason| RegistryError::Refused { path: path.to_owned(), reason })
    }

    fn apply(&self, transaction: &Transaction) -> Result<Committed, CommitError> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.writes.fetch_add(1, Ordering::Relaxed);
        let now_ms = i64::try_from(since_epoch().as_millis()).unwrap_or_default();
        let mut shared = self.registry.lock();
        let session = shared.reach(self.client).map_err(|why| CommitError::NotReached { why })?;
        transaction.check_session(session)?;
        let (committed, events) = shared.tree.commit(session, transaction, now_ms)?;
        shared.dispatch(events);
        Ok(committed)
    }

    fn add_watch(&self, path: &str, below: bool) -> Box<dyn WatchStream> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let queue = Arc::new(Queue::default());
        let mut shared = self.registry.lock();
        match shared.clients.get(&self.client).filter(|_| limits::is_valid_path(path)) {
            None => queue.close(),
            // A client that is cut off gets its gap when it is connected again.
            Some(link) => {
                if link.cut.is_none() {
                    queue.push(WatchEvent::Gap);
                }
                shared.watchers.add(path, below, self.client, queue.clone());
            }
        }
        drop(shared);
        Box::new(MemoryWatch { registry: self.registry.clone(), path: path.into(), queue })
    }
}

impl RegistryCenter for MemoryRegistryCenter {
    fn get(&self, path: &str) -> Answer<Option<NodeData>> {
        ready(self.read(path, |tree| tree.get(path)))
    }

    fn children(&self, path: &str) -> Answer<Option<Vec<String>>> {
        ready(self.read(path, |tree| tree.children(path)))
    }

    fn commit(&self, transaction: Transaction) -> Answer<Committed, CommitError> {
        ready(self.apply(&transaction))
    }

    fn watch(&self, path: &str) -> Box<dyn WatchStream> {
        self.add_watch(path, true)
    }

    fn watch_node(&self, path: &str) -> Box<dyn WatchStream> {
        self.add_watch(path, false)
    }

    fn session(&self) -> watch::Receiver<SessionState> {
        self.state.clone()
    }

    /// No server is in between that could know less than the registry: a client that reaches it has a proof.
    fn proof(&self) -> Option<Proof> {
        let shared = self.registry.lock();
        let link = shared.clients.get(&self.client)?;
        Some(Proof { session: link.session, at: link.cut.unwrap_or_else(Moment::now) })
    }

    fn requests(&self) -> RequestCount {
        RequestCount { requests: self.requests.load(Ordering::Relaxed), writes: self.writes.load(Ordering::Relaxed) }
    }

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
        self.registry.lock().end_client(self.client);
        Box::pin(std::future::ready(()))
    }
}

impl Drop for MemoryRegistryCenter {
    fn drop(&mut self) {
        self.registry.lock().end_client(self.client);
    }
}

impl fmt::Debug for MemoryRegistryCenter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryRegistryCenter").field("session", &*self.state.borrow()).finish_non_exhaustive()
    }
}

struct MemoryWatch {
    registry: MemoryRegistry,
    path: Box<str>,
    queue: Arc<Queue>,
}

impl WatchStream for MemoryWatch {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<WatchEvent>> {
        self.queue.poll_next(cx)
    }
}

impl Drop for MemoryWatch {
    fn drop(&mut self) {
        self.registry.lock().watchers.remove(&self.path, &self.queue);
    }
}

fn ready<T: Send + 'static, E: Send + 'static>(result: Result<T, E>) -> Answer<T, E> {
    Box::pin(std::future::ready(result))
}

fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
