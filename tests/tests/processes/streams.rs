//! Streams of dataflow jobs on a real ZooKeeper: they go on for ever, until something else has to have its turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use elasticjob::api::{Dataflow, JobError, JobResult, ShardingContext, dataflow_handler};
use elasticjob::config::JobConfiguration;
use elasticjob::ident::ShardingItem;
use elasticjob::registry::{CreateMode, RegistryCenter, Transaction};
use elasticjob::runtime::{Activity, JobEnvironment, JobStatus, ScheduleJobBootstrap, ShutdownMode};
use elasticjob::testing::registry_suite::{Backend, Link, Member};
use elasticjob_tests::harness::Harness;
use elasticjob_tests::retry_reads::answered;
use elasticjob_tests::zookeeper::{ZookeeperBackend, ZookeeperServer};
use tokio::time::timeout;

const JOB: &str = "stream";
const ITEMS: u32 = 4;
/// Everything that is waited for happens within this, or never.
const LIMIT: Duration = Duration::from_secs(20);

/// Adds the tests of this file.
pub fn add_tests(harness: &mut Harness) {
    harness.on_zookeeper("an_instance_that_joins_gets_its_share_of_what_streams", joined);
    harness.on_zookeeper("an_item_that_is_disabled_streams_no_more_and_the_others_go_on", item_disabled);
    harness.on_zookeeper("a_server_that_is_disabled_streams_no_more_until_it_is_enabled", server_disabled);
    harness.on_zookeeper("a_shutdown_completes_the_round_under_way_and_waits_for_nothing_else", shut_down);
    harness.on_zookeeper("streaming_that_is_switched_off_ends_the_streams", switched_off);
    harness.on_zookeeper("a_session_that_is_lost_cuts_a_stream_off_in_the_midst_of_a_round", cut_off);
}

/// There is always more to do.
#[derive(Debug, Clone, Default)]
struct Endless {
    rounds: Arc<Rounds>,
}

#[derive(Debug, Default)]
struct Rounds {
    begun: AtomicU64,
    completed: AtomicU64,
    dropped: AtomicU64,
}

impl Rounds {
    fn counted(&self) -> [u64; 3] {
        [&self.begun, &self.completed, &self.dropped].map(|count| count.load(Ordering::SeqCst))
    }
}

/// A round under way.
struct Round<'a>(&'a Rounds, bool);

impl Drop for Round<'_> {
    fn drop(&mut self) {
        let count = if self.1 { &self.0.completed } else { &self.0.dropped };
        count.fetch_add(1, Ordering::SeqCst);
    }
}

impl Dataflow for Endless {
    type Item = Duration;

    async fn fetch(&self, context: &ShardingContext) -> Result<Vec<Duration>, JobError> {
        let each: u64 = context.job_parameter().parse()?;
        Ok(vec![Duration::from_millis(each)])
    }

    async fn process(&self, _: &ShardingContext, work: Vec<Duration>) -> JobResult {
        self.rounds.begun.fetch_add(1, Ordering::SeqCst);
        let mut round = Round(&self.rounds, false);
        tokio::time::sleep(work.iter().sum()).await;
        round.1 = true;
        Ok(())
    }
}

/// An instance of the job, and what its stream does.
struct Instance {
    job: ScheduleJobBootstrap,
    center: Arc<dyn RegistryCenter>,
    link: Box<dyn Link>,
    rounds: Arc<Rounds>,
}

/// A job that streams, in rounds of so many milliseconds.
fn streaming(round_ms: u64) -> JobConfiguration {
    let builder = JobConfiguration::builder(JOB, ITEMS).cron("* * * * * ?").job_parameter(round_ms.to_string());
    builder.prop("streaming.process", "true").build().expect("a configuration")
}

impl Instance {
    async fn start(backend: &ZookeeperBackend, configuration: &JobConfiguration) -> Self {
        let Member { center, link } = backend.connect().await;
        let center: Arc<dyn RegistryCenter> = center.into();
        let environment = JobEnvironment::builder().build().expect("an environment");
        let endless = Endless::default();
        let rounds = endless.rounds.clone();
        let handler = dataflow_handler(endless);
        let job = ScheduleJobBootstrap::new(&environment, center.clone(), configuration.clone(), handler);
        let mut job = job.expect("a job");
        job.schedule().await.expect("it starts");
        Self { job, center, link, rounds }
    }

    /// Waits until its status is as wanted.
    async fn until(&self, what: &str, is_so: impl Fn(&JobStatus) -> bool) -> JobStatus {
        let mut status = self.job.handle().status();
        match timeout(LIMIT, status.wait_for(&is_so)).await {
            Ok(Ok(status)) => status.clone(),
            _ => panic!("{what}: not in time: {:?}", *self.job.handle().status().borrow()),
        }
    }

    /// Waits until it streams these items.
    async fn streams(&self, items: &[ShardingItem]) {
        self.until(&format!("streams of {items:?}"), |status| status.running == items).await;
    }

    /// How many fires are over and how many rounds were begun, of a moment with nothing under way and so many fires.
    async fn counted_when_idle(&self, fires: u64) -> (u64, u64) {
        let handle = self.job.handle();
        loop {
            let idle = |status: &JobStatus| status.activity == Activity::Idle && status.fires >= fires;
            let status = self.until("a moment without a run", idle).await;
            let [begun, ..] = self.rounds.counted();
            if *handle.status().borrow() == status {
                return (status.fires, begun);
            }
        }
    }

    /// What the record of an item says of its last run.
    async fn record(&self, item: ShardingItem) -> String {
        let node = answered(|| self.center.get(&format!("/{JOB}/sharding/{item}/fire"))).await;
        node.and_then(|node| node.data.text().map(str::to_owned)).expect("the item has a record")
    }

    /// Waits until the record of an item says so of its last run.
    async fn recorded(&self, item: ShardingItem, state: &str) {
        let limit = tokio::time::Instant::now() + LIMIT;
        loop {
            let record = self.record(item).await;
            if record.contains(state) {
                return;
            }
            assert!(tokio::time::Instant::now() < limit, "item {item} stays {record}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Ends it at once.
    async fn end(mut self) {
        self.job.shutdown(ShutdownMode::Now).await;
        self.center.close().await;
    }

    async fn commit<R>(&self, write: impl FnOnce(&mut Transaction) -> R) {
        let mut transaction = Transaction::new();
        write(&mut transaction);
        self.center.commit(transaction).await.expect("it is written");
    }
}

fn backend(server: Arc<ZookeeperServer>, namespace: &str) -> ZookeeperBackend {
    ZookeeperBackend::new(server, format!("streams-{namespace}"))
}

async fn joined(server: Arc<ZookeeperServer>) {
    let backend = backend(server, "joined");
    let first = Instance::start(&backend, &streaming(20)).await;
    first.streams(&[0, 1, 2, 3]).await;
    let second = Instance::start(&backend, &streaming(20)).await;
    let halves = [[0, 1], [2, 3]];
    let half = |status: &JobStatus| halves.iter().any(|half| status.running == half);
    // Of one moment: the items of both are all.
    let limit = tokio::time::Instant::now() + LIMIT;
    loop {
        let (one, other) = (first.until("half", half).await, second.until("half", half).await);
        if one.running != other.running {
            break;
        }
        assert!(tokio::time::Instant::now() < limit, "both stream {:?}", one.running);
    }
    first.end().await;
    second.end().await;
}

async fn item_disabled(server: Arc<ZookeeperServer>) {
    let instance = Instance::start(&backend(server, "item"), &streaming(20)).await;
    instance.streams(&[0, 1, 2, 3]).await;
    let path = format!("/{JOB}/sharding/1/disabled");
    instance.commit(|transaction| transaction.create(path.clone(), "", CreateMode::Persistent)).await;
    instance.streams(&[0, 2, 3]).await;
    // Its end is written while the others go on.
    instance.recorded(1, "SUCCEEDED").await;
    instance.streams(&[0, 2, 3]).await;
    instance.end().await;
}

async fn server_disabled(server: Arc<ZookeeperServer>) {
    let instance = Instance::start(&backend(server, "server"), &streaming(20)).await;
    instance.streams(&[0, 1, 2, 3]).await;
    let id = instance.job.handle().status().borrow().instance.clone();
    let path = format!("/{JOB}/servers/{}", id.server_ip());
    instance.commit(|transaction| transaction.set(path.clone(), "DISABLED", None)).await;
    instance.streams(&[]).await;
    instance.commit(|transaction| transaction.set(path, "ENABLED", None)).await;
    instance.streams(&[0, 1, 2, 3]).await;
    instance.end().await;
}

async fn shut_down(server: Arc<ZookeeperServer>) {
    let mut instance = Instance::start(&backend(server, "shutdown"), &streaming(300)).await;
    instance.streams(&[0, 1, 2, 3]).await;
    // Far below the grace time of 25 s.
    let leaving = timeout(Duration::from_secs(10), instance.job.shutdown(ShutdownMode::Graceful)).await;
    leaving.expect("it waits for the round under way alone");
    let [begun, completed, dropped] = instance.rounds.counted();
    assert_eq!((begun, 0), (completed, dropped));
    for item in 0..ITEMS {
        assert!(instance.record(item).await.contains("SUCCEEDED"), "{}", instance.record(item).await);
    }
    instance.end().await;
}

async fn switched_off(server: Arc<ZookeeperServer>) {
    let instance = Instance::start(&backend(server, "off"), &streaming(20)).await;
    instance.streams(&[0, 1, 2, 3]).await;
    let path = format!("/{JOB}/config");
    let node = answered(|| instance.center.get(&path)).await.expect("it has a configuration");
    let yaml = node.data.text().expect("text").to_owned();
    let off = yaml.replace("streaming.process: 'true'", "streaming.process: 'false'");
    assert_ne!(yaml, off, "{yaml}");
    instance.commit(|transaction| transaction.set(path, off, None)).await;
    instance.streams(&[]).await;
    // A fire is one round an item from now on.
    let (fires, begun) = instance.counted_when_idle(0).await;
    let (fires_then, begun_then) = instance.counted_when_idle(fires + 1).await;
    assert_eq!(begun_then - begun, u64::from(ITEMS) * (fires_then - fires));
    instance.end().await;
}

async fn cut_off(server: Arc<ZookeeperServer>) {
    let instance = Instance::start(&backend(server, "cut"), &streaming(3_600_000)).await;
    instance.streams(&[0, 1, 2, 3]).await;
    instance.link.cut().await;
    instance.streams(&[]).await;
    assert_eq!(instance.rounds.counted(), [4, 0, 4], "rounds begun, completed and dropped");
    instance.link.mend().await;
    instance.end().await;
}
