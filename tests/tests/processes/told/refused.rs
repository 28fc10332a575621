//! A configuration in the registry center that cannot be used.

use std::sync::Arc;

use elasticjob::registry::zookeeper::ZookeeperRegistryCenter;
use elasticjob::registry::{RegistryCenter, Transaction};
use elasticjob_tests::zookeeper::{ZookeeperBackend, ZookeeperServer};
use tokio::runtime::Handle;

use super::processes::{LIMIT, Processes};

const JOBS: &str = "    works: {cron: '* * * * * ?', sharding-total-count: 2, job-error-handler-type: RECORDS}\n    \
                    sound: {elastic-job-class: works, cron: '* * * * * ?', sharding-total-count: 2}\n";

const SESSION_MS: u32 = 6_000;

/// Waits until the error handler of a process got the report of the configuration.
async fn told(processes: &Processes, number: usize) {
    let told = async || {
        let failures = processes.failures(number, "works");
        let is_of_it =
            |line: &&String| line.contains("the configuration in the registry failed") && line.contains("'nonsense'");
        failures.iter().find(is_of_it).map(|_| ())
    };
    processes.wait("the failure", LIMIT, told).await;
}

/// The configuration of the job `works` in the registry center.
struct Stored {
    registry: ZookeeperRegistryCenter,
    /// What the programs wrote.
    good: String,
}

impl Stored {
    async fn of(backend: &ZookeeperBackend) -> Self {
        let registry = ZookeeperRegistryCenter::connect(backend.onlooker(), &Handle::current()).await.unwrap();
        let good = registry.get("/works/config").await.unwrap().unwrap().data.text().unwrap().to_owned();
        Self { registry, good }
    }

    async fn set(&self, configuration: &str) {
        let mut transaction = Transaction::new();
        transaction.set("/works/config", configuration, None);
        self.registry.commit(transaction).await.unwrap();
    }
}

/// Waits until a command says nothing of an obstacle.
async fn says_no_obstacle(processes: &Processes) {
    let asked = async || {
        let why = processes.operator.says(&["why", "works"]).await;
        (!why.contains('!') && why.contains("succeeded")).then_some(())
    };
    processes.wait("no obstacle", LIMIT, asked).await;
}

/// Built-in checks find nothing wrong with it: only the programs know that they lack the strategy.
pub async fn by_one_program(server: Arc<ZookeeperServer>) {
    let backend = ZookeeperBackend::new(server.clone(), "told-lacking");
    let mut two = Processes::new(server, "lacking", SESSION_MS, JOBS);
    let running = two.start();
    two.run_again(running, "works", &[0, 1]).await;
    let stored = Stored::of(&backend).await;
    stored.set(&format!("{}jobShardingStrategyType: OF_ANOTHER\n", stored.good)).await;
    let keeps = "cannot use the configuration in the registry center, and goes on with the last one that it could";
    two.says(&["why", "works"], &[keeps, "'OF_ANOTHER'"]).await;
    two.says(&["status", "works"], &[keeps]).await;
    let waiting = two.start();
    two.says(&["why", "works"], &[keeps, "does not take part until it can"]).await;
    // Its session goes on for seconds: only its end takes the note of a killed process back.
    two.kill(waiting);
    let gone = async || {
        let why = two.operator.says(&["why", "works"]).await;
        (!why.contains("does not take part until it can") && why.contains(keeps)).then_some(())
    };
    two.wait("the end of the session of a killed process", LIMIT, gone).await;
    stored.set(&stored.good).await;
    says_no_obstacle(&two).await;
}

pub async fn told_until_mended(server: Arc<ZookeeperServer>) {
    let backend = ZookeeperBackend::new(server.clone(), "told-refused");
    let mut two = Processes::new(server, "refused", SESSION_MS, JOBS);
    let running = two.start();
    two.run_again(running, "works", &[0, 1]).await;
    let stored = Stored::of(&backend).await;
    let bad: Vec<&str> =
        stored.good.lines().map(|line| if line.starts_with("cron:") { "cron: nonsense" } else { line }).collect();
    assert_ne!(bad, stored.good.lines().collect::<Vec<_>>());
    stored.set(&bad.join("\n")).await;

    let finding = "! its configuration in the registry center cannot be used: ";
    two.says(&["why", "works"], &[finding, "'nonsense'", "instances keep the last one that could"]).await;
    two.says(&["status", "works"], &[finding, "fires      not known: its configuration cannot be used"]).await;
    told(&two, running).await;
    two.run_again(running, "works", &[0, 1]).await;

    let waiting = two.start();
    told(&two, waiting).await;
    let items = two.one_each("sound").await;
    two.run_again(waiting, "sound", &[items[waiting]]).await;
    assert_eq!(two.items("works").await[waiting].len(), 0, "{}", two.all());

    stored.set(&stored.good).await;
    let items = two.one_each("works").await;
    two.run_again(waiting, "works", &[items[waiting]]).await;
    two.run_again(running, "works", &[items[running]]).await;
    let why = two.says(&["why", "works"], &["succeeded"]).await;
    assert!(!why.contains('!'), "{why}");
    for number in [running, waiting] {
        assert_eq!(two.failures(number, "works").len(), 1, "{}", two.all());
    }
}
