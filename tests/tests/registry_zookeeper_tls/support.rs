//! What the tests share: the certificates, and a server with TLS.

use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use elasticjob::registry::zookeeper::{ZookeeperConfiguration, ZookeeperRegistryCenter, ZookeeperTls};
use elasticjob_tests::harness::Harness;
use elasticjob_tests::zookeeper::SecureServer;
use tokio::runtime::Handle;

use crate::certificates::Certificates;

/// A server that wants a certificate of its clients, with the files of both sides.
pub struct Secured {
    pub secure: SecureServer,
    pub certificates: Arc<Certificates>,
}

/// The tests of this program.
pub struct Tests {
    harness: Harness,
    certificates: Arc<Certificates>,
    server: Arc<OnceLock<Arc<Secured>>>,
}

impl Tests {
    pub fn new() -> Self {
        Self { harness: Harness::new(), certificates: Arc::new(Certificates::make()), server: Arc::default() }
    }

    /// Adds a test on the server, which is started by the first that needs it.
    pub fn add<F: Future<Output = ()>>(&mut self, name: &str, test: impl FnOnce(Arc<Secured>) -> F + Send + 'static) {
        let (server, certificates) = (self.server.clone(), self.certificates.clone());
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
        let certificates = self.certificates.clone();
        self.harness.test(name, move || test(certificates));
    }

    /// Runs them. The server ends with its last reference, which is here.
    pub fn run(self) -> ExitCode {
        let Self { harness, certificates: _kept, server: _kept_too } = self;
        harness.run()
    }
}

/// Settings that wait as long as a busy machine needs.
pub fn patient(servers: String, tls: ZookeeperTls) -> ZookeeperConfiguration {
    ZookeeperConfiguration { max_retries: 20, tls: Some(tls), ..ZookeeperConfiguration::new(servers, "tls") }
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
