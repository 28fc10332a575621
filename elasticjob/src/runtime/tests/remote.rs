use std::pin::Pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};

use tokio::sync::watch;

use super::*;
use crate::registry::memory::MemoryRegistryCenter;
use crate::registry::{
    Answer, CommitError, Committed, Moment, NodeData, Op, Proof, RequestCount, SessionState, Transaction, WatchEvent,
    WatchStream,
};

/// An embedded registry whose session is proven by transactions alone, like the session of an ensemble. A test can make
/// its transactions fail while the session still looks connected: reads are answered all the time, as by a server that
/// has lost its leader.
#[derive(Debug)]
pub(super) struct Remote {
    pub(super) registry: Arc<dyn RegistryCenter>,
    proof: Arc<Mutex<Option<Proof>>>,
    pub(super) writes: AtomicU64,
    /// The transactions among them that check and change nothing: they prove the session.
    pub(super) checks: AtomicU64,
    pub(super) is_broken: AtomicBool,
    /// How long a transaction is on its way.
    pub(super) latency: Duration,
    /// How many of the next transactions panic: those that register an instance, or any.
    pub(super) panics: AtomicU64,
    pub(super) panics_at_registrations: AtomicU64,
    /// Whether transactions that register an instance wait.
    pub(super) holds_registrations: watch::Sender<bool>,
    /// How often the watch was polled for an event.
    pub(super) polls: Arc<AtomicU64>,
}

impl Remote {
    pub(super) fn new(session_timeout: Duration) -> Arc<Self> {
        Self::far(session_timeout, Duration::ZERO)
    }

    pub(super) fn far(session_timeout: Duration, latency: Duration) -> Arc<Self> {
        Self::with_latency(MemoryRegistry::new().connect_with_timeout(session_timeout), latency)
    }

    pub(super) fn of(center: MemoryRegistryCenter) -> Arc<Self> {
        Self::with_latency(center, Duration::ZERO)
    }

    fn with_latency(center: MemoryRegistryCenter, latency: Duration) -> Arc<Self> {
        Arc::new(Self {
            registry: Arc::new(center),
            proof: Arc::default(),
            latency,
            writes: AtomicU64::new(0),
            checks: AtomicU64::new(0),
            is_broken: AtomicBool::new(false),
            panics: AtomicU64::new(0),
            panics_at_registrations: AtomicU64::new(0),
            holds_registrations: watch::Sender::new(false),
            polls: Arc::default(),
        })
    }
}

impl RegistryCenter for Remote {
    fn is_open(&self) -> bool {
        true
    }

    fn get(&self, path: &str) -> Answer<Option<NodeData>> {
        self.registry.get(path)
    }

    fn children(&self, path: &str) -> Answer<Option<Vec<String>>> {
        self.registry.children(path)
    }

    fn commit(&self, transaction: Transaction) -> Answer<Committed, CommitError> {
        let registers = transaction.ops().iter().any(|op| match op {
            Op::Create { path, .. } => path.contains("/instances/"),
            _ => false,
        });
        let take =
            |from: &AtomicU64| from.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        assert!(take(&self.panics).is_err(), "as planned");
        assert!(!registers || take(&self.panics_at_registrations).is_err(), "as planned");
        self.writes.fetch_add(1, Ordering::Relaxed);
        if transaction.ops().iter().all(|op| matches!(op, Op::Check { .. })) {
            self.checks.fetch_add(1, Ordering::Relaxed);
        }
        if self.is_broken.load(Ordering::Relaxed) {
            return Box::pin(std::future::ready(Err(CommitError::NotReached { why: "as planned".into() })));
        }
        let (latency, known, registry) = (self.latency, self.proof.clone(), self.registry.clone());
        let session = registry.session();
        let mut held = self.holds_registrations.subscribe();
        let is_held = registers && *held.borrow();
        let commit = move || (Moment::now(), registry.commit(transaction));
        let sent = if is_held { Err(commit) } else { Ok(commit()) };
        Box::pin(async move {
            let (at, answer) = match sent {
                Ok(sent) => sent,
                Err(commit) => {
                    let _ = held.wait_for(|held| !held).await;
                    commit()
                }
            };
            if !latency.is_zero() {
                tokio::time::sleep(latency).await;
            }
            if let SessionState::Connected { id, .. } = *session.borrow() {
                *known.lock().unwrap() = Some(Proof { session: id, at });
            }
            answer.await
        })
    }

    fn watch(&self, path: &str) -> Box<dyn WatchStream> {
        Box::new(Counted { stream: self.registry.watch(path), polls: Arc::clone(&self.polls) })
    }

    fn session(&self) -> watch::Receiver<SessionState> {
        self.registry.session()
    }

    fn proof(&self) -> Option<Proof> {
        *self.proof.lock().unwrap()
    }

    fn requests(&self) -> RequestCount {
        self.registry.requests()
    }

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
        self.registry.close()
    }
}

struct Counted {
    stream: Box<dyn WatchStream>,
    polls: Arc<AtomicU64>,
}

impl WatchStream for Counted {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<WatchEvent>> {
        self.polls.fetch_add(1, Ordering::Relaxed);
        self.stream.poll_next(cx)
    }
}
