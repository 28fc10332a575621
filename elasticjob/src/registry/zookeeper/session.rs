//! The session: a loop on the system runtime keeps it, and calls from anywhere use it.
//!
//! The loop publishes `Connected` only when all watches are in place on the connection, so an answer never shows a
//! change that the watches would miss. Calls in any other state fail at once: the client library would queue them
//! without limit.

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use elasticjob_syntax::message::Message;
use futures_util::future::{FutureExt, join_all};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use zookeeper_client::{AddWatchMode, Client, Error, MultiWriteError, SessionState as ClientState, StateWatcher};

use super::ConnectError;
use super::answer;
use super::config::ZookeeperConfiguration;
use super::dial::dial;
use super::grants::Grants;
use super::watch::{Adding, Slot};
use super::watchdog;
use crate::log::{apart, error, warn, written};
use crate::random::random_u64;
use crate::registry::lease;
use crate::registry::{Moment, Proof, RequestCount, SessionId, SessionState, limits};
use crate::texts;

/// How long closing waits for the end of the session.
const CLOSE_LIMIT: Duration = Duration::from_secs(5);

/// An established session. The server ends it as soon as all references to it are gone. So no task may hold a reference
/// that may never be polled again.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) client: Client,
    proof: LastProof,
    pub(super) answered: Answered,
}

/// When the last answer of any server came.
#[derive(Debug, Clone)]
pub(super) struct Answered(Arc<Mutex<Instant>>);

impl Answered {
    fn now() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }

    pub(super) fn note(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    pub(super) fn since_last(&self) -> Duration {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }
}

/// When the last request was sent that the leader of the session answered.
#[derive(Debug, Clone, Default)]
struct LastProof(Arc<Mutex<Option<Moment>>>);

impl LastProof {
    fn get(&self) -> Option<Moment> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn renew(&self, sent: Moment) {
        let mut proof = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *proof = (*proof).max(Some(sent));
    }
}

/// A request on its way.
pub(super) struct Call {
    proof: LastProof,
    answered: Answered,
    states: StateWatcher,
    sent: Moment,
}

impl Call {
    /// Checks an answer: an error when the connection broke since the request was sent. Such an answer may be true, but
    /// the watches may have missed what happened before it.
    pub(super) fn settle<T, E>(&mut self, result: Result<T, E>) -> Result<Result<T, E>, Error>
    where
        E: Clone,
        Error: From<E>,
    {
        if self.states.changed().now_or_never().is_some() {
            return Err(Error::ConnectionLoss);
        }
        if result.as_ref().err().is_none_or(|error| answer::is_answer(&error.clone().into())) {
            self.answered.note();
        }
        Ok(result)
    }

    /// As [`Self::settle`]. It also renews the proof of the session where only the leader can have given the answer.
    pub(super) fn settle_write<T>(
        &mut self,
        result: Result<T, MultiWriteError>,
    ) -> Result<Result<T, MultiWriteError>, Error> {
        let settled = self.settle(result)?;
        if settled.as_ref().err().is_none_or(answer::is_of_leader) {
            self.proof.renew(self.sent);
        }
        Ok(settled)
    }
}

/// The session with an ensemble, over connections and expiries.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) config: ZookeeperConfiguration,
    state: watch::Sender<SessionState>,
    inner: Mutex<Inner>,
    /// A watch is not in place although the connection did not break.
    again: Notify,
    closing: CancellationToken,
    requests: AtomicU64,
    writes: AtomicU64,
}

#[derive(Debug, Default)]
struct Inner {
    live: Option<Arc<Live>>,
    /// Number of the connection on which all watches are in place; `None` while there is none.
    connection: Option<u64>,
    last_connection: u64,
    slots: BTreeMap<u64, Arc<Slot>>,
    last_slot: u64,
}

/// Why the loop stops serving a session.
enum End {
    /// The session is lost: another one is needed.
    Lost,
    /// No other session follows.
    Final,
}

impl Session {
    pub(super) fn new(config: ZookeeperConfiguration) -> Arc<Self> {
        Arc::new(Self {
            config,
            state: watch::Sender::new(SessionState::Connecting),
            inner: Mutex::default(),
            again: Notify::new(),
            closing: CancellationToken::new(),
            requests: AtomicU64::new(0),
            writes: AtomicU64::new(0),
        })
    }

    pub(super) fn state(&self) -> watch::Receiver<SessionState> {
        self.state.subscribe()
    }

    pub(super) fn proof(&self) -> Option<Proof> {
        let live = self.lock().live.clone()?;
        Some(Proof { session: SessionId(live.client.session_id().0), at: live.proof.get()? })
    }

    pub(super) fn requests(&self) -> RequestCount {
        RequestCount { requests: self.requests.load(Ordering::Relaxed), writes: self.writes.load(Ordering::Relaxed) }
    }

    /// The session, when requests can be sent now. Otherwise the error says why they cannot.
    pub(super) fn live(&self) -> Result<Arc<Live>, Message> {
        let inner = self.lock();
        match (&inner.live, inner.connection) {
            (Some(live), Some(_)) if live.client.state() == ClientState::SyncConnected => Ok(live.clone()),
            _ => Err(self.why_not()),
        }
    }

    /// Counts a request that is sent now.
    pub(super) fn call(&self, live: &Live, is_write: bool) -> Call {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.writes.fetch_add(u64::from(is_write), Ordering::Relaxed);
        let (proof, answered) = (live.proof.clone(), live.answered.clone());
        Call { proof, answered, states: live.client.state_watcher(), sent: Moment::now() }
    }

    fn why_not(&self) -> Message {
        match *self.state.borrow() {
            SessionState::Connecting => texts::no_session(),
            SessionState::Connected { .. } | SessionState::Suspended { .. } => texts::connection_lost(),
            SessionState::Closed => texts::center_closed(),
        }
    }

    /// Registers a watch. The request is sent at once where a connection is in place; otherwise the loop sends it.
    pub(super) fn add_watch(&self, path: &str, mode: AddWatchMode) -> Arc<Slot> {
        let mut inner = self.lock();
        inner.last_slot += 1;
        let id = inner.last_slot;
        let is_ready = |live: &Arc<Live>| live.client.state() == ClientState::SyncConnected;
        let ready = inner.live.clone().filter(is_ready).filter(|_| limits::is_valid_path(path));
        let slot = match (ready, inner.connection) {
            (Some(live), Some(connection)) => {
                self.requests.fetch_add(1, Ordering::Relaxed);
                let owned = path.to_owned();
                let mut adding: Adding = Box::pin(async move { live.client.watch(&owned, mode).await });
                // The first poll sends the request.
                if let Some(added) = (&mut adding).now_or_never() {
                    adding = Box::pin(std::future::ready(added));
                }
                Arc::new(Slot::adding(id, path, mode, adding, connection))
            }
            _ => Arc::new(Slot::new(id, path, mode)),
        };
        if self.closing.is_cancelled() || *self.state.borrow() == SessionState::Closed || !limits::is_valid_path(path) {
            slot.close();
        } else {
            inner.slots.insert(id, slot.clone());
        }
        slot
    }

    pub(super) fn forget_watch(&self, id: u64) {
        self.lock().slots.remove(&id);
    }

    pub(super) fn add_watches_again(&self) {
        self.again.notify_one();
    }

    /// Begins to end the session.
    pub(super) fn close(&self) {
        self.closing.cancel();
    }

    /// Serves one session after the other until the registry center is closed.
    pub(super) async fn run(self: Arc<Self>, first: Client) {
        let _closed = PublishClosed(&self);
        let mut client = first;
        loop {
            match self.serve(client).await {
                End::Final => return,
                // Without a session there must be no proof of one either.
                End::Lost => self.lock().live = None,
            }
            self.publish_without_connection(SessionState::Connecting);
            let next = tokio::select! {
                next = self.redial() => next,
                () = self.closing.cancelled() => None,
            };
            match next {
                Some(next) => client = next,
                None => return,
            }
        }
    }

    async fn serve(&self, client: Client) -> End {
        let id = SessionId(client.session_id().0);
        let mut granted = client.session_timeout();
        let mut grants = Grants::default();
        let mut states = client.state_watcher();
        let mut state = states.state();
        self.lock().live = Some(Arc::new(Live { client, proof: LastProof::default(), answered: Answered::now() }));
        let mut connection = self.next_connection();
        loop {
            match state {
                ClientState::SyncConnected => tokio::select! {
                    // A changed state goes first: a watch on a lost connection is useless.
                    biased;
                    () = self.closing.cancelled() => return self.leave(states).await,
                    next = states.changed() => {
                        state = next;
                        connection = self.next_connection();
                        self.ask_again(state, granted, &mut grants);
                    }
                    less = grants.below(granted) => granted = renegotiated(granted, less),
                    () = self.keep_watches(connection, self.connected(id, granted)) => (),
                    why = watchdog::gave_up_working(|| self.lock().live.clone(), || self.count()) => {
                        given_up(format!("it says that it is connected, and {why}"));
                        return End::Lost;
                    }
                },
                ClientState::Disconnected | ClientState::ConnectedReadOnly => {
                    self.publish_without_connection(SessionState::Suspended { id });
                    tokio::select! {
                        biased;
                        () = self.closing.cancelled() => return self.leave(states).await,
                        next = states.changed() => {
                            state = next;
                            self.ask_again(state, granted, &mut grants);
                        }
                        // Runs that began after the connection was back may have begun under the longer time-out, and
                        // the session cannot be proven now.
                        less = grants.below(granted) => {
                            renegotiated(granted, less);
                            return End::Lost;
                        }
                        // A client that works gives its session up before that.
                        () = tokio::time::sleep(2 * granted) => {
                            given_up("it has dialled for two session time-outs".to_owned());
                            return End::Lost;
                        }
                    }
                }
                ClientState::Expired | ClientState::Closed => return End::Lost,
                ClientState::AuthFailed => {
                    apart(|| error!("ZooKeeper refused the digest: the registry center is closed"));
                    return End::Final;
                }
            }
        }
    }

    /// When the connection of a session is back, asks the servers for the time-out that they grant now.
    fn ask_again(&self, state: ClientState, granted: Duration, grants: &mut Grants) {
        match state {
            ClientState::SyncConnected => grants.ask(&self.config, granted),
            _ => grants.connection_lost(),
        }
    }

    fn connected(&self, id: SessionId, granted: Duration) -> SessionState {
        SessionState::Connected { id, timeout: lease::held(granted, self.config.connection_timeout()) }
    }

    fn next_connection(&self) -> u64 {
        let mut inner = self.lock();
        inner.connection = None;
        inner.last_connection += 1;
        inner.last_connection
    }

    /// Places the watches, publishes `Connected`, and places watches again that get lost. Never ends.
    async fn keep_watches(&self, connection: u64, connected: SessionState) {
        let Some(live) = self.lock().live.clone() else { return pending().await };
        let mut retry = 0;
        // The server of this connection may be behind the server of the connection before.
        while let Err(error) = self.sync(&live).await {
            self.pause("sync with ZooKeeper", &error, &mut retry).await;
        }
        loop {
            if let Err(error) = self.place_watches(&live, connection, connected).await {
                self.pause("add a watch", &error, &mut retry).await;
                continue;
            }
            self.again.notified().await;
        }
    }

    fn count(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    async fn sync(&self, live: &Live) -> Result<(), Error> {
        self.count();
        live.client.sync("/").await
    }

    async fn place_watches(&self, live: &Live, connection: u64, connected: SessionState) -> Result<(), Error> {
        loop {
            let missing: Vec<_> = {
                let mut inner = self.lock();
                let missing: Vec<_> = inner.slots.values().filter(|slot| !slot.is_on(connection)).cloned().collect();
                if missing.is_empty() {
                    inner.connection = Some(connection);
                    self.state.send_if_modified(|state| std::mem::replace(state, connected) != connected);
                    return Ok(());
                }
                missing
            };
            self.requests.fetch_add(missing.len() as u64, Ordering::Relaxed);
            let added = missing.iter().map(|slot| live.client.watch(&slot.path, slot.mode));
            for (slot, added) in missing.iter().zip(join_all(added).await) {
                slot.put(added?, connection);
            }
        }
    }

    async fn pause(&self, what: &str, error: &Error, retry: &mut u32) {
        let pause = self.config.pause(*retry, random_u64());
        *retry = retry.saturating_add(1);
        let (what, error) = (what.to_owned(), error.to_string());
        apart(move || warn!(%error, "could not {what}, next attempt in {} ms", pause.as_millis()));
        tokio::time::sleep(pause).await;
    }

    /// Dials until there is a session. `None` when the server refused this client for good.
    async fn redial(&self) -> Option<Client> {
        for retry in 0.. {
            match dial(&self.config, self.config.connection_timeout()).await {
                Ok(client) => return Some(client),
                Err(error @ ConnectError::AuthFailed { .. }) => {
                    apart(move || error!(%error, "the registry center is closed"));
                    return None;
                }
                Err(error) => {
                    let pause = self.config.pause(retry, random_u64());
                    apart(move || warn!(%error, "no new session so far, next attempt in {} ms", pause.as_millis()));
                    tokio::time::sleep(pause).await;
                }
            }
        }
        None
    }

    /// Gives the session up and waits until the server has ended it.
    async fn leave(&self, mut states: StateWatcher) -> End {
        self.lock().live = None;
        self.close_watches();
        let ended = async { while !states.changed().await.is_terminated() {} };
        if tokio::time::timeout(CLOSE_LIMIT, ended).await.is_err() {
            apart(|| warn!("ZooKeeper did not confirm the end of the session, it ends by its time-out"));
            written().await;
        }
        End::Final
    }

    fn close_watches(&self) {
        let slots = std::mem::take(&mut self.lock().slots);
        slots.values().for_each(|slot| slot.close());
    }

    fn publish_without_connection(&self, state: SessionState) {
        let mut inner = self.lock();
        inner.connection = None;
        self.state.send_replace(state);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Publishes `Closed` however the loop ends, also when its runtime ends, so that no task waits any longer.
struct PublishClosed<'a>(&'a Session);

impl Drop for PublishClosed<'_> {
    fn drop(&mut self) {
        {
            let mut inner = self.0.lock();
            (inner.live, inner.connection) = (None, None);
            self.0.state.send_replace(SessionState::Closed);
        }
        self.0.close_watches();
    }
}

/// The time-out of the session from now on.
fn renegotiated(granted: Duration, less: Duration) -> Duration {
    apart(move || {
        warn!(
            "a ZooKeeper server grants a session time-out of {} ms, and it was {} ms before: from now on runs are cancelled by \
             the shorter one; if that is too short, set maxSessionTimeout to the same value on all servers",
            less.as_millis(),
            granted.as_millis()
        );
    });
    less
}

fn given_up(why: String) {
    apart(move || {
        error!(
            "the ZooKeeper client does not work any more: {why}; the client and its session are dropped, running items are \
             cancelled, and a new session is opened"
        );
    });
}
