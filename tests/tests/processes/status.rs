//! Tests that `status()` says why a job did not run: two instances of two jobs on a real ZooKeeper, each instance over
//! a link of its own.

use std::sync::Arc;
use std::time::Duration;

use elasticjob::api::{ShardingContext, item_handler};
use elasticjob::config::JobConfiguration;
use elasticjob::fire::{Skip, SkipReason};
use elasticjob::registry::zookeeper::ZookeeperRegistryCenter;
use elasticjob::registry::{CreateMode, RegistryCenter, Transaction};
use elasticjob::runtime::{Activity, JobEnvironment, JobStatus, ScheduleJobBootstrap, ShutdownMode};
use elasticjob_tests::harness::Harness;
use elasticjob_tests::proxy::Proxy;
use elasticjob_tests::retry_reads::answered;
use elasticjob_tests::zookeeper::{ZookeeperBackend, ZookeeperServer};
use tokio::runtime::Handle;
use tokio::sync::watch;

/// Everything that is waited for happens within this, or never.
const LIMIT: Duration = Duration::from_secs(20);

const JOBS: [&str; 2] = ["settlement", "report"];

/// Adds the tests of this file.
pub fn add_tests(harness: &mut Harness) {
    harness.on_zookeeper("a_job_of_a_disabled_server_says_so_and_the_other_job_runs", server_disabled);
    harness.on_zookeeper("the_owner_of_a_disabled_item_says_so_and_runs_its_others", item_disabled);
    harness.on_zookeeper("a_fire_that_falls_into_a_run_names_that_run_where_it_goes_on", still_running);
    harness.on_zookeeper("an_instance_without_the_registry_says_so_and_comes_back", registry_lost);
}

async fn server_disabled(server: Arc<ZookeeperServer>) {
    let two = Two::start(server, "status-server").await;
    let servers = answered(|| two.operator.children("/settlement/servers")).await.expect("they are there");
    let set = async |state: &str| {
        let mut transaction = Transaction::new();
        for server in &servers {
            transaction.set(format!("/settlement/servers/{server}"), state, None);
        }
        two.operator.commit(transaction).await.expect("it is set");
    };
    let is_disabled = |status: &JobStatus| said(status, |skip| skip.reason == SkipReason::ServerDisabled);
    set("DISABLED").await;
    for instance in &two.instances {
        let disabled = instance.wait(0, "that the server is disabled", |status| {
            is_disabled(status) && status.activity == Activity::Idle && !status.leader
        });
        disabled.await;
        two.runs_again(instance, 1).await;
        assert!(!is_disabled(&instance.status(1)), "{:?}", instance.status(1));
    }
    set("ENABLED").await;
    for instance in &two.instances {
        two.runs_again(instance, 0).await;
    }
    two.stop().await;
}

async fn item_disabled(server: Arc<ZookeeperServer>) {
    let two = Two::start(server, "status-item").await;
    let (owner, other) = two.owner_and_other(3);
    let mut transaction = Transaction::new();
    transaction.create("/settlement/sharding/3/disabled", "", CreateMode::Persistent);
    two.operator.commit(transaction).await.expect("it is disabled");
    let disabled = |skip: &Skip| skip.reason == SkipReason::ItemDisabled && skip.items == [3];
    let status = owner.wait(0, "that the item is disabled", |status| said(status, disabled)).await;
    assert!(status.items.contains(&3), "{status:?}");
    two.runs_again(owner, 0).await;
    assert!(!said(&other.status(0), disabled), "{:?}", other.status(0));
    two.stop().await;
}

async fn still_running(server: Arc<ZookeeperServer>) {
    let two = Two::start(server, "status-running").await;
    let (owner, other) = two.owner_and_other(3);
    // A busy machine may have held runs up before.
    let known = two.last_skips(0);
    two.blocked.send_replace(Some(3));
    let is_new = |skip: &Skip| known.iter().flatten().all(|known| known.fire != skip.fire);
    let is_held = |status: &JobStatus| {
        said(status, |skip| is_new(skip) && matches!(skip.reason, SkipReason::StillRunning { .. }))
    };
    let status = owner.wait(0, "that the run before goes on", is_held).await;
    let Some(SkipReason::StillRunning { since }) = status.last_skip.map(|skip| skip.reason.clone()) else { panic!() };
    assert_eq!((status.activity, &status.running[..]), (Activity::Running(since), &[3][..]));
    let missed = owner.wait(0, "the missed fire", |status| status.missed_fire.is_some()).await.missed_fire;
    assert!(missed <= owner.status(0).last_fire, "{missed:?}");
    two.runs_again(other, 0).await;
    assert!(!is_held(&other.status(0)), "{:?}", other.status(0));
    two.blocked.send_replace(None);
    owner.wait(0, "that it is made up for", |status| status.missed_fire.is_none() && status.running.is_empty()).await;
    two.runs_again(owner, 0).await;
    two.stop().await;
}

async fn registry_lost(server: Arc<ZookeeperServer>) {
    let two = Two::start(server, "status-registry").await;
    let [lost, other] = &two.instances;
    let before = lost.status(0).session;
    let known = [0, 1].map(|job| two.last_skips(job));
    lost.link.cut();
    for job in 0..JOBS.len() {
        // The link may have been cut between a begin and its answer.
        let without_registry = [SkipReason::RegistryLost, SkipReason::BeginUnknown];
        let is_new = |skip: &Skip| known[job].iter().flatten().all(|known| known.fire != skip.fire);
        let is_lost = |status: &JobStatus| said(status, |skip| is_new(skip) && without_registry.contains(&skip.reason));
        let status = lost.wait(job, "that the registry is lost", is_lost).await;
        assert_eq!((status.activity, status.session), (Activity::AwaitingRegistry, None));
        assert!(!is_lost(&other.status(job)), "{:?}", other.status(job));
    }
    // The session ends meanwhile: all items are at the other one.
    other.wait(0, "all items", |status| status.items.len() == 4).await;
    lost.link.mend();
    for job in 0..JOBS.len() {
        let status = lost.wait(job, "that it takes part again", |status| status.session.is_some()).await;
        assert_ne!(status.session, before);
        two.runs_again(lost, job).await;
    }
    two.stop().await;
}

/// Whether what was not run last is this.
fn said(status: &JobStatus, is_this: impl Fn(&Skip) -> bool) -> bool {
    status.last_skip.as_deref().is_some_and(is_this)
}

/// Two instances that share two jobs of four items, which fire each second.
struct Two {
    operator: ZookeeperRegistryCenter,
    instances: [Instance; 2],
    /// The item of the first job whose runs do not end for now.
    blocked: watch::Sender<Option<u32>>,
}

struct Instance {
    jobs: Vec<ScheduleJobBootstrap>,
    /// How many items of each job it ran.
    runs: Vec<watch::Receiver<u64>>,
    link: Proxy,
    center: Arc<dyn RegistryCenter>,
    _environment: JobEnvironment,
}

impl Two {
    /// Starts them and waits until they share the items.
    async fn start(server: Arc<ZookeeperServer>, namespace: &str) -> Self {
        let backend = ZookeeperBackend::new(server.clone(), namespace);
        let operator = ZookeeperRegistryCenter::connect(backend.onlooker(), &Handle::current()).await;
        let operator = operator.expect("it connects");
        let blocked = watch::Sender::new(None);
        let mut instances = Vec::new();
        for _ in 0..2 {
            let link = Proxy::start(server.connect_string()).await.expect("a proxy starts");
            let environment = JobEnvironment::builder().build().expect("an environment");
            let center = environment.connect_zookeeper(backend.config(link.connect_string()));
            let center = center.await.expect("it connects");
            let mut instance = Instance { jobs: vec![], runs: vec![], link, center, _environment: environment.clone() };
            for name in JOBS {
                instance.start(&environment, name, &blocked).await;
            }
            instances.push(instance);
        }
        let instances = instances.try_into().unwrap_or_else(|_| panic!("there are two"));
        let two = Self { operator, instances, blocked };
        for instance in &two.instances {
            for job in 0..JOBS.len() {
                instance.wait(job, "its share of the items", |status| status.items.len() == 2).await;
                two.runs_again(instance, job).await;
            }
        }
        two
    }

    /// The instance that owns an item of the first job, and the other one.
    fn owner_and_other(&self, item: u32) -> (&Instance, &Instance) {
        let [one, two] = &self.instances;
        if one.status(0).items.contains(&item) { (one, two) } else { (two, one) }
    }

    /// Waits until an instance has run items of a job once more than now.
    async fn runs_again(&self, instance: &Instance, job: usize) {
        let mut runs = instance.runs[job].clone();
        let now = *runs.borrow();
        let again = tokio::time::timeout(LIMIT, runs.wait_for(|count| *count > now)).await;
        let _ = again.unwrap_or_else(|_| panic!("no run of {}: {:#?}", JOBS[job], instance.status(job)));
    }

    /// What the instances did not run last of a job.
    fn last_skips(&self, job: usize) -> Vec<Option<Skip>> {
        self.instances.iter().map(|instance| instance.status(job).last_skip.as_deref().cloned()).collect()
    }

    async fn stop(self) {
        for mut instance in self.instances {
            for job in &mut instance.jobs {
                job.shutdown(ShutdownMode::Graceful).await;
            }
            instance.center.close().await;
        }
        self.operator.close().await;
    }
}

impl Instance {
    async fn start(&mut self, environment: &JobEnvironment, name: &str, blocked: &watch::Sender<Option<u32>>) {
        let (counter, runs) = watch::channel(0);
        let (blocked, is_first) = (blocked.subscribe(), name == JOBS[0]);
        let handler = item_handler(move |context: ShardingContext| {
            counter.send_modify(|count| *count += 1);
            let (mut blocked, item) = (blocked.clone(), context.sharding_item());
            async move {
                // An error says that the test is over.
                let _ = blocked.wait_for(|blocked| !is_first || *blocked != Some(item)).await;
            }
        });
        let configuration = JobConfiguration::builder(name, 4).cron("* * * * * ?").build().expect("a configuration");
        let job = ScheduleJobBootstrap::new(environment, self.center.clone(), configuration, handler);
        let mut job = job.expect("a job");
        job.schedule().await.expect("it starts");
        self.jobs.push(job);
        self.runs.push(runs);
    }

    fn status(&self, job: usize) -> JobStatus {
        self.jobs[job].handle().status().borrow().clone()
    }

    /// Waits for a status of a job.
    async fn wait(&self, job: usize, what: &str, is_it: impl FnMut(&JobStatus) -> bool) -> JobStatus {
        let mut status = self.jobs[job].handle().status();
        let found =
            tokio::time::timeout(LIMIT, status.wait_for(is_it)).await.map(|found| found.map(|found| found.clone()));
        match found {
            Ok(found) => found.expect("the job goes on"),
            Err(_) => panic!("{what}: not within {LIMIT:?}; {:#?}", self.status(job)),
        }
    }
}
