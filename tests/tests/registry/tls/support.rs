//! Shared by the tests: the certificates, and a server with TLS.

use std::sync::{Arc, OnceLock};

use elasticjob::registry::zookeeper::{ZookeeperConfiguration, ZookeeperRegistryCenter, ZookeeperTls};
use elasticjob_tests::harness::Harness;
use elasticjob_tests::zookeeper::SecureServer;
use tokio::runtime::Handle;

use super::certificates::Certificates;

/// A server that wants a certificate of its clients, with the files of both sides.
pub struct Secured {
    pub secure: SecureServer,
    pub certificates: Arc<Certificates>,
}

/// What the tests use; to be kept until they have run. The server ends with its last reference, which is here.
pub struct Kept {
    certificates: Arc<Certificates>,
    server: Arc<OnceLock<Arc<Secured>>>,
}

/// The tests of this folder.
pub struct Tests<'a> {
    harness: &'a mut Harness,
    kept: Kept,
}

impl<'a> Tests<'a> {
    pub fn new(harness: &'a mut Harness) -> Self {
        Self { harness, kept: Kept { certificates: Arc::new(Certificates::make()), server: Arc::default() } }
    }

    /// Adds a test on the server, which is started by the first that needs it.
    pub fn add<F: Future<Output = ()>>(&mut self, name: &str, test: impl FnOnce(Arc<Secured>) -> F + Send + 'static) {
        let (server, certificates) = (self.kept.server.clone(), self.kept.certificates.clone());
        let start = move || {
            let secure = SecureServer::start(&certificates.of_server()).expect("ZooKeeper starts");
            Arc::new(Secured { secure, certificates })
        };
        self.harness.beside_zookeeper(name, move || test(server.get_or_init(start).clone()));
    }

    /// Adds a test of the files alone.
    pub fn add_without_server<F: Future<Output = ()>>(
        &mut self,
        name: &str,
        test: impl FnOnce(Arc<Certificates>) -> F + Send + 'static,
    ) {
        let certificates = self.kept.certificates.clone();
        self.harness.test(name, move || test(certificates));
    }

    pub fn kept(self) -> Kept {
        self.kept
    }
}

/// Settings that wait as long as a busy machine needs.
pub fn patient(servers: String, tls: ZookeeperTls) -> ZookeeperConfiguration {
    let mut config = ZookeeperConfiguration::new(servers, "tls");
    config.max_retries = 20;
    config.tls = Some(tls);
    config
}

/// Settings that give up after eight seconds, half of which is left for a look at the server.
pub fn hasty(servers: String, tls: Option<ZookeeperTls>) -> ZookeeperConfiguration {
    let mut config = ZookeeperConfiguration::new(servers, "tls");
    config.base_sleep_time_milliseconds = 100;
    config.max_sleep_time_milliseconds = 1_000;
    config.max_retries = 8;
    config.tls = tls;
    config
}

/// The error of a client that connects in vain.
pub async fn failing(config: ZookeeperConfiguration) -> String {
    match ZookeeperRegistryCenter::connect(config, &Handle::current()).await {
        Ok(center) => panic!("{center:?} is connected"),
        Err(error) => error.to_string(),
    }
}

/// Sees that a text has all of these parts.
pub fn says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "'{part}' is not in: {text}");
    }
}
