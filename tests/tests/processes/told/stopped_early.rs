//! A program that is stopped while it starts: one of its jobs has a registry center that does not answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use elasticjob::registry::RegistryCenter;
use elasticjob::registry::zookeeper::ZookeeperRegistryCenter;
use elasticjob_tests::zookeeper::{ZookeeperBackend, ZookeeperServer};
use tokio::runtime::Handle;

use super::buggy::SILENT;
use super::processes::{LIMIT, Processes};

const JOBS: &str = "    lasting: {cron: '* * * * * ?', sharding-total-count: 1}\n    \
                    works: {cron: '* * * * * ?', sharding-total-count: 2}\n    \
                    slow: {elastic-job-class: works, cron: '* * * * * ?', sharding-total-count: 1, \
                    registry-center-ref: buggy}\n";

/// Longer than the test takes, so that only a session that was closed is gone in time.
const SESSION_MS: u32 = 40_000;

/// Starts a process and waits until two of its jobs run while it still starts the third.
async fn starting(server: Arc<ZookeeperServer>, namespace: &str, jobs: &str) -> (Processes, usize) {
    let mut processes = Processes::new(server, namespace, SESSION_MS, jobs);
    processes.ask_all_for(SILENT);
    let number = processes.start();
    processes.run_again(number, "works", &[0, 1]).await;
    let begun = async || (processes.recorded(number, "lasting begins") == 1).then_some(());
    processes.wait("the run that lasts", LIMIT, begun).await;
    (processes, number)
}

/// What runs ends well, and the instance leaves at once.
pub async fn gracefully(server: Arc<ZookeeperServer>) {
    let backend = ZookeeperBackend::new(server.clone(), "told-stopped-early");
    let (mut processes, number) = starting(server, "stopped-early", JOBS).await;
    let registry = ZookeeperRegistryCenter::connect(backend.onlooker(), &Handle::current()).await.unwrap();
    let instances = async || registry.children("/lasting/instances").await.unwrap().unwrap_or_default();
    assert_eq!(instances().await.len(), 1);
    let status = processes.end(number).await;
    assert!(status.success(), "{status}\n{}", processes.all());
    assert_eq!(processes.recorded(number, "lasting ends"), 1, "{}", processes.all());
    assert_eq!(instances().await, Vec::<String>::new(), "{}", processes.all());
    assert!(processes.log(number).contains("shutting down: SIGTERM"), "{}", processes.all());
    let next = processes.start();
    processes.run_again(next, "works", &[0, 1]).await;
}

/// A second signal cuts off what runs.
pub async fn at_once(server: Arc<ZookeeperServer>) {
    let jobs =
        format!("    endless: {{cron: '* * * * * ?', sharding-total-count: 1}}\n{JOBS}  shutdown: {{grace: 1h}}\n");
    let (mut processes, number) = starting(server, "stopped-twice", &jobs).await;
    processes.signal(number, "TERM");
    let leaves = async || processes.log(number).contains("shutting down: SIGTERM").then_some(());
    processes.wait("the shutdown", LIMIT, leaves).await;
    let asked = Instant::now();
    processes.signal(number, "INT");
    let status = processes.exited(number).await;
    assert!(status.success() && asked.elapsed() < Duration::from_secs(20), "{status}\n{}", processes.all());
    assert!(processes.log(number).contains("Ctrl-C during the shutdown"), "{}", processes.all());
}
