//! Changes that stop what runs.

use std::time::Duration;

use elasticjob::operations::Target;

use super::*;
use crate::scheduler::Running;
use crate::scheduler::nodes::{STOPPED_APPS, STOPPED_JOBS};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_of_a_job_or_an_app_stops_what_runs_where_that_is_wished_and_nothing_that_begins_later() {
    let cluster = Cluster::new();
    let members = [cluster.scheduler("a").await, cluster.scheduler("a").await];
    let one = &members[0];
    one.register(cluster.app("long", UNTIL_TOLD), job("long", "long", json!({ "failover": true }))).await;
    let store = one.scheduler.store();
    // The last one says what is so already.
    for (times, change) in ["first", "of-app", "first"].into_iter().enumerate() {
        until("the run is triggered", || async { one.operations().trigger(&Target::Job(name("long"))).await.is_ok() })
            .await;
        until("it runs", || async { one.running("long").await == 1 && cluster.lines("runs").len() == times + 1 }).await;
        let begun = one.record("long").await.unwrap().last_fire();
        match change {
            "of-app" => store
                .change_app_and(json!({ "appName": "long", "appCacheEnable": false }), Running::IsStopped)
                .await
                .unwrap(),
            description => store
                .change_job_and(json!({ "jobName": "long", "description": description }), Running::IsStopped)
                .await
                .unwrap(),
        }
        until("it is stopped", || async { one.running("long").await == 0 }).await;
        let error = one.until_last("long", FireState::Failed).await.unwrap();
        assert!(error.contains("it was stopped"), "{error}");
        let last = one.record("long").await.unwrap().last_fire();
        assert_eq!(last, begun, "it is not run again");
    }
    one.trigger("long").await;
    until("the next one runs", || async { cluster.lines("runs").len() == 4 }).await;
    // A scheduler that starts hears of the wish for the first time.
    let late = cluster.scheduler("a").await;
    late.until_online("long", 3).await;
    fs::write(cluster.file("end"), "").unwrap();
    late.until_last("long", FireState::Succeeded).await;
    assert_eq!(cluster.lines("runs").len(), 4);
    store.remove_app("long").await.unwrap();
    for folder in [STOPPED_APPS, STOPPED_JOBS] {
        assert_eq!(one.center.children(folder).await.unwrap(), Some(Vec::new()));
    }
    for member in members.into_iter().chain([late]) {
        member.scheduler.shutdown().await;
    }
}

/// The run that adopts an item after the first change may begin when the second one is written, and before it is heard of.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wish_that_comes_while_what_runs_is_adopted_stops_it() {
    let cluster = Cluster::new();
    let one = cluster.scheduler("a").await;
    one.register(cluster.app("long", UNTIL_TOLD), job("long", "long", json!({}))).await;
    let store = one.scheduler.store();
    for times in 0..40 {
        until("the run is triggered", || async { one.operations().trigger(&Target::Job(name("long"))).await.is_ok() })
            .await;
        until("it runs", || async { one.running("long").await == 1 && cluster.lines("runs").len() == times + 1 }).await;
        let change = |description| json!({ "jobName": "long", "description": format!("{description} {times}") });
        store.change_job_and(change("first"), Running::GoesOn).await.unwrap();
        // Each time at another point of what follows the first change.
        tokio::time::sleep(Duration::from_micros(250 * times as u64)).await;
        store.change_job_and(change("second"), Running::IsStopped).await.unwrap();
        until("it is stopped", || async { one.running("long").await == 0 }).await;
        let error = one.until_last("long", FireState::Failed).await.unwrap();
        assert!(error.contains("it was stopped"), "{error}");
    }
    one.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_runs_without_a_scheduler_at_the_time_of_the_change_is_stopped_by_the_next_one() {
    let cluster = Cluster::new();
    let first = cluster.left_running("a").await;
    let change = json!({ "jobName": "long", "description": "changed" });
    first.scheduler.store().change_job_and(change, Running::IsStopped).await.unwrap();
    let next = cluster.scheduler("a").await;
    until("it is stopped", || async { next.running("long").await == 0 }).await;
    let error = next.until_last("long", FireState::Failed).await.unwrap();
    assert!(error.contains("it was stopped"), "{error}");
    next.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_that_stops_what_runs_is_in_force_when_the_carrier_has_said_what_runs() {
    let cluster = Cluster::new();
    let away = Arc::new(Away::of(&cluster));
    let one = cluster.scheduler_with(away.clone()).await;
    cluster.run_long(&one).await;
    away.is_deaf.store(true, Ordering::SeqCst);
    let asked = away.asked.load(Ordering::SeqCst);
    let change = json!({ "jobName": "long", "description": "changed" });
    one.scheduler.store().change_job_and(change, Running::IsStopped).await.unwrap();
    until("the carrier does not say what runs", || async { away.asked.load(Ordering::SeqCst) > asked + 1 }).await;
    assert!(one.record("long").await.unwrap().running().is_some(), "it goes on");
    away.is_deaf.store(false, Ordering::SeqCst);
    until("it is stopped", || async { one.running("long").await == 0 }).await;
    let error = one.until_last("long", FireState::Failed).await.unwrap();
    assert!(error.contains("it was stopped"), "{error}");
    one.scheduler.shutdown().await;
}

/// The way to let runs finish before a job is disabled or removed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_is_paused_lets_its_runs_finish() {
    let cluster = Cluster::new();
    let one = cluster.scheduler("a").await;
    one.register(cluster.app("long", UNTIL_TOLD), job("long", "long", json!({ "cron": "* * * * * ?" }))).await;
    until("it runs", || async { cluster.lines("runs").len() == 1 }).await;
    one.operations().disable_servers(&Target::Job(name("long"))).await.unwrap();
    assert_eq!(one.running("long").await, 1, "it goes on");
    fs::write(cluster.file("end"), "").unwrap();
    one.until_last("long", FireState::Succeeded).await;
    let paused = one.record("long").await.unwrap().last_fire();
    one.scheduler.store().switch_job(&name("long"), false).await.unwrap();
    until("no instance is online", || async {
        one.operations().snapshot(&name("long")).await.unwrap().instances().count() == 0
    })
    .await;
    let last = one.record("long").await.unwrap().last_fire();
    assert_eq!((last, cluster.lines("runs").len()), (paused, 1));
    one.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_scheduler_that_adopts_an_item_tells_why_the_one_before_it_stopped_it() {
    let cluster = Cluster::new();
    let first = cluster.scheduler("a").await;
    let deaf = format!("trap 'echo asked >>$DIR/asked' TERM; {UNTIL_TOLD}");
    let limited =
        json!({ "props": { "script.timeout.milliseconds": 1_000 }, "gracePeriodSeconds": 3_600, "failover": true });
    first.register(cluster.app("long", &deaf), job("long", "long", limited)).await;
    first.trigger("long").await;
    until("it is asked to end", || async { cluster.lines("asked").len() == 1 }).await;
    // The next scheduler has no limit to keep: it knows of this one by the stop alone.
    let unlimited = json!({ "jobName": "long", "props": {} });
    first.scheduler.store().change_job_and(unlimited, Running::GoesOn).await.unwrap();
    first.scheduler.shutdown().await;
    let second = cluster.scheduler("a").await;
    until("it is adopted", || async {
        second.record("long").await.is_some_and(|record| record.running().is_some())
            && second.operations().snapshot(&name("long")).await.is_ok_and(|job| job.instances().count() == 1)
    })
    .await;
    fs::write(cluster.file("end"), "").unwrap();
    let error = second.until_last("long", FireState::Failed).await.unwrap();
    assert!(error.contains("it ran for more than 1000 ms"), "{error}");
    assert_eq!((cluster.lines("asked").len(), cluster.lines("runs").len()), (1, 1));
    second.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_ends_well_after_an_operator_cancelled_its_run_has_succeeded() {
    let cluster = Cluster::new();
    let one = cluster.scheduler("a").await;
    let polite = format!("trap 'echo asked >>$DIR/asked; exit 0' TERM; {UNTIL_TOLD}");
    let more = json!({ "props": { "script.timeout.milliseconds": 3_600_000 }, "gracePeriodSeconds": 60 });
    one.register(cluster.app("long", &polite), job("long", "long", more)).await;
    one.trigger("long").await;
    until("it runs", || async { cluster.lines("runs").len() == 1 }).await;
    one.operations().cancel(&name("long"), None, &CancelRequest::new("operator", "it is wrong")).await.unwrap();
    one.until_last("long", FireState::Succeeded).await;
    assert_eq!(cluster.lines("asked").len(), 1);
    one.scheduler.shutdown().await;
}

/// With one item its launch is given up; with two it goes on for the other one, and arrives.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_launch_that_is_on_its_way_when_its_run_is_cancelled_leaves_nothing_running() {
    for items in [1, 2] {
        let cluster = Cluster::new();
        let carrier = Arc::new(Away::of(&cluster));
        let one = cluster.scheduler_with(carrier.clone()).await;
        let more = json!({ "shardingTotalCount": items, "gracePeriodSeconds": 60 });
        one.register(cluster.app("long", UNTIL_TOLD), job("long", "long", more)).await;
        carrier.is_late.store(true, Ordering::SeqCst);
        one.trigger("long").await;
        until("it is on its way", || async { carrier.on_their_way.load(Ordering::SeqCst) == 1 }).await;
        one.operations().cancel(&name("long"), Some(0), &CancelRequest::new("operator", "it is wrong")).await.unwrap();
        until("the run has failed", || async {
            one.record("long").await.is_some_and(|record| record.running().is_none() && record.last.is_some())
        })
        .await;
        until("nothing else runs", || async { one.running("long").await == items - 1 }).await;
        fs::write(cluster.file("end"), "").unwrap();
        one.scheduler.shutdown().await;
    }
}
