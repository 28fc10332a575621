//! A job in two processes, and an operator.

use std::sync::Arc;
use std::time::Duration;

use elasticjob::registry::zookeeper::ZookeeperRegistryCenter;
use elasticjob::registry::{CreateMode, RegistryCenter, Transaction};
use elasticjob_tests::group::{Group, WorkerProgram};
use elasticjob_tests::records::{History, now_us, pid_of};
use elasticjob_tests::retry_reads::answered;
use elasticjob_tests::worker::JobPlan;
use elasticjob_tests::zookeeper::{ZookeeperBackend, ZookeeperServer};
use tokio::runtime::Handle;

pub const JOB: &str = "operated";
pub const ITEMS: u32 = 4;
pub const SESSION_TIMEOUT: Duration = Duration::from_secs(4);

/// Everything that is waited for happens within this, or never.
pub const LIMIT: Duration = Duration::from_secs(40);

/// Time between two looks at the registry.
const LOOK: Duration = Duration::from_millis(20);

/// Two processes that share a job, and an operator of it.
pub struct Operated {
    pub group: Group<WorkerProgram>,
    pub pids: [u32; 2],
    registry: Arc<dyn RegistryCenter>,
}

/// A job of [`ITEMS`] items that fires every second and runs for so long.
pub fn every_second(run_ms: u64) -> JobPlan {
    JobPlan::each_second(JOB, ITEMS, run_ms)
}

impl Operated {
    /// Starts them and waits until they share the items of a fire.
    pub async fn start(server: &Arc<ZookeeperServer>, namespace: &str, job: JobPlan) -> Self {
        let items = job.items;
        let operated = Self::start_apart(server, namespace, job).await;
        operated.split(items, &operated.pids, 0).await;
        operated
    }

    /// Starts them.
    pub async fn start_apart(server: &Arc<ZookeeperServer>, namespace: &str, job: JobPlan) -> Self {
        let worker: (&str, &[&str]) = (env!("CARGO_BIN_EXE_worker"), &[]);
        let program = WorkerProgram::new(worker, server.connect_string(), namespace, vec![job], SESSION_TIMEOUT);
        let mut group = Group::new(program);
        let pids = [group.start().await, group.start().await];
        let config = ZookeeperBackend::new(server.clone(), namespace).onlooker();
        let registry = ZookeeperRegistryCenter::connect(config, &Handle::current()).await.expect("it connects");
        Self { group, pids, registry: Arc::new(registry) }
    }

    /// The registry center, in a session of the test.
    pub fn registry(&self) -> Arc<dyn RegistryCenter> {
        Arc::clone(&self.registry)
    }

    /// Waits for a fire after some time of which exactly these processes begin so many items; returns it.
    pub async fn split(&self, items: u32, pids: &[u32], after_ms: i64) -> i64 {
        self.group.wait_split(JOB, items, pids, after_ms, LIMIT).await
    }

    /// Waits until something is to be found in the records.
    pub async fn wait<T>(&self, what: &str, find: impl Fn(&History) -> Option<T>) -> T {
        self.group.wait(what, LIMIT, find).await
    }

    /// The data of a node of the job, `None` where there is no such node.
    pub async fn node(&self, path: &str) -> Option<String> {
        let node = answered(|| self.registry.get(&format!("/{JOB}/{path}"))).await;
        node.map(|node| node.data.text().expect("text").to_owned())
    }

    /// The names below a node of the job, none where there is no such node.
    pub async fn children(&self, path: &str) -> Vec<String> {
        answered(|| self.registry.children(&format!("/{JOB}/{path}"))).await.unwrap_or_default()
    }

    /// Waits until a node of the job has so many children.
    pub async fn number_of(&self, path: &str, children: usize) {
        self.look(path, async || {
            let names = self.children(path).await;
            if names.len() == children { Ok(()) } else { Err(format!("{names:?}")) }
        })
        .await;
    }

    /// Waits until a node of the job is as wanted.
    pub async fn until(&self, path: &str, is_so: impl Fn(Option<&str>) -> bool) {
        self.look(path, async || {
            let data = self.node(path).await;
            if is_so(data.as_deref()) { Ok(()) } else { Err(format!("{data:?}")) }
        })
        .await;
    }

    /// Waits until each process owns some of so many items.
    pub async fn shared(&self, items: u32) {
        self.look("the sharding", async || {
            let mut owners = Vec::new();
            for item in 0..items {
                owners.push(self.node(&format!("sharding/{item}/instance")).await.as_deref().and_then(pid_of));
            }
            let is_shared = !owners.contains(&None) && self.pids.iter().all(|pid| owners.contains(&Some(*pid)));
            if is_shared { Ok(()) } else { Err(format!("{owners:?}")) }
        })
        .await;
    }

    /// Looks again and again, until `other` finds nothing else there.
    async fn look(&self, path: &str, other: impl AsyncFn() -> Result<(), String>) {
        let deadline = tokio::time::Instant::now() + LIMIT;
        while let Err(other) = other().await {
            assert!(tokio::time::Instant::now() < deadline, "{path} stays {other}\n{}", self.group.logs());
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Sets a node of the job. Returns when it was done, in milliseconds since 1970.
    pub async fn set(&self, path: &str, data: &str) -> i64 {
        let mut transaction = Transaction::new();
        transaction.set(format!("/{JOB}/{path}"), data, None);
        self.commit(transaction).await
    }

    /// Creates a node of the job.
    pub async fn create(&self, path: &str) -> i64 {
        let mut transaction = Transaction::new();
        transaction.create(format!("/{JOB}/{path}"), "", CreateMode::Persistent);
        self.commit(transaction).await
    }

    /// Deletes a node of the job.
    pub async fn delete(&self, path: &str) -> i64 {
        let mut transaction = Transaction::new();
        transaction.delete(format!("/{JOB}/{path}"), None);
        self.commit(transaction).await
    }

    /// Commits what an operator does.
    pub async fn commit(&self, transaction: Transaction) -> i64 {
        self.registry.commit(transaction).await.unwrap_or_else(|error| panic!("{error}\n{}", self.group.logs()));
        now_us() / 1_000
    }

    /// Changes lines of the configuration in the registry, each by its key, and adds those that it does not have.
    pub async fn configure(&self, lines: &[(&str, &str)]) -> i64 {
        let before = self.node("config").await.expect("the job has a configuration");
        let change = |line: &str| {
            let key = line.split(':').next().unwrap_or_default();
            let changed = lines.iter().find(|(changed, _)| *changed == key);
            changed.map_or_else(|| line.to_owned(), |(key, value)| format!("{key}: {value}"))
        };
        let is_new = |(key, _): &&(&str, &str)| !before.lines().any(|line| line.starts_with(&format!("{key}:")));
        let new = lines.iter().filter(is_new).map(|(key, value)| format!("{key}: {value}"));
        let after: String = before.lines().map(change).chain(new).map(|line| line + "\n").collect();
        assert_ne!(before, after);
        self.set("config", &after).await
    }

    /// Waits for a fire after some time; returns it.
    pub async fn next_fire(&self, after_ms: i64) -> i64 {
        self.wait("a fire", |history| history.fires(JOB).range(after_ms + 1..).next().copied()).await
    }
}
