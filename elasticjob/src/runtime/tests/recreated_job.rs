use futures_util::FutureExt;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc as blocking_mpsc;

use super::super::{Activity, ShutdownMode, StartError};
use super::*;
use crate::api::blocking_item_handler;
use crate::fire::FireRecord;

/// Runs that end when their futures are dropped, a fifth of the session time-out after they were cancelled.
fn endless() -> (ItemHandler, mpsc::UnboundedReceiver<()>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let handler = item_handler(move |_: ShardingContext| {
        let _ = sender.send(());
        std::future::pending::<()>()
    });
    (handler, receiver)
}

#[tokio::test]
async fn a_recreated_job_waits_until_its_predecessor_has_left() {
    let environment = environment();
    let registry: Arc<dyn RegistryCenter> =
        Arc::new(MemoryRegistry::new().connect_with_timeout(Duration::from_millis(500)));
    let (handler, mut runs) = endless();
    let mut predecessor = scheduled(&environment, &registry, each_second("recreated", 1), handler).await;
    soon(runs.recv()).await.unwrap();
    // The test does not wait for the shutdown: the run is dropped in a moment, and until then the job is leaving.
    assert_eq!(predecessor.shutdown(ShutdownMode::Now).now_or_never(), None);

    let (handler, mut runs) = endless();
    let mut recreated = scheduled(&environment, &registry, each_second("recreated", 1), handler).await;
    assert_eq!(predecessor.handle().status().borrow().activity, Activity::Stopped);
    assert_eq!(children(&registry, "/recreated/instances").await, [environment.instance_id().to_string()]);
    soon(runs.recv()).await.unwrap();
    soon(recreated.shutdown(ShutdownMode::Now)).await;
    assert_eq!(children(&registry, "/recreated/instances").await, Vec::<String>::new());
}

/// A lost answer is resolved by the attempt in the record: one of an engine before must not be taken for the own one.
#[tokio::test]
async fn the_attempts_of_jobs_made_one_after_the_other_in_a_session_are_all_different() {
    let environment = environment();
    let registry: Arc<dyn RegistryCenter> =
        Arc::new(MemoryRegistry::new().connect_with_timeout(Duration::from_millis(500)));
    let mut attempts = Vec::new();
    for _ in 0..3 {
        let (handler, mut runs) = endless();
        let mut job = scheduled(&environment, &registry, each_second("tried", 1), handler).await;
        soon(runs.recv()).await.unwrap();
        let record = registry.get("/tried/sharding/0/fire").await.unwrap().unwrap();
        let begun = FireRecord::parse(&record.data).running().cloned().unwrap();
        assert!(begun.attempt.is_of(job.handle().status().borrow().session.unwrap()));
        assert!(!attempts.contains(&begun.attempt), "{attempts:?} and again {}", begun.attempt);
        attempts.push(begun.attempt);
        soon(job.shutdown(ShutdownMode::Now)).await;
    }
}

#[tokio::test]
async fn a_second_job_of_a_name_is_refused_while_nobody_asked_the_first_to_leave() {
    let environment = environment();
    let registry = environment.embedded_registry();
    let (handler, _runs) = endless();
    let mut first = scheduled(&environment, &registry, each_second("twice", 1), handler.clone()).await;
    let configuration = each_second("twice", 1).build().unwrap();
    let mut second = ScheduleJobBootstrap::new(&environment, registry.clone(), configuration, handler.clone()).unwrap();
    match second.schedule().await {
        Err(StartError::Refused { why, .. }) => assert!(why.contains("runs in this process already"), "{why}"),
        other => panic!("{other:?}"),
    }
    // Another registry center has another group.
    let elsewhere = environment.embedded_registry();
    let mut third = scheduled(&environment, &elsewhere, each_second("twice", 1), handler).await;
    for job in [&mut first, &mut third] {
        soon(job.shutdown(ShutdownMode::Now)).await;
    }
}

/// Runs that block until the test releases them, whatever they are asked; and how many of them live.
pub(super) struct Stubborn {
    pub(super) handler: ItemHandler,
    pub(super) begun: mpsc::UnboundedReceiver<()>,
    pub(super) let_go: blocking_mpsc::Sender<()>,
    pub(super) live: Arc<AtomicU32>,
}

pub(super) fn stubborn() -> Stubborn {
    let (sender, begun) = mpsc::unbounded_channel();
    let (let_go, gate) = blocking_mpsc::channel();
    let (gate, live) = (std::sync::Mutex::new(gate), Arc::new(AtomicU32::new(0)));
    let counted = live.clone();
    let handler = blocking_item_handler(move |_: ShardingContext| {
        counted.fetch_add(1, Ordering::SeqCst);
        let _ = sender.send(());
        // A test that has ended releases all of them.
        let _ = gate.lock().unwrap().recv();
        counted.fetch_sub(1, Ordering::SeqCst);
    });
    Stubborn { handler, begun, let_go, live }
}

async fn record_says(registry: &Arc<dyn RegistryCenter>, path: &str, text: &str) {
    soon(async {
        loop {
            let node = registry.get(path).await.unwrap();
            if node.is_some_and(|node| node.data.text().is_some_and(|data| data.contains(text))) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
}

async fn blocking_code_left_behind(failover: bool) {
    let environment = environment();
    let memory = MemoryRegistry::new();
    let registry: Arc<dyn RegistryCenter> = Arc::new(memory.connect_with_timeout(Duration::from_millis(500)));
    let Stubborn { handler, mut begun, let_go, live } = stubborn();
    let configuration = || each_second("left", 1).failover(failover);
    let mut predecessor = scheduled(&environment, &registry, configuration(), handler.clone()).await;
    soon(begun.recv()).await.unwrap();
    soon(predecessor.shutdown(ShutdownMode::Now)).await;
    assert_eq!(live.load(Ordering::SeqCst), 1, "its code goes on");
    assert!(registry.get("/left/sharding/0/running").await.unwrap().is_some(), "and is marked");

    let mut recreated = scheduled(&environment, &registry, configuration(), handler).await;
    let mut status = recreated.handle().status();
    // No other process begins the item beside it either.
    let mut fires_seen = 0;
    soon(async {
        while fires_seen < 3 {
            status.changed().await.unwrap();
            fires_seen += u32::from(status.borrow_and_update().last_skip.is_some());
            assert_eq!(live.load(Ordering::SeqCst), 1);
        }
    })
    .await;
    assert_eq!(begun.try_recv().ok(), None);
    // The code returns: its end is written, and the item goes on.
    let_go.send(()).unwrap();
    soon(begun.recv()).await.unwrap();
    assert_eq!(live.load(Ordering::SeqCst), 1);
    drop(let_go);
    soon(recreated.shutdown(ShutdownMode::Now)).await;
}

#[tokio::test]
async fn a_recreated_job_does_not_begin_what_blocking_code_of_its_predecessor_still_runs() {
    blocking_code_left_behind(false).await;
}

#[tokio::test]
async fn nor_with_failover() {
    blocking_code_left_behind(true).await;
}

#[tokio::test]
async fn the_mark_of_blocking_code_goes_when_it_returns_after_its_job_has_left() {
    let mark_goes = async |failover| {
        let environment = environment();
        let registry: Arc<dyn RegistryCenter> =
            Arc::new(MemoryRegistry::new().connect_with_timeout(Duration::from_millis(500)));
        let Stubborn { handler, mut begun, let_go, .. } = stubborn();
        let configuration = each_second("left", 1).failover(failover);
        let mut job = scheduled(&environment, &registry, configuration, handler).await;
        soon(begun.recv()).await.unwrap();
        soon(job.shutdown(ShutdownMode::Now)).await;
        assert!(registry.get("/left/sharding/0/running").await.unwrap().is_some());
        let_go.send(()).unwrap();
        record_says(&registry, "/left/sharding/0/fire", "SUCCEEDED").await;
        assert_eq!(registry.get("/left/sharding/0/running").await.unwrap(), None);
        assert_eq!(children(&registry, "/left/sessions").await, Vec::<String>::new());
    };
    tokio::join!(mark_goes(false), mark_goes(true));
}
