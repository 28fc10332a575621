//! Removals that break off, and what others write at the same moment.

use std::pin::Pin;
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;

use elasticjob::registry::{
    Answer, CommitError, Committed, CreateMode, NodeData, Proof, RequestCount, Transaction, WatchStream,
};
use tokio::sync::watch;

use super::*;
use crate::scheduler::nodes::{APPS, CARRIED, DISABLED_APPS, DISABLED_JOBS, JOBS, LAUNCHED, Node};
use crate::scheduler::store::Store;

type Other = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A connection that breaks for good after some transactions, or before whose next one another client writes.
struct Disturbed {
    center: Arc<dyn RegistryCenter>,
    left: AtomicUsize,
    before: Mutex<Option<Other>>,
}

impl std::fmt::Debug for Disturbed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Disturbed").field("left", &self.left).finish_non_exhaustive()
    }
}

impl RegistryCenter for Disturbed {
    fn get(&self, path: &str) -> Answer<Option<NodeData>> {
        self.center.get(path)
    }

    fn children(&self, path: &str) -> Answer<Option<Vec<String>>> {
        self.center.children(path)
    }

    fn commit(&self, transaction: Transaction) -> Answer<Committed, CommitError> {
        let take = |left: usize| left.checked_sub(1);
        if self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).is_err() {
            return Box::pin(async { Err(CommitError::NotReached { why: "the process is gone".into() }) });
        }
        let (center, before) = (self.center.clone(), self.before.lock().unwrap().take());
        Box::pin(async move {
            if let Some(other) = before {
                other.await;
            }
            center.commit(transaction).await
        })
    }

    fn watch(&self, path: &str) -> Box<dyn WatchStream> {
        self.center.watch(path)
    }

    fn session(&self) -> watch::Receiver<SessionState> {
        self.center.session()
    }

    fn proof(&self) -> Option<Proof> {
        self.center.proof()
    }

    fn requests(&self) -> RequestCount {
        self.center.requests()
    }

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
        self.center.close()
    }
}

fn environment() -> JobEnvironment {
    JobEnvironment::builder().build().unwrap()
}

/// The registrations of an app and two jobs, all disabled, with notes of launches.
struct Desk {
    cluster: Cluster,
    center: Arc<dyn RegistryCenter>,
    store: Store,
}

impl Desk {
    async fn new() -> Self {
        let cluster = Cluster::new();
        let center: Arc<dyn RegistryCenter> = Arc::new(cluster.registry.connect());
        let store = Store::new(center.clone(), Arc::new(Away::of(&cluster)), environment(), None);
        store.prepare().await.unwrap();
        store.add_app(cluster.app("app", "true")).await.unwrap();
        store.switch_app("app", false).await.unwrap();
        for one in ["one", "two"] {
            store.add_job(job(one, "app", json!({ "disabled": true }))).await.unwrap();
            write(&center, &format!("{LAUNCHED}/{one}"), "{}").await;
        }
        Self { cluster, center, store }
    }

    /// The same registrations over a connection that breaks, or is disturbed.
    fn disturbed(&self, left: usize, before: Option<Other>) -> Store {
        let center = self.center.clone();
        let disturbed = Disturbed { center, left: left.into(), before: Mutex::new(before) };
        Store::new(Arc::new(disturbed), Arc::new(Away::of(&self.cluster)), environment(), None)
    }

    /// All nodes of registrations.
    async fn nodes(&self) -> Vec<String> {
        let mut nodes = Vec::new();
        for parent in [APPS, JOBS, DISABLED_APPS, DISABLED_JOBS, LAUNCHED] {
            let names = self.center.children(parent).await.unwrap().unwrap();
            nodes.extend(names.into_iter().map(|name| format!("{parent}/{name}")));
        }
        nodes
    }
}

async fn write(center: &Arc<dyn RegistryCenter>, path: &str, data: &str) {
    let mut transaction = Transaction::new();
    transaction.create(path, data, CreateMode::Persistent);
    center.commit(transaction).await.unwrap();
}

#[tokio::test]
async fn a_removal_that_breaks_off_leaves_everything_or_nothing() {
    for with_app in [false, true] {
        for left in 0.. {
            let desk = Desk::new().await;
            let before = desk.nodes().await;
            let broken = desk.disturbed(left, None);
            let removed = match with_app {
                true => broken.remove_app("app").await,
                false => broken.remove_job(&name("one")).await,
            };
            let after = desk.nodes().await;
            if removed.is_ok() {
                let is_gone = |node: &String| with_app || node.ends_with("/one");
                assert!(!after.iter().any(is_gone), "{after:?}");
                break;
            }
            assert_eq!(after, before, "with the app: {with_app}, broken after {left} transactions");
        }
    }
}

#[tokio::test]
async fn what_another_client_writes_at_the_moment_of_a_removal_is_not_left() {
    for path in [format!("{LAUNCHED}/late"), Node::DisabledJob(name("late")).path()] {
        let desk = Desk::new().await;
        desk.store.add_job(job("late", "app", json!({}))).await.unwrap();
        let center = desk.center.clone();
        let other: Other = Box::pin(async move { write(&center, &path, "").await });
        desk.disturbed(usize::MAX, Some(other)).remove_job(&name("late")).await.unwrap();
        let nodes = desk.nodes().await;
        assert!(!nodes.iter().any(|node| node.ends_with("/late")), "{nodes:?}");
    }
}

#[tokio::test]
async fn a_job_that_joins_an_app_while_that_is_removed_goes_with_it() {
    for is_moved in [false, true] {
        let desk = Desk::new().await;
        desk.store.add_app(desk.cluster.app("other", "true")).await.unwrap();
        if is_moved {
            desk.store.add_job(job("late", "other", json!({}))).await.unwrap();
        }
        let store = desk.store.clone();
        let other: Other = Box::pin(async move {
            let late = job("late", "app", json!({}));
            if is_moved { store.change_job(late).await.unwrap() } else { store.add_job(late).await.unwrap() }
        });
        desk.disturbed(usize::MAX, Some(other)).remove_app("app").await.unwrap();
        assert_eq!(desk.nodes().await, [format!("{APPS}/other")], "moved: {is_moved}");
    }
}

#[tokio::test]
async fn a_job_or_app_that_is_removed_at_the_moment_is_not_disabled() {
    let desk = Desk::new().await;
    let removes = |with_app: bool| -> Option<Other> {
        let store = desk.store.clone();
        Some(Box::pin(async move {
            match with_app {
                true => store.remove_app("app").await.unwrap(),
                false => store.remove_job(&name("one")).await.unwrap(),
            }
        }))
    };
    let job = desk.disturbed(usize::MAX, removes(false)).switch_job(&name("one"), false).await;
    assert!(matches!(job, Err(StoreError::NoSuchJob(_))), "{job:?}");
    let app = desk.disturbed(usize::MAX, removes(true)).switch_app("app", false).await;
    assert!(matches!(app, Err(StoreError::NoSuchApp(_))), "{app:?}");
    assert_eq!(desk.nodes().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_job_is_registered_as_it_says_whatever_an_earlier_one_of_its_name_left() {
    let desk = Desk::new().await;
    write(&desk.center, &Node::DisabledJob(name("new")).path(), "").await;
    desk.store.add_job(job("new", "app", json!({}))).await.unwrap();
    let all = desk.store.registrations().await.unwrap();
    assert!(!all.disabled_jobs.contains(&name("new")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_removed_job_runs_is_stopped_and_forgotten_by_the_next_scheduler_of_its_place() {
    let cluster = Cluster::new();
    let _first = cluster.left_running("a").await;
    // A scheduler of another place cannot end it, and is gone before it has looked after anything.
    let other = cluster.scheduler("b").await;
    other.scheduler.store().remove_job(&name("long")).await.unwrap();
    let next = cluster.scheduler("a").await;
    until("it is stopped", || async { next.running("long").await == 0 }).await;
    until("it is forgotten", || async { next.scheduler.carrier().launches().await.unwrap().is_empty() }).await;
    until("no note is left", || async { next.center.children(CARRIED).await.unwrap() == Some(Vec::new()) }).await;
    for member in [next, other] {
        member.scheduler.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_nodes_of_a_removed_job_go_also_when_an_instance_was_still_online() {
    let cluster = Cluster::new();
    let one = cluster.scheduler("a").await;
    one.register(cluster.app("quick", "true"), job("quick", "quick", json!({}))).await;
    // A scheduler that was killed, whose session has not ended yet.
    let killed: Arc<dyn RegistryCenter> = Arc::new(cluster.registry.connect());
    let mut online = Transaction::new();
    online.create("/quick/instances/10.0.0.9@-@1", "", CreateMode::Ephemeral);
    killed.commit(online).await.unwrap();
    one.scheduler.store().remove_job(&name("quick")).await.unwrap();
    until("the scheduler has left", || async {
        let online = one.center.children("/quick/instances").await.unwrap();
        assert!(online.is_some(), "an instance is online");
        online.is_some_and(|online| online == ["10.0.0.9@-@1"])
    })
    .await;
    killed.close().await;
    until("its nodes are removed", || async { one.center.get("/quick").await.unwrap().is_none() }).await;
    one.scheduler.shutdown().await;
}
