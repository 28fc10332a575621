//! Jobs that are started and stopped again and again in one process, in every way there is: nothing is left behind, no
//! ephemeral node and no task.

use std::sync::Arc;
use std::time::Duration;

use elasticjob::api::{ItemHandler, ShardingContext, item_handler};
use elasticjob::config::JobConfiguration;
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::registry::zookeeper::ZookeeperRegistryCenter;
use elasticjob::registry::{CommitError, RegistryCenter, Transaction};
use elasticjob::runtime::{
    Activity, JobEnvironment, JobStatus, OneOffJobBootstrap, ScheduleJobBootstrap, ShutdownMode,
};
use elasticjob::testing::rng::Rng;
use elasticjob_tests::harness::Harness;
use elasticjob_tests::zookeeper::{ZookeeperBackend, ZookeeperServer};
use futures_util::FutureExt;
use tokio::runtime::Handle;
use tokio::sync::watch;

const EMBEDDED_ROUNDS: u64 = 500;
const ZOOKEEPER_ROUNDS: u64 = 40;

/// Runs that do not listen are dropped a fifth of it after they were cancelled.
const SESSION_TIMEOUT: Duration = Duration::from_millis(500);

/// Everything that is waited for happens within this, or never.
const LIMIT: Duration = Duration::from_secs(20);

/// Names are used again and again: a job is made again while nothing of it is left, or its last one is still leaving.
const NAMES: [&str; 3] = ["a", "b", "c"];

/// Adds the tests of this file.
pub fn add_tests(harness: &mut Harness) {
    harness.test("500_starts_and_stops_on_the_embedded_registry_leave_nothing", embedded);
    harness.on_zookeeper("starts_and_stops_on_zookeeper_leave_nothing", on_zookeeper);
}

async fn embedded() {
    let environment = JobEnvironment::builder().build().expect("an environment");
    let registry = MemoryRegistry::new();
    let connect = || Arc::new(registry.connect_with_timeout(SESSION_TIMEOUT));
    let (center, operator) = (connect(), connect());
    start_and_stop(&environment, center, operator, EMBEDDED_ROUNDS).await;
}

async fn on_zookeeper(server: Arc<ZookeeperServer>) {
    let environment = JobEnvironment::builder().build().expect("an environment");
    let config = ZookeeperBackend::new(server.clone(), "life-cycle").config(server.connect_string());
    let center = environment.connect_zookeeper(config.clone()).await.expect("it connects");
    let operator = ZookeeperRegistryCenter::connect(config, &Handle::current()).await.expect("it connects");
    start_and_stop(&environment, center, Arc::new(operator), ZOOKEEPER_ROUNDS).await;
}

async fn start_and_stop(
    environment: &JobEnvironment,
    center: Arc<dyn RegistryCenter>,
    operator: Arc<dyn RegistryCenter>,
    rounds: u64,
) {
    // Warm: what the first job starts and keeps is there.
    play(0, environment, &center, &operator).await;
    leave_nothing(&operator).await;
    let (system, user) = (environment.system().clone(), Handle::current());
    let alive = || system.metrics().num_alive_tasks() + user.metrics().num_alive_tasks();
    settled(alive).await;
    let before = alive();
    for round in 1..rounds {
        play(round, environment, &center, &operator).await;
    }
    leave_nothing(&operator).await;
    let limit = tokio::time::Instant::now() + LIMIT;
    while alive() > before {
        assert!(tokio::time::Instant::now() < limit, "{} tasks before, {} after", before, alive());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Waits until the number of tasks stays the same for a moment.
async fn settled(alive: impl Fn() -> usize) {
    let mut known = alive();
    for _ in 0..100 {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let now = alive();
        if now == known {
            return;
        }
        known = now;
    }
    panic!("{known} tasks, and never the same number for a moment");
}

enum Job {
    Schedule(ScheduleJobBootstrap),
    OneOff(OneOffJobBootstrap),
}

impl Job {
    fn new(
        rng: &mut Rng,
        name: &str,
        environment: &JobEnvironment,
        center: &Arc<dyn RegistryCenter>,
        handler: ItemHandler,
    ) -> Self {
        let builder = JobConfiguration::builder(name, 3).failover(rng.one_in(2)).overwrite(true);
        if rng.one_in(2) {
            let configuration = builder.build().expect("a configuration");
            let job = OneOffJobBootstrap::new(environment, center.clone(), configuration, handler);
            Self::OneOff(job.expect("a job"))
        } else {
            let configuration = builder.cron("* * * * * ?").build().expect("a configuration");
            let job = ScheduleJobBootstrap::new(environment, center.clone(), configuration, handler);
            Self::Schedule(job.expect("a job"))
        }
    }

    async fn start(&mut self) {
        match self {
            Self::Schedule(job) => job.schedule().await.expect("it starts"),
            Self::OneOff(job) => job.start().await.expect("it starts"),
        }
    }

    async fn trigger(&self) {
        let triggered = match self {
            Self::Schedule(job) => job.handle().trigger().await,
            Self::OneOff(job) => job.handle().execute().await,
        };
        triggered.expect("it is triggered");
    }

    async fn shutdown(&mut self, mode: ShutdownMode) {
        match self {
            Self::Schedule(job) => job.shutdown(mode).await,
            Self::OneOff(job) => job.shutdown(mode).await,
        }
    }

    fn status(&self) -> watch::Receiver<JobStatus> {
        match self {
            Self::Schedule(job) => job.handle().status(),
            Self::OneOff(job) => job.handle().status(),
        }
    }
}

/// A round: a job is started, perhaps runs something, and ends in one way or another.
async fn play(
    seed: u64,
    environment: &JobEnvironment,
    center: &Arc<dyn RegistryCenter>,
    operator: &Arc<dyn RegistryCenter>,
) {
    let rng = &mut Rng::new(seed);
    let name = rng.pick(&NAMES);
    let (running, mut runs) = watch::channel(0);
    // Runs end when they are cancelled, or at once, or when they are dropped.
    let kind = rng.below(3);
    let handler = item_handler(move |context: ShardingContext| {
        running.send_modify(|count| *count += 1);
        async move {
            match kind {
                0 => context.cancelled().await,
                1 => {}
                _ => std::future::pending().await,
            }
        }
    });
    let mut job = Job::new(rng, name, environment, center, handler);
    if rng.one_in(20) {
        // Never started.
        job.shutdown(ShutdownMode::Graceful).await;
        return;
    }
    if rng.one_in(20) {
        // Stopped while it starts.
        let _ = job.start().now_or_never();
        within(job.shutdown(ShutdownMode::Now), "the end of a job that was starting", seed).await;
        return;
    }
    within(job.start(), "the start", seed).await;
    if rng.one_in(2) {
        within(job.trigger(), "the trigger", seed).await;
        let _ = within(runs.wait_for(|count| *count > 0), "a run", seed).await;
    }
    let mut status = job.status();
    match rng.below(4) {
        // Runs that listen to nothing are waited for, for 25 s: not here.
        0 if kind == 1 => within(job.shutdown(ShutdownMode::Graceful), "a graceful end", seed).await,
        1 => {
            // Not waited for: asked to, and dropped. The next round may start a job of the same name meanwhile.
            let _ = job.shutdown(ShutdownMode::Now).now_or_never();
            return;
        }
        2 => {
            remove(operator, name, &status).await;
            if kind != 1 {
                // As an operator who does not want to wait.
                within(job.shutdown(ShutdownMode::Now), "the end of a removed job", seed).await;
            }
        }
        _ => within(job.shutdown(ShutdownMode::Now), "the end", seed).await,
    }
    let stopped = |status: &JobStatus| status.activity == Activity::Stopped;
    let _ = within(status.wait_for(stopped), "that it has left", seed).await;
}

/// Deletes the node of the instance, as an operator does.
async fn remove(operator: &Arc<dyn RegistryCenter>, job: &str, status: &watch::Receiver<JobStatus>) {
    let mut transaction = Transaction::new();
    transaction.delete(format!("/{job}/instances/{}", status.borrow().instance), None);
    match operator.commit(transaction).await {
        Ok(_) | Err(CommitError::Refused { .. }) => {}
        Err(error) => panic!("{error}"),
    }
}

async fn within<T>(future: impl Future<Output = T>, what: &str, seed: u64) -> T {
    let found = tokio::time::timeout(LIMIT, future).await;
    found.unwrap_or_else(|_| panic!("round {seed}: {what} does not come within {LIMIT:?}"))
}

/// No node of any job is bound to a session, as soon as all have left.
async fn leave_nothing(operator: &Arc<dyn RegistryCenter>) {
    let limit = tokio::time::Instant::now() + LIMIT;
    loop {
        let left = ephemerals(operator).await;
        if left.is_empty() {
            return;
        }
        assert!(tokio::time::Instant::now() < limit, "left behind: {left:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The nodes of jobs that are bound to a session.
async fn ephemerals(operator: &Arc<dyn RegistryCenter>) -> Vec<String> {
    let mut paths: Vec<String> = NAMES.iter().map(|name| format!("/{name}")).collect();
    let mut found = Vec::new();
    while let Some(path) = paths.pop() {
        let Some(node) = operator.get(&path).await.expect("the registry answers") else { continue };
        let children = operator.children(&path).await.expect("the registry answers").unwrap_or_default();
        paths.extend(children.into_iter().map(|child| format!("{path}/{child}")));
        if node.stat.ephemeral_owner.is_some() {
            found.push(path);
        }
    }
    found
}
