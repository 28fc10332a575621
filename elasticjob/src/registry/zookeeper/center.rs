//! The session of the process with an ensemble as a registry center.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::watch as state;
use zookeeper_client::{AddWatchMode, Client, Error};

use super::session::Session;
use super::watch::ZookeeperWatch;
use super::writes::Writes;
use super::{ConnectError, ZookeeperConfiguration, access, answer, dial};
use crate::log::{apart, warn};
use crate::registry::{
    self, Answer, CommitError, Committed, NodeData, Proof, RegistryCenter, RegistryError, RequestCount, SessionState,
    Transaction, WatchStream, limits,
};
use crate::texts;

/// A session with a ZooKeeper ensemble, renewed when it expires. Dropping it ends the session.
pub struct ZookeeperRegistryCenter {
    session: Arc<Session>,
    writes: Arc<Writes>,
    runtime: Handle,
    /// Whether everyone could change the namespace when this registry center connected.
    is_open: bool,
}

impl ZookeeperRegistryCenter {
    /// Connects, and creates the namespace where it is missing. All traffic runs on `runtime`, which must outlive the
    /// registry center.
    ///
    /// # Errors
    /// [`ConnectError`] after `max_sleep_time_milliseconds * max_retries` at the latest, 9 s by default.
    pub async fn connect(config: ZookeeperConfiguration, runtime: &Handle) -> Result<Self, ConnectError> {
        Self::connect_on(config, runtime, runtime).await
    }

    /// The same, with the task of the first client on a runtime of its own: a test ends that runtime, and the task with
    /// it, as a panic of the client library would.
    ///
    /// # Errors
    /// As [`Self::connect`].
    #[cfg(feature = "testing")]
    pub async fn connect_with_client_on(
        config: ZookeeperConfiguration,
        runtime: &Handle,
        client: &Handle,
    ) -> Result<Self, ConnectError> {
        Self::connect_on(config, runtime, client).await
    }

    async fn connect_on(
        config: ZookeeperConfiguration,
        runtime: &Handle,
        client: &Handle,
    ) -> Result<Self, ConnectError> {
        let problems = config.problems();
        if !problems.is_empty() {
            return Err(ConnectError::Invalid(problems));
        }
        if config.shows_digest() {
            apart(|| {
                warn!(
                    "the digest of the registry center goes over the network in clear text: anyone who reads it can change \
                     all jobs; set tls of this registry center, or use a private network or a tunnel"
                );
            });
        }
        let session = Session::new(config);
        let writes = Writes::new(session.clone(), runtime.clone());
        let mut center = Self { session: session.clone(), writes, runtime: runtime.clone(), is_open: false };
        let serving = runtime.clone();
        // The client library starts its task on the runtime that dials.
        let dialled = client.spawn(async move {
            let client = dial::dial(&session.config, session.config.patience()).await?;
            let is_open = access::is_open(&session.config, &client).await;
            serving.spawn(session.clone().run(client));
            let mut state = session.state();
            // Waits until the first connection is ready for calls. If it breaks right now, callers see that too.
            let _ = state.wait_for(|state| *state != SessionState::Connecting).await;
            Ok(is_open)
        });
        match dialled.await {
            Ok(connected) => {
                center.is_open = connected?;
                Ok(center)
            }
            Err(error) => Err(ConnectError::Failed {
                servers: center.session.config.server_lists.clone(),
                namespace: center.session.config.namespace.clone(),
                what: "use",
                why: error.to_string(),
            }),
        }
    }

    /// Sends with the first poll, which happens here. Gives up when the time-out passes.
    fn sent<T>(
        &self,
        limit: Duration,
        request: impl Future<Output = Result<T, RegistryError>> + Send + 'static,
    ) -> Answer<T>
    where
        T: Send + 'static,
    {
        let timed = {
            let _timer = self.runtime.enter();
            tokio::time::timeout(limit, request)
        };
        let mut answer: Answer<T> = Box::pin(async move {
            let no_answer = |_| RegistryError::NoAnswer { why: texts::center_silent(limit.as_millis().to_string()) };
            timed.await.unwrap_or_else(|elapsed| Err(no_answer(elapsed)))
        });
        match answer.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(result) => ready(result),
            Poll::Pending => answer,
        }
    }

    fn read<T, F>(&self, path: &str, request: impl FnOnce(&Client) -> F) -> Answer<Option<T>>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        if !limits::is_valid_path(path) {
            let reason = registry::Refusal::BadArguments;
            return ready(Err(RegistryError::Refused { path: path.to_owned(), reason }));
        }
        let live = match self.session.live() {
            Ok(live) => live,
            Err(why) => return ready(Err(RegistryError::NoAnswer { why })),
        };
        self.writes.before_read();
        let mut call = self.session.call(&live, false);
        let (path, limit, request) = (path.to_owned(), live.client.session_timeout(), request(&live.client));
        let read = async move {
            let result = request.await;
            answer::read(&path, call.settle(result).unwrap_or_else(Err))
        };
        self.sent(limit, read)
    }
}

impl RegistryCenter for ZookeeperRegistryCenter {
    fn is_open(&self) -> bool {
        self.is_open
    }

    fn get(&self, path: &str) -> Answer<Option<NodeData>> {
        self.read(path, |client| {
            let request = client.get_data(path);
            async move { request.await.map(answer::node_data) }
        })
    }

    fn children(&self, path: &str) -> Answer<Option<Vec<String>>> {
        self.read(path, |client| {
            let request = client.get_children(path);
            async move { request.await.map(|(names, _)| names) }
        })
    }

    fn commit(&self, transaction: Transaction) -> Answer<Committed, CommitError> {
        if let Err(refused) = limits::check_transaction(&transaction, self.session.config.root().len()) {
            return ready(Err(refused));
        }
        if transaction.is_empty() {
            return ready(Ok(Committed { results: Vec::new() }));
        }
        self.writes.commit(transaction)
    }

    fn watch(&self, path: &str) -> Box<dyn WatchStream> {
        let slot = self.session.add_watch(path, AddWatchMode::PersistentRecursive);
        Box::new(ZookeeperWatch::new(self.session.clone(), slot))
    }

    fn watch_node(&self, path: &str) -> Box<dyn WatchStream> {
        let slot = self.session.add_watch(path, AddWatchMode::Persistent);
        Box::new(ZookeeperWatch::new(self.session.clone(), slot))
    }

    fn session(&self) -> state::Receiver<SessionState> {
        self.session.state()
    }

    fn proof(&self) -> Option<Proof> {
        self.session.proof()
    }

    fn requests(&self) -> RequestCount {
        self.session.requests()
    }

    fn namespace_bytes(&self) -> usize {
        self.session.config.namespace_bytes()
    }

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
        self.session.close();
        let mut state = self.session.state();
        Box::pin(async move {
            // The sender lives in the session. Either this center keeps the session, or the sender is gone and so is
            // the session.
            let _ = state.wait_for(|state| *state == SessionState::Closed).await;
        })
    }
}

impl Drop for ZookeeperRegistryCenter {
    fn drop(&mut self) {
        self.session.close();
    }
}

impl fmt::Debug for ZookeeperRegistryCenter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ZookeeperRegistryCenter")
            .field("config", &self.session.config)
            .field("session", &*self.session.state().borrow())
            .finish_non_exhaustive()
    }
}

fn ready<T: Send + 'static, E: Send + 'static>(result: Result<T, E>) -> Answer<T, E> {
    Box::pin(std::future::ready(result))
}
