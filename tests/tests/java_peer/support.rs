//! A job in processes of both kinds, and an observer of the registry.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use elasticjob::ident::JobName;
use elasticjob::operations::Operations;
use elasticjob::registry::RegistryCenter;
use elasticjob::registry::zookeeper::ZookeeperRegistryCenter;
use elasticjob_tests::group::{Group, WorkerProgram};
pub use elasticjob_tests::java_peer::Kind;
use elasticjob_tests::java_peer::{JavaOperator, JavaPeer, MixedProgram};
use elasticjob_tests::records::{History, Run, pid_of};
use elasticjob_tests::retry_reads::answered;
use elasticjob_tests::worker::JobPlan;
use elasticjob_tests::zookeeper::{ZookeeperBackend, ZookeeperServer};
use tokio::runtime::Handle;
use tokio::time::Instant;

pub const JOB: &str = "mixed";
pub const ITEMS: u32 = 4;

/// A virtual machine for Java may pause.
const SESSION_TIMEOUT: Duration = Duration::from_secs(4);

/// Everything that is waited for happens within this, or never.
pub const LIMIT: Duration = Duration::from_secs(60);

/// Time between two looks at the registry.
const LOOK: Duration = Duration::from_millis(50);

/// How many fires show that a group has come to rest.
const FIRES: usize = 3;

/// The job of most tests. Java runs the items of a fire that it missed after those of the last one, and for that one once more: on a
/// machine where it needs more than a second for a fire, no fire would have all items once.
pub fn each_second() -> JobPlan {
    JobPlan { misfire: false, ..JobPlan::each_second(JOB, ITEMS, 100) }
}

/// Processes that share jobs in a namespace.
pub struct Mixed {
    pub group: Group<MixedProgram>,
    peer: Arc<JavaPeer>,
    servers: String,
    namespace: String,
    digest: Option<String>,
    registry: Arc<dyn RegistryCenter>,
}

impl Mixed {
    /// No process yet.
    pub async fn new(server: &Arc<ZookeeperServer>, peer: &Arc<JavaPeer>, namespace: &str, jobs: Vec<JobPlan>) -> Self {
        Self::with_digest(server, peer, namespace, jobs, None).await
    }

    /// The same, where every process authenticates with `user:password`.
    pub async fn with_digest(
        server: &Arc<ZookeeperServer>,
        peer: &Arc<JavaPeer>,
        namespace: &str,
        jobs: Vec<JobPlan>,
        digest: Option<&str>,
    ) -> Self {
        let servers = server.connect_string();
        let worker: (&str, &[&str]) = (env!("CARGO_BIN_EXE_worker"), &[]);
        let mut program = WorkerProgram::new(worker, servers.clone(), namespace, jobs, SESSION_TIMEOUT);
        let mut config = ZookeeperBackend::new(server.clone(), namespace).onlooker();
        if let Some(digest) = digest {
            program = program.with_digest(digest);
            config.digest = Some(digest.to_owned().into());
        }
        let registry = ZookeeperRegistryCenter::connect(config, &Handle::current()).await.expect("it connects");
        Self {
            group: Group::new(MixedProgram::new(program, Some(peer.clone()))),
            peer: peer.clone(),
            servers,
            namespace: namespace.to_owned(),
            digest: digest.map(str::to_owned),
            registry: Arc::new(registry),
        }
    }

    /// A process of each kind, in this order, that share the items of [`JOB`]: Rust first, then Java.
    pub async fn pair(
        server: &Arc<ZookeeperServer>,
        peer: &Arc<JavaPeer>,
        namespace: &str,
        job: JobPlan,
    ) -> (Self, [u32; 2]) {
        let items = job.items;
        let mut mixed = Self::new(server, peer, namespace, vec![job]).await;
        let pids = [mixed.start(Kind::Rust).await, mixed.start(Kind::Java).await];
        mixed.split(items, &pids, 0).await;
        (mixed, pids)
    }

    /// Starts one more process and returns its id.
    pub async fn start(&mut self, kind: Kind) -> u32 {
        match kind {
            Kind::Rust => self.group.start().await,
            Kind::Java => self.group.start_java().await,
        }
    }

    /// Operators of this implementation.
    pub fn operations(&self) -> Operations {
        Operations::new(self.registry.clone())
    }

    /// An operator of the Java release.
    pub fn java_operator(&self) -> JavaOperator {
        JavaOperator::start(&self.peer, &self.servers, &self.namespace, self.digest.as_deref())
    }

    pub fn registry(&self) -> &Arc<dyn RegistryCenter> {
        &self.registry
    }

    /// Waits for fires after some time, one after the other, of which exactly these processes run all items once; returns
    /// the last.
    pub async fn split(&self, items: u32, pids: &[u32], after_ms: i64) -> i64 {
        let mut wanted = pids.to_vec();
        wanted.sort_unstable();
        let is_shared = |history: &History, fire: i64| {
            let of_fire = |run: &&Run| run.job == JOB && run.scheduled_ms == fire;
            let owners = history.owners(JOB, fire);
            let mut pids: Vec<u32> = owners.values().copied().collect();
            pids.sort_unstable();
            pids.dedup();
            pids == wanted
                && owners.len() == items as usize
                && history.runs.iter().filter(of_fire).count() == owners.len()
        };
        let find = |history: &History| {
            let fires: Vec<i64> = history.fires(JOB).range(after_ms + 1..).copied().collect();
            let together = |fires: &&[i64]| fires.iter().all(|fire| is_shared(history, *fire));
            fires.windows(FIRES).find(together).map(|fires| fires[FIRES - 1])
        };
        match self.group.find(LIMIT, find).await {
            Some(fire) => fire,
            None => panic!(
                "{items} items shared by the processes {pids:?}: not within {LIMIT:?}\n{}{}",
                self.asked_and_run().await,
                self.group.logs()
            ),
        }
    }

    /// The state of the sharding, and who ran the last fires.
    async fn asked_and_run(&self) -> String {
        let mut told = String::new();
        for node in ["leader/election/instance", "leader/sharding/necessary", "leader/sharding/processing"] {
            told.push_str(&format!("{node}: {:?}\n", self.node(JOB, node).await));
        }
        for node in ["leader/election/latch", "instances", "sharding"] {
            told.push_str(&format!("below {node}: {:?}\n", self.children(JOB, node).await));
        }
        for item in 0..ITEMS {
            let owner = self.node(JOB, &format!("sharding/{item}/instance")).await;
            let nodes = self.children(JOB, &format!("sharding/{item}")).await;
            told.push_str(&format!("item {item} of {owner:?}: {nodes:?}\n"));
        }
        let history = self.group.history();
        for fire in history.fires(JOB).iter().rev().take(10) {
            told.push_str(&format!("fire {fire}: {:?}\n", history.owners(JOB, *fire)));
        }
        told
    }

    /// The data of a node, `None` where there is none.
    pub async fn node(&self, job: &str, path: &str) -> Option<String> {
        let node = answered(|| self.registry.get(&format!("/{job}/{path}"))).await;
        node.map(|node| node.data.text().expect("text").to_owned())
    }

    /// The names below a node, none where there is no such node.
    pub async fn children(&self, job: &str, path: &str) -> Vec<String> {
        answered(|| self.registry.children(&format!("/{job}/{path}"))).await.unwrap_or_default()
    }

    /// The owners of the items that have one.
    pub async fn owners(&self, job: &str, items: u32) -> BTreeMap<u32, String> {
        let mut owners = BTreeMap::new();
        for item in 0..items {
            if let Some(owner) = self.node(job, &format!("sharding/{item}/instance")).await {
                owners.insert(item, owner);
            }
        }
        owners
    }

    /// The process that leads.
    pub async fn leader(&self, job: &str) -> Option<u32> {
        self.node(job, "leader/election/instance")
            .await
            .map(|id| pid_of(&id).expect("an instance id names the process"))
    }

    /// Waits until something is to be found in the registry.
    pub async fn until<T>(&self, what: &str, find: impl AsyncFn() -> Option<T>) -> T {
        let deadline = Instant::now() + LIMIT;
        loop {
            if let Some(found) = find().await {
                return found;
            }
            assert!(Instant::now() < deadline, "{what}: not within {LIMIT:?}\n{}", self.group.logs());
            tokio::time::sleep(LOOK).await;
        }
    }

    /// The address of this host, under which processes of both kinds are registered.
    pub async fn ip(&self) -> String {
        let servers = self.children(JOB, "servers").await;
        let [ip] = servers.as_slice() else { panic!("not one server: {servers:?}") };
        ip.clone()
    }
}

pub fn job_name() -> JobName {
    JOB.parse().expect("a name for a job")
}
