//! ZooKeeper under the registry conformance suite: each client behind a proxy of its own.

use std::sync::Arc;
use std::time::{Duration, Instant};

use elasticjob::registry::zookeeper::{ZookeeperConfiguration, ZookeeperRegistryCenter, ZookeeperTls};
use elasticjob::registry::{RegistryCenter, SessionState};
use elasticjob::testing::registry_suite::{Backend, Link, Member, Pending};
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::ZookeeperServer;
use crate::proxy::Proxy;

const SESSION_TIMEOUT_MILLISECONDS: u64 = 5000;

/// The client gives a connection up after two fifths of it without an answer: longer than a busy machine stalls.
const ONLOOKER_SESSION_TIMEOUT_MILLISECONDS: u64 = 20_000;

/// One namespace of a server.
pub struct ZookeeperBackend {
    server: Arc<ZookeeperServer>,
    /// The port with TLS that clients go to instead, and what they need there.
    secure: Option<(u16, ZookeeperTls)>,
    namespace: String,
}

impl ZookeeperBackend {
    /// Uses a namespace that must be fresh.
    pub fn new(server: Arc<ZookeeperServer>, namespace: impl Into<String>) -> Self {
        Self { server, secure: None, namespace: namespace.into() }
    }

    /// The same with TLS, on that port of the server, whose certificate is for `localhost`.
    #[must_use]
    pub fn over_tls(self, port: u16, tls: ZookeeperTls) -> Self {
        Self { secure: Some((port, tls)), ..self }
    }

    /// Settings for this namespace at some address, with a session that ends soon when nothing is heard of it.
    pub fn config(&self, servers: String) -> ZookeeperConfiguration {
        let mut config = ZookeeperConfiguration::new(servers, &self.namespace);
        config.session_timeout_milliseconds = SESSION_TIMEOUT_MILLISECONDS;
        config.base_sleep_time_milliseconds = 100;
        config.max_retries = 10;
        config
    }

    /// Settings for an observer or operator of this namespace, whose connection no fault disturbs.
    pub fn onlooker(&self) -> ZookeeperConfiguration {
        let mut config = self.config(self.server.connect_string());
        config.session_timeout_milliseconds = ONLOOKER_SESSION_TIMEOUT_MILLISECONDS;
        config
    }
}

struct ProxiedLink {
    server: Arc<ZookeeperServer>,
    proxy: Proxy,
    session: watch::Receiver<SessionState>,
}

impl Backend for ZookeeperBackend {
    fn connect(&self) -> Pending<'_, Member> {
        Box::pin(async {
            let target = match &self.secure {
                Some((port, _)) => format!("127.0.0.1:{port}"),
                None => self.server.connect_string(),
            };
            let proxy = Proxy::start(target).await.expect("a proxy starts");
            let mut config = self.config(proxy.connect_string());
            if let Some((_, tls)) = &self.secure {
                config.server_lists = config.server_lists.replace("127.0.0.1", "localhost");
                config.tls = Some(tls.clone());
            }
            let center = ZookeeperRegistryCenter::connect(config, &Handle::current()).await.expect("it connects");
            let link = ProxiedLink { server: self.server.clone(), proxy, session: center.session() };
            Member { center: Box::new(center), link: Box::new(link) }
        })
    }

    fn is_remote(&self) -> bool {
        true
    }
}

impl Link for ProxiedLink {
    fn cut(&self) -> Pending<'_, ()> {
        self.proxy.cut();
        Box::pin(std::future::ready(()))
    }

    fn mend(&self) -> Pending<'_, ()> {
        self.proxy.mend();
        Box::pin(std::future::ready(()))
    }

    fn expire(&self) -> Pending<'_, ()> {
        let (SessionState::Connected { id, .. } | SessionState::Suspended { id }) = *self.session.borrow() else {
            panic!("there is no session to expire");
        };
        Box::pin(async move {
            let deadline = Instant::now() + Duration::from_secs(30);
            while self.server.has_session(id.0).expect("the server answers") {
                assert!(Instant::now() < deadline, "the server does not expire session {id}");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        })
    }
}
