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

/// Logs, where this process is the one that does.
pub fn play() -> Option<ExitCode> {
    let servers = std::env::var(SERVERS).ok()?;
    Runtime::new().unwrap().block_on(log_a_session(servers));
    Some(ExitCode::SUCCESS)
}

/// Adds the tests of this file.
pub fn add_tests(harness: &mut Harness) {
    harness.on_zookeeper("no_secret_is_logged_at_any_level", no_secret_is_logged_at_any_level);
}

async fn log_a_session(servers: String) {
    elasticjob_starter::init_logging().unwrap();
    let mut config = ZookeeperConfiguration::new(servers, "log-secrets");
    config.digest = Some("robot:s3cret-of-the-digest".into());
    config.max_retries = 29;
    let center = ZookeeperRegistryCenter::connect(config, &Handle::current()).await.unwrap();
    center.get("/nothing").await.unwrap();
    center.close().await;
}

async fn no_secret_is_logged_at_any_level(server: Arc<ZookeeperServer>) {
    let mut program = Command::new(std::env::current_exe().unwrap());
    program.env(SERVERS, server.connect_string()).env("RUST_LOG", "trace").env_remove("ELASTICJOB_LOG");
    let output = program.output().unwrap();
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{log}");
    // The log has what the client says of the messages with the secrets.
    for told in ["ConnectRequest {", "ConnectResponse {", "(Auth, "] {
        assert!(log.contains(told), "'{told}' is not in the log:\n{log}");
    }
    for secret in ["password", "s3cret-of-the-digest"] {
        assert!(!log.contains(secret), "'{secret}' is in the log:\n{log}");
    }
}
