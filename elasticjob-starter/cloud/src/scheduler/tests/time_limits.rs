//! Items that run for longer than they may.

use super::*;

fn limited(milliseconds: u32) -> Value {
    let props = json!({ "script.timeout.milliseconds": milliseconds });
    job("long", "long", json!({ "props": props, "failover": true }))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_that_runs_for_longer_than_its_limit_is_stopped_and_not_run_again() {
    let cluster = Cluster::new();
    let one = cluster.scheduler("a").await;
    one.register(cluster.app("long", UNTIL_TOLD), limited(1_000)).await;
    one.trigger("long").await;
    let error = one.until_last("long", FireState::Failed).await.unwrap();
    assert!(error.contains("it ran for more than 1000 ms"), "{error}");
    assert_eq!(one.running("long").await, 0);
    assert_eq!(cluster.lines("runs").len(), 1);
    // One that keeps to it is left alone.
    fs::write(cluster.file("end"), "").unwrap();
    one.trigger("long").await;
    one.until_last("long", FireState::Succeeded).await;
    one.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_scheduler_that_adopts_an_item_keeps_its_limit() {
    let cluster = Cluster::new();
    let first = cluster.scheduler("a").await;
    first.register(cluster.app("long", UNTIL_TOLD), limited(3_000)).await;
    first.trigger("long").await;
    until("it runs", || async { cluster.lines("runs").len() == 1 }).await;
    first.scheduler.shutdown().await;
    let second = cluster.scheduler("a").await;
    let error = second.until_last("long", FireState::Failed).await.unwrap();
    assert!(error.contains("it ran for more than 3000 ms"), "{error}");
    assert_eq!((second.running("long").await, cluster.lines("runs").len()), (0, 1));
    second.scheduler.shutdown().await;
}
