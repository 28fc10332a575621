//! Leaving takes a limited time, whatever does not answer.

use std::time::Duration;

use tokio::time::Instant;

use super::super::LEAVING;
use super::*;

/// A scheduler whose carrier can be away.
async fn member(cluster: &Cluster, is_embedded: bool) -> (Member, Arc<Away>) {
    let away = Arc::new(Away::of(cluster));
    let center: Arc<dyn RegistryCenter> = Arc::new(cluster.registry.connect());
    let environment = JobEnvironment::builder().build().unwrap();
    let options = SchedulerOptions {
        embedded: is_embedded.then(|| cluster.file("registrations.json")),
        ..SchedulerOptions::new(environment, center.clone(), away.clone())
    };
    (Member { scheduler: Scheduler::start(options).await.unwrap(), center }, away)
}

#[tokio::test(start_paused = true)]
async fn a_scheduler_leaves_in_time_also_where_its_carrier_does_not_answer() {
    for is_embedded in [false, true] {
        let cluster = Cluster::new();
        let (one, away) = member(&cluster, is_embedded).await;
        one.register(cluster.app("long", "true"), job("long", "long", json!({}))).await;
        let asked = away.asked.load(Ordering::SeqCst);
        away.is_silent.store(true, Ordering::SeqCst);
        // The task of the job waits for an answer.
        one.scheduler.store().switch_job(&name("long"), false).await.unwrap();
        until("the carrier is asked", || async { away.asked.load(Ordering::SeqCst) > asked }).await;
        let (begun, limit) = (Instant::now(), LEAVING + one.scheduler.shutdown_grace());
        assert_eq!(limit > LEAVING, is_embedded);
        one.scheduler.shutdown().await;
        let passed = begun.elapsed();
        assert!((limit..limit + Duration::from_millis(100)).contains(&passed), "{passed:?} of {limit:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_scheduler_that_leaves_could_not_stop_is_stopped_again() {
    let cluster = Cluster::new();
    let (one, away) = member(&cluster, true).await;
    // The shutdown waits for so long at most.
    let long = job("long", "long", json!({ "gracePeriodSeconds": 60 }));
    one.register(cluster.app("long", UNTIL_TOLD), long).await;
    one.trigger("long").await;
    until("it runs", || async { cluster.lines("runs").len() == 1 }).await;
    away.is_away.store(true, Ordering::SeqCst);
    let comes_back = async {
        until("a stop was refused", || async { away.refused.load(Ordering::SeqCst) > 0 }).await;
        away.is_away.store(false, Ordering::SeqCst);
    };
    tokio::join!(one.scheduler.shutdown(), comes_back);
    assert_eq!(one.running("long").await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_of_daemons_end_with_their_scheduler_also_where_the_task_that_looks_after_them_was_left_behind() {
    let cluster = Cluster::new();
    let (one, away) = member(&cluster, true).await;
    let daemon = json!({ "jobExecutionType": "DAEMON", "cron": "0 0 3 * * ?", "gracePeriodSeconds": 60 });
    let store = one.scheduler.store();
    store.add_app(cluster.app("resident", "exec sleep 600")).await.unwrap();
    for daemon_of in ["first", "second"] {
        store.add_job(job(daemon_of, "resident", daemon.clone())).await.unwrap();
    }
    let kept = async || {
        let mut kept = 0;
        for daemon in ["first", "second"] {
            kept += away.carrier.kept(&name(daemon)).await.unwrap().len();
        }
        kept
    };
    until("both are there", || async { kept().await == 2 }).await;
    away.is_silent.store(true, Ordering::SeqCst);
    let answers_again = async {
        // Those that were asked by then get no answer any more.
        until("both were asked side by side", || async { away.unkept.load(Ordering::SeqCst) >= 2 }).await;
        away.is_silent.store(false, Ordering::SeqCst);
    };
    tokio::join!(one.scheduler.shutdown(), answers_again);
    assert_eq!(kept().await, 0);
}
