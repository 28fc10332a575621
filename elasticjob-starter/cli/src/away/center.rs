//! A registry center that is away when the console starts.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use elasticjob::config::Message;
use elasticjob::registry::zookeeper::{ConnectError, ZookeeperConfiguration, ZookeeperRegistryCenter};
use elasticjob::registry::{
    Answer, CommitError, Committed, NodeData, Proof, RegistryCenter, RegistryError, RequestCount, SessionState,
    Transaction, WatchEvent, WatchStream, away_since,
};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::Late;

/// The registry center once it was reached; before, questions fail at once and watches wait.
#[derive(Debug)]
pub(crate) struct LateCenter {
    late: Arc<Late<ZookeeperRegistryCenter, Message>>,
    session: watch::Sender<SessionState>,
    dialling: AbortHandle,
}

impl LateCenter {
    /// Dials the registry center of this name again until it comes. `why` is what became of the first time.
    pub(crate) fn new(name: &str, configuration: ZookeeperConfiguration, why: &ConnectError) -> Self {
        let late = Arc::new(Late::new(format!("the registry center '{name}'"), why.message()));
        let session = watch::Sender::new(SessionState::Connecting);
        let (dialled, of_center) = (late.clone(), session.clone());
        let dialling = tokio::spawn(async move {
            let dial = || {
                let configuration = configuration.clone();
                async move {
                    let connected = ZookeeperRegistryCenter::connect(configuration, &Handle::current()).await;
                    connected.map_err(|error| error.message())
                }
            };
            let mut session = dialled.dial(dial).await.session();
            loop {
                of_center.send_replace(*session.borrow_and_update());
                if session.changed().await.is_err() {
                    return;
                }
            }
        });
        Self { late, session, dialling: dialling.abort_handle() }
    }

    /// Why it is away, now and as it changes; `None` once it came.
    pub(crate) fn why(&self) -> watch::Receiver<Option<Message>> {
        self.late.why.subscribe()
    }

    /// Since when and why it is away, as the end of a sentence.
    fn told(&self) -> Message {
        let (since, why) = self.late.away();
        away_since(since, why)
    }

    fn asked<T: Send + 'static>(&self, ask: impl FnOnce(&ZookeeperRegistryCenter) -> Answer<T>) -> Answer<T> {
        match self.late.get() {
            Some(center) => ask(center),
            None => Box::pin(std::future::ready(Err(RegistryError::NoAnswer { why: self.told() }))),
        }
    }

    fn watched(
        &self,
        watch: impl FnOnce(&ZookeeperRegistryCenter) -> Box<dyn WatchStream> + Send + 'static,
    ) -> Box<dyn WatchStream> {
        match self.late.get() {
            Some(center) => watch(center),
            None => Box::new(LateWatch { late: self.late.clone(), state: Watch::Waits(Some(Box::new(watch))) }),
        }
    }
}

impl Drop for LateCenter {
    fn drop(&mut self) {
        self.dialling.abort();
    }
}

impl RegistryCenter for LateCenter {
    fn get(&self, path: &str) -> Answer<Option<NodeData>> {
        self.asked(|center| center.get(path))
    }

    fn children(&self, path: &str) -> Answer<Option<Vec<String>>> {
        self.asked(|center| center.children(path))
    }

    fn commit(&self, transaction: Transaction) -> Answer<Committed, CommitError> {
        match self.late.get() {
            Some(center) => center.commit(transaction),
            None => Box::pin(std::future::ready(Err(CommitError::NotReached { why: self.told() }))),
        }
    }

    fn watch(&self, path: &str) -> Box<dyn WatchStream> {
        let path = path.to_owned();
        self.watched(move |center| center.watch(&path))
    }

    fn watch_node(&self, path: &str) -> Box<dyn WatchStream> {
        let path = path.to_owned();
        self.watched(move |center| center.watch_node(&path))
    }

    fn session(&self) -> watch::Receiver<SessionState> {
        self.session.subscribe()
    }

    fn proof(&self) -> Option<Proof> {
        self.late.get()?.proof()
    }

    fn is_open(&self) -> bool {
        self.late.get().is_some_and(RegistryCenter::is_open)
    }

    fn requests(&self) -> RequestCount {
        self.late.get().map(RegistryCenter::requests).unwrap_or_default()
    }

    fn namespace_bytes(&self) -> usize {
        self.late.get().map_or(0, RegistryCenter::namespace_bytes)
    }

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
        match self.late.get() {
            // Its session says that it is closed.
            Some(center) => center.close(),
            None => {
                self.dialling.abort();
                self.session.send_replace(SessionState::Closed);
                Box::pin(std::future::ready(()))
            }
        }
    }
}

type Begin = Box<dyn FnOnce(&ZookeeperRegistryCenter) -> Box<dyn WatchStream> + Send>;

/// A watch that begins when the registry center comes.
struct LateWatch {
    late: Arc<Late<ZookeeperRegistryCenter, Message>>,
    state: Watch,
}

enum Watch {
    Waits(Option<Begin>),
    Began(Box<dyn WatchStream>),
}

impl WatchStream for LateWatch {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<WatchEvent>> {
        if let Watch::Waits(begin) = &mut self.state {
            let Some(center) = self.late.poll(cx) else { return Poll::Pending };
            let Some(begin) = begin.take() else { return Poll::Ready(None) };
            self.state = Watch::Began(begin(center));
        }
        match &mut self.state {
            Watch::Began(stream) => stream.poll_next(cx),
            Watch::Waits(_) => Poll::Pending,
        }
    }
}
