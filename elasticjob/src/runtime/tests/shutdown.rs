use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::super::{Activity, ShutdownMode};
use super::*;
use crate::api::blocking_item_handler;

/// The reports of a run.
#[derive(Debug, PartialEq, Eq)]
enum Told {
    Began,
    Ended,
    Cancelled,
}

/// A handler whose runs end when they are released or cancelled, whichever comes first.
fn until(release: CancellationToken) -> (ItemHandler, mpsc::UnboundedReceiver<Told>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let handler = item_handler(move |context: ShardingContext| {
        let (sender, release) = (sender.clone(), release.clone());
        async move {
            let _ = sender.send(Told::Began);
            let end = tokio::select! {
                () = release.cancelled() => Told::Ended,
                () = context.cancelled() => Told::Cancelled,
            };
            let _ = sender.send(end);
        }
    });
    (handler, receiver)
}

async fn assert_left(registry: &Arc<dyn RegistryCenter>, job: &str) {
    for path in ["instances", "sharding/0/running", "leader/election"] {
        let left = children(registry, &format!("/{job}/{path}")).await;
        let left: Vec<&String> = left.iter().filter(|name| *name != "latch").collect();
        assert!(left.is_empty(), "{path}: {left:?}");
    }
    assert_eq!(children(registry, &format!("/{job}/leader/election/latch")).await, Vec::<String>::new());
    assert_eq!(registry.get(&format!("/{job}/sharding/0/running")).await.unwrap(), None);
}

#[tokio::test]
async fn a_graceful_shutdown_lets_a_run_finish_and_leaves_nothing_behind() {
    let environment = environment();
    let registry = environment.embedded_registry();
    let release = CancellationToken::new();
    let (handler, mut told) = until(release.clone());
    let mut job = scheduled(&environment, &registry, each_second("graceful", 1), handler).await;
    assert_eq!(soon(told.recv()).await, Some(Told::Began));
    let mut status = job.handle().status();
    let leaving = tokio::spawn(async move { job.shutdown(ShutdownMode::Graceful).await });
    soon(status.wait_for(|status| status.activity == Activity::Leaving)).await.unwrap();
    assert!(!leaving.is_finished());
    release.cancel();
    soon(leaving).await.unwrap();
    assert_eq!(soon(told.recv()).await, Some(Told::Ended));
    assert_left(&registry, "graceful").await;
    let record = registry.get("/graceful/sharding/0/fire").await.unwrap().unwrap();
    assert!(record.data.text().unwrap().contains("SUCCEEDED"));
}

#[tokio::test]
async fn a_run_that_outlives_the_grace_of_a_shutdown_is_cancelled() {
    let grace = Duration::from_millis(100);
    let environment = JobEnvironment::builder().shutdown_grace(grace).build().unwrap();
    let registry = environment.embedded_registry();
    let (handler, mut told) = until(CancellationToken::new());
    let mut job = scheduled(&environment, &registry, each_second("overdue", 1), handler).await;
    assert_eq!(soon(told.recv()).await, Some(Told::Began));
    let asked = std::time::Instant::now();
    soon(job.shutdown(ShutdownMode::Graceful)).await;
    assert!(asked.elapsed() >= grace);
    assert_eq!(soon(told.recv()).await, Some(Told::Cancelled));
    assert_left(&registry, "overdue").await;
}

#[tokio::test]
async fn a_shutdown_now_cancels_what_runs() {
    let environment = environment();
    let registry = environment.embedded_registry();
    let (handler, mut told) = until(CancellationToken::new());
    let mut job = scheduled(&environment, &registry, each_second("now", 1), handler).await;
    assert_eq!(soon(told.recv()).await, Some(Told::Began));
    // Far below the grace time of 25 s.
    timeout(Duration::from_secs(10), job.shutdown(ShutdownMode::Now)).await.expect("it does not wait for the run");
    assert_eq!(soon(told.recv()).await, Some(Told::Cancelled));
    assert_left(&registry, "now").await;
}

/// A handler that blocks until a stop is wanted, or until the run is cut off.
fn blocking(heeds_wishes: bool) -> (ItemHandler, mpsc::UnboundedReceiver<Told>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let handler = blocking_item_handler(move |context: ShardingContext| {
        let _ = sender.send(Told::Began);
        let token = if heeds_wishes { context.stop_token() } else { context.cancellation_token() };
        Handle::current().block_on(token.cancelled());
        let _ = sender.send(if context.is_cancelled() { Told::Cancelled } else { Told::Ended });
    });
    (handler, receiver)
}

#[tokio::test]
async fn a_blocking_run_that_heeds_the_wish_ends_before_the_grace_and_has_succeeded() {
    let environment = environment();
    let registry = environment.embedded_registry();
    let (handler, mut told) = blocking(true);
    let mut job = scheduled(&environment, &registry, each_second("heeds", 1), handler).await;
    assert_eq!(soon(told.recv()).await, Some(Told::Began));
    // Far below the grace time of 25 s.
    timeout(Duration::from_secs(10), job.shutdown(ShutdownMode::Graceful)).await.expect("it ends by itself");
    assert_eq!(soon(told.recv()).await, Some(Told::Ended));
    let record = registry.get("/heeds/sharding/0/fire").await.unwrap().unwrap();
    assert!(record.data.text().unwrap().contains("SUCCEEDED"));
}

#[tokio::test]
async fn a_blocking_run_is_told_that_it_is_cut_off_and_ends_by_itself() {
    let environment = JobEnvironment::builder().shutdown_grace(Duration::from_millis(100)).build().unwrap();
    let registry = environment.embedded_registry();
    let (handler, mut told) = blocking(false);
    let mut job = scheduled(&environment, &registry, each_second("blocks", 1), handler).await;
    assert_eq!(soon(told.recv()).await, Some(Told::Began));
    soon(job.shutdown(ShutdownMode::Graceful)).await;
    assert_eq!(soon(told.recv()).await, Some(Told::Cancelled));
    assert_left(&registry, "blocks").await;
}
