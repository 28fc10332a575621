//! The log of a program shows neither the password of its session nor its digest, whatever level it is set to.
// A test with a harness of its own, which clippy does not take for one.
#![allow(clippy::unwrap_used)]

use std::process::{Command, ExitCode};
use std::sync::Arc;

use elasticjob::registry::RegistryCenter;
use elasticjob::registry::zookeeper::{ZookeeperConfiguration, ZookeeperRegistryCenter};
use elasticjob_tests::harness::Harness;
use elasticjob_tests::zookeeper::ZookeeperServer;
use tokio::runtime::{Handle, Runtime};

/// The servers, for this program as the one that logs.
const SERVERS: &str = "ELASTICJOB_TEST_LOG_SERVERS";
/// Set where it is to log as the client of ZooKeeper wants it.
const UNFILTERED: &str = "ELASTICJOB_TEST_LOG_UNFILTERED";

fn main() -> ExitCode {
    if let Ok(servers) = std::env::var(SERVERS) {
        Runtime::new().unwrap().block_on(log_a_session(servers));
        return ExitCode::SUCCESS;
    }
    let mut harness = Harness::new();
    harness.on_zookeeper("no_secret_is_logged_at_any_level", no_secret_is_logged_at_any_level);
    harness.run()
}

async fn log_a_session(servers: String) {
    match std::env::var(UNFILTERED) {
        Ok(_) => tracing_subscriber::fmt().with_env_filter("trace").with_writer(std::io::stderr).init(),
        Err(_) => elasticjob_starter::init_logging().unwrap(),
    }
    let digest = Some("robot:s3cret-of-the-digest".into());
    let config =
        ZookeeperConfiguration { digest, max_retries: 29, ..ZookeeperConfiguration::new(servers, "log-secrets") };
    let center = ZookeeperRegistryCenter::connect(config, &Handle::current()).await.unwrap();
    center.get("/nothing").await.unwrap();
    center.close().await;
}

async fn no_secret_is_logged_at_any_level(server: Arc<ZookeeperServer>) {
    let log_of = |set: &[(&str, &str)]| {
        let mut program = Command::new(std::env::current_exe().unwrap());
        program.env(SERVERS, server.connect_string()).env("RUST_LOG", "trace").env_remove("ELASTICJOB_LOG");
        let output = program.envs(set.iter().copied()).output().unwrap();
        let log = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{log}");
        log
    };
    let unfiltered = log_of(&[(UNFILTERED, "1")]);
    assert!(unfiltered.contains("password: ["), "the client shows the password in another way now:\n{unfiltered}");
    let log = log_of(&[]);
    assert!(log.contains("zookeeper_client::session::"), "what else the client has to tell is there:\n{log}");
    for secret in ["password", "ConnectRequest", "ConnectResponse", "s3cret-of-the-digest"] {
        assert!(!log.contains(secret), "'{secret}' is in the log:\n{log}");
    }
}
