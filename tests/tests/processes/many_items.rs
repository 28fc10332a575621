//! A job of ten thousand items in two instances: several transactions assign, begin and finish them.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use elasticjob::api::{ItemHandler, ShardingContext, item_handler};
use elasticjob::config::JobConfiguration;
use elasticjob::ident::ShardingItem;
use elasticjob::registry::RegistryCenter;
use elasticjob::runtime::{JobEnvironment, OneOffJobBootstrap, ShutdownMode};
use elasticjob_tests::zookeeper::{ZookeeperBackend, ZookeeperServer};
use tokio::time::{Instant, sleep};

const JOB: &str = "many";
const ITEMS: u32 = 10_000;

/// A begin of half of the items is five transactions at the most, and so is their finish.
const WRITES: u64 = 10;

/// Everything that is waited for happens within this, or never.
const LIMIT: Duration = Duration::from_secs(120);

/// Time between two looks.
const LOOK: Duration = Duration::from_millis(50);

/// The runs of an instance, oldest first.
type Runs = Arc<Mutex<Vec<ShardingItem>>>;

/// An instance in a session of its own, and what it ran.
struct Member {
    center: Arc<dyn RegistryCenter>,
    job: OneOffJobBootstrap,
    runs: Runs,
}

impl Member {
    async fn start(server: &Arc<ZookeeperServer>) -> Self {
        let environment = JobEnvironment::builder().build().expect("an environment");
        let config = ZookeeperBackend::new(server.clone(), "many-items").onlooker();
        let center = environment.connect_zookeeper(config).await.expect("it connects");
        let runs = Runs::default();
        let configuration = JobConfiguration::builder(JOB, ITEMS).build().expect("a valid configuration");
        let mut job = OneOffJobBootstrap::new(&environment, center.clone(), configuration, recorder(&runs))
            .expect("the program has what it needs");
        job.start().await.expect("it joins");
        Self { center, job, runs }
    }

    fn ran(&self) -> Vec<ShardingItem> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Forgets what it ran, and returns how many transactions its session had so far.
    fn begin_count(&self) -> u64 {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.center.requests().writes
    }
}

fn recorder(runs: &Runs) -> ItemHandler {
    let runs = runs.clone();
    item_handler(move |context: ShardingContext| {
        runs.lock().unwrap_or_else(PoisonError::into_inner).push(context.sharding_item());
        async {}
    })
}

/// Two share the items, then one has all of them; each item of a trigger runs once.
pub async fn shared(server: Arc<ZookeeperServer>) {
    let first = Member::start(&server).await;
    let mut second = Member::start(&server).await;
    until_assigned(&first.center, 2).await;
    let before = [&first, &second].map(Member::begin_count);
    first.job.handle().execute().await.expect("it is triggered");
    until(|| first.ran().len() + second.ran().len() >= ITEMS as usize).await;
    for member in [&first, &second] {
        assert_eq!(member.ran().len(), ITEMS as usize / 2);
    }
    each_ran_once(first.ran().into_iter().chain(second.ran()));
    // The ends of the last ones are written.
    let half = [&first, &second].map(|member| member.center.clone());
    for (center, before) in half.iter().zip(before) {
        until_finished(center).await;
        let writes = center.requests().writes - before;
        // The one that triggers writes the trigger as well, and the session may have to be proven meanwhile.
        assert!((3..=WRITES + 6).contains(&writes), "{writes} transactions");
    }
    second.job.shutdown(ShutdownMode::Graceful).await;
    second.center.close().await;
    until_assigned(&first.center, 1).await;
    first.begin_count();
    first.job.handle().execute().await.expect("it is triggered");
    until(|| first.ran().len() >= ITEMS as usize).await;
    each_ran_once(first.ran().into_iter());
    until_finished(&first.center).await;
}

fn each_ran_once(runs: impl Iterator<Item = ShardingItem>) {
    let runs = Vec::from_iter(runs);
    assert_eq!(runs.len(), ITEMS as usize);
    assert_eq!(BTreeSet::from_iter(runs), BTreeSet::from_iter(0..ITEMS));
}

/// Waits until the first and the last item have owners, of so many instances, and no request for resharding is left.
async fn until_assigned(center: &Arc<dyn RegistryCenter>, instances: usize) {
    let limit = Instant::now() + LIMIT;
    loop {
        let mut owners = BTreeSet::new();
        for item in [0, ITEMS - 1] {
            let node = center.get(&format!("/{JOB}/sharding/{item}/instance")).await.expect("it answers");
            owners.extend(node.and_then(|node| node.data.text().map(str::to_owned)));
        }
        let live = center.children(&format!("/{JOB}/instances")).await.expect("it answers").unwrap_or_default();
        let request = center.get(&format!("/{JOB}/leader/sharding/necessary")).await.expect("it answers");
        if owners.len() == instances && owners.iter().all(|owner| live.contains(owner)) && request.is_none() {
            return;
        }
        assert!(Instant::now() < limit, "{owners:?} of {live:?}");
        sleep(LOOK).await;
    }
}

/// Waits until no item has a mark any more: the ends of all runs are written.
async fn until_finished(center: &Arc<dyn RegistryCenter>) {
    let limit = Instant::now() + LIMIT;
    for item in 0..ITEMS {
        while center.get(&format!("/{JOB}/sharding/{item}/running")).await.expect("it answers").is_some() {
            assert!(Instant::now() < limit, "item {item} is not finished");
            sleep(LOOK).await;
        }
    }
}

async fn until(is_so: impl Fn() -> bool) {
    let limit = Instant::now() + LIMIT;
    while !is_so() {
        assert!(Instant::now() < limit, "it never comes to that");
        sleep(LOOK).await;
    }
}
