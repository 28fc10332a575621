//! A `DAEMON` job whose processes end at their start.

use elasticjob::trace::{DecisionKind, TracingConfiguration};

use super::*;
use crate::told::Told;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_daemon_that_dies_at_its_start_is_told_with_how_often_and_its_last_words() {
    let (cluster, told) = (Cluster::new(), Told::default());
    let environment = JobEnvironment::builder().build().unwrap().with_tracing(TracingConfiguration::new(told.clone()));
    let center: Arc<dyn RegistryCenter> = Arc::new(cluster.registry.connect());
    let carrier = Arc::new(ProcessCarrier::new(ProcessOptions::new(cluster.file("a"), "tests")).unwrap());
    let one = Scheduler::start(SchedulerOptions::new(environment, center, carrier)).await.unwrap();
    one.store().add_app(cluster.app("resident", "echo 'no database' >&2; exit 3")).await.unwrap();
    let daemon = json!({ "jobExecutionType": "DAEMON", "cron": "0 0 3 * * ?" });
    one.store().add_job(job("resident", "resident", daemon)).await.unwrap();
    let resident = name("resident");
    until("it is told", || async { one.troubles().contains_key(&resident) }).await;
    let trouble = one.troubles().remove(&resident).unwrap();
    assert!(
        trouble.contains("times soon after its start") && trouble.contains("exit code 3: no database"),
        "{trouble}"
    );
    until("it is recorded", || async {
        let told = told.0.lock().unwrap();
        told.iter().any(|decision| {
            decision.kind == DecisionKind::DaemonEnds
                && decision.job_name == resident
                && decision.detail["ends"].as_u64() >= Some(3)
                && decision.reason.contains("no database")
        })
    })
    .await;
    // Everybody who looks at the job sees it: the command line, the lists of the console, its metrics and alarms.
    until("it is noted", || async {
        let noted = one.operations().snapshot(&resident).await;
        noted.is_ok_and(|job| {
            job.findings(0).iter().any(|it| it.code() == "daemon-ends" && it.to_string().contains("no database"))
        })
    })
    .await;
    // A change that mends it ends the trouble, too: its processes are counted from the beginning.
    one.store().switch_job(&resident, false).await.unwrap();
    until("it is told no more", || async { one.troubles().is_empty() }).await;
    until("it is noted no more", || async {
        one.operations().snapshot(&resident).await.is_ok_and(|job| job.daemon.is_none())
    })
    .await;
    one.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_daemon_that_the_engine_refuses_is_told_until_it_is_taken() {
    let cluster = Cluster::new();
    let away = Arc::new(Away::of(&cluster));
    let one = cluster.scheduler_with(away.clone()).await.scheduler;
    away.is_unreachable.store(true, Ordering::SeqCst);
    one.store().add_app(cluster.app("resident", "exec sleep 600")).await.unwrap();
    let daemon = json!({ "jobExecutionType": "DAEMON", "cron": "0 0 3 * * ?" });
    one.store().add_job(job("resident", "resident", daemon)).await.unwrap();
    let resident = name("resident");
    until("it is told", || async {
        one.troubles().get(&resident).is_some_and(|why| why.contains("the account has no quota left"))
    })
    .await;
    // The job has never joined its group, and is known all the same.
    until("it is noted", || async {
        let noted = one.operations().snapshot(&resident).await;
        noted.is_ok_and(|job| {
            job.findings(0).iter().any(|it| it.code() == "daemon-waits" && it.to_string().contains("no quota"))
        })
    })
    .await;
    away.is_unreachable.store(false, Ordering::SeqCst);
    until("it is there", || async { away.carrier.kept(&resident).await.unwrap().len() == 1 }).await;
    until("it is told no more", || async { one.troubles().is_empty() }).await;
    until("it is noted no more", || async {
        one.operations().snapshot(&resident).await.is_ok_and(|job| job.daemon.is_none())
    })
    .await;
    one.store().remove_job(&resident).await.unwrap();
    until("it is ended", || async { away.carrier.kept(&resident).await.unwrap().is_empty() }).await;
    one.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_engine_does_not_have_is_asked_for_again_once() {
    let cluster = Cluster::new();
    let away = Arc::new(Away::of(&cluster));
    let one = cluster.scheduler_with(away.clone()).await.scheduler;
    one.store().add_app(cluster.app("resident", "exec sleep 600")).await.unwrap();
    let daemon = json!({ "jobExecutionType": "DAEMON", "cron": "0 0 3 * * ?" });
    one.store().add_job(job("resident", "resident", daemon)).await.unwrap();
    let keeps = || away.keeps.load(Ordering::SeqCst);
    until("it is kept", || async { keeps() >= 1 }).await;
    let before = keeps();
    away.is_changed.store(true, Ordering::SeqCst);
    until("it is kept again", || async { keeps() > before }).await;
    assert_eq!(keeps(), before + 1);
    one.store().remove_job(&name("resident")).await.unwrap();
    until("it is ended", || async { away.carrier.kept(&name("resident")).await.unwrap().is_empty() }).await;
    // An end that takes more than two seconds is asked for again.
    assert!(keeps() <= before + 3, "{} times after {before}", keeps());
    one.shutdown().await;
}
