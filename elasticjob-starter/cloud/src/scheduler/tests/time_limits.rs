//! Items that run for longer than they may.

use std::time::{Duration, SystemTime};

use super::*;

/// In milliseconds.
const HOUR: u32 = 3_600_000;

fn limited(name: &str, milliseconds: u32) -> Value {
    let props = json!({ "script.timeout.milliseconds": milliseconds });
    job(name, name, json!({ "props": props, "failover": true }))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_that_runs_for_longer_than_its_limit_is_stopped_and_not_run_again() {
    let cluster = Cluster::new();
    let one = cluster.scheduler("a").await;
    one.register(cluster.app("long", UNTIL_TOLD), limited("long", 1_000)).await;
    one.trigger("long").await;
    let error = one.until_last("long", FireState::Failed).await.unwrap();
    assert!(error.contains("it ran for more than 1000 ms"), "{error}");
    assert_eq!(one.running("long").await, 0);
    assert_eq!(cluster.lines("runs").len(), 1);
    // One that keeps to its limit is left alone.
    one.register(cluster.app("short", "true"), limited("short", 60_000)).await;
    one.trigger("short").await;
    one.until_last("short", FireState::Succeeded).await;
    one.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_ends_with_0_when_its_limit_stops_it_has_failed() {
    let cluster = Cluster::new();
    let one = cluster.scheduler("a").await;
    let half_done = format!("trap 'echo half >>$DIR/ends; exit 0' TERM; {UNTIL_TOLD}");
    let job =
        job("long", "long", json!({ "props": { "script.timeout.milliseconds": 1_000 }, "gracePeriodSeconds": 60 }));
    one.register(cluster.app("long", &half_done), job).await;
    one.trigger("long").await;
    let is_over = async || one.last("long").await.is_some_and(|(state, _)| state != FireState::Running);
    until("the run has ended", is_over).await;
    let (state, error) = one.last("long").await.unwrap();
    assert_eq!(state, FireState::Failed);
    assert!(error.as_ref().is_some_and(|why| why.contains("it ran for more than 1000 ms")), "{error:?}");
    assert_eq!(cluster.lines("ends"), ["half"]);
    one.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_scheduler_that_adopts_an_item_keeps_its_limit() {
    let cluster = Cluster::new();
    let first = cluster.scheduler("a").await;
    first.register(cluster.app("long", UNTIL_TOLD), limited("long", HOUR)).await;
    first.trigger("long").await;
    until("it runs", || async { cluster.lines("runs").len() == 1 }).await;
    let id = first.scheduler.carrier().launches().await.unwrap().pop().unwrap();
    first.scheduler.shutdown().await;
    // The time of this file is the begin: the limit was over an hour ago. One that counted from the adoption would wait for an hour.
    let pid = cluster.file("a").join("launches").join(id.token("tests")).join("0/pid");
    let began = SystemTime::now() - 2 * Duration::from_millis(HOUR.into());
    fs::File::options().write(true).open(pid).unwrap().set_modified(began).unwrap();
    let second = cluster.scheduler("a").await;
    let error = second.until_last("long", FireState::Failed).await.unwrap();
    assert!(error.contains("it ran for more than 3600000 ms"), "{error}");
    assert_eq!((second.running("long").await, cluster.lines("runs").len()), (0, 1));
    second.scheduler.shutdown().await;
}
