use std::sync::atomic::Ordering;

use super::super::{Activity, ShutdownMode, TriggerError};
use super::remote::Remote;
use super::*;
use crate::api::JobError;

/// Runs that end when they are cancelled, and report their begin and their end.
fn patient() -> (ItemHandler, mpsc::UnboundedReceiver<&'static str>) {
    let (sender, told) = mpsc::unbounded_channel();
    let handler = item_handler(move |context: ShardingContext| {
        let sender = sender.clone();
        async move {
            let _ = sender.send("begun");
            context.cancelled().await;
            let _ = sender.send("cancelled");
        }
    });
    (handler, told)
}

#[tokio::test]
async fn jobs_end_with_their_registry_center_and_what_runs_is_told() {
    let environment = environment();
    let remote = Remote::new(LIMIT);
    let registry: Arc<dyn RegistryCenter> = remote.clone();
    let (handler, mut told) = patient();
    let job = scheduled(&environment, &registry, each_second("closed", 1), handler).await;
    assert_eq!(soon(told.recv()).await, Some("begun"));
    let before = remote.polls.load(Ordering::Relaxed);
    soon(registry.close()).await;
    assert_eq!(soon(told.recv()).await, Some("cancelled"));
    soon(job.handle().status().wait_for(|status| status.activity == Activity::Stopped)).await.unwrap();
    let polls = remote.polls.load(Ordering::Relaxed) - before;
    assert!(polls < 100, "{polls} questions to a watch that has ended");
}

#[tokio::test]
async fn a_job_whose_coordination_ends_by_a_bug_gives_its_items_away_and_comes_back() {
    let environment = environment();
    let remote = Remote::new(LIMIT);
    let registry: Arc<dyn RegistryCenter> = remote.clone();
    let (handler, mut told) = patient();
    let mut job = scheduled(&environment, &registry, each_second("buggy", 1), handler).await;
    assert_eq!(soon(told.recv()).await, Some("begun"));
    assert!(registry.get("/buggy/leader/election/instance").await.unwrap().is_some());
    let mut status = job.handle().status();
    remote.holds_registrations.send_replace(true);
    remote.panics.store(1, Ordering::Relaxed);
    let asked = job.handle().trigger().await;
    assert!(matches!(asked, Err(TriggerError::NotRunning { .. })), "{asked:?}");
    assert_eq!(soon(told.recv()).await, Some("cancelled"));
    let restarting = soon(status.wait_for(|status| status.activity == Activity::Restarting)).await.unwrap().clone();
    assert!(restarting.trouble.is_some_and(|why| why.contains("as planned")));
    // The nodes of the job that the session of the process owned are deleted, while the session goes on.
    soon(async {
        while !children(&registry, "/buggy/instances").await.is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        for left in ["/buggy/leader/election/instance", "/buggy/sharding/0/running"] {
            while registry.get(left).await.unwrap().is_some() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    })
    .await;
    let record = registry.get("/buggy/sharding/0/fire").await.unwrap().unwrap();
    assert!(record.data.text().unwrap().contains("SUCCEEDED"), "how its code ended when it was cut off: {record:?}");
    // Then another driver takes its place.
    remote.holds_registrations.send_replace(false);
    assert_eq!(soon(told.recv()).await, Some("begun"));
    assert_eq!(children(&registry, "/buggy/instances").await.len(), 1);
    assert!(job.handle().trigger().await.is_ok());
    soon(job.shutdown(ShutdownMode::Now)).await;
    assert_eq!(children(&registry, "/buggy/instances").await, Vec::<String>::new());
}

#[tokio::test]
async fn with_failover_what_the_coordination_lost_is_run_again() {
    let environment = environment();
    let remote = Remote::new(LIMIT);
    let registry: Arc<dyn RegistryCenter> = remote.clone();
    let (sender, mut runs) = mpsc::unbounded_channel();
    let handler = item_handler(move |context: ShardingContext| {
        let sender = sender.clone();
        async move {
            let _ = sender.send((context.scheduled_at(), context.source()));
            context.cancelled().await;
            // A run that returns well has ended, and is not run again.
            Err::<(), _>(JobError::message("cut off"))
        }
    });
    let configuration = JobConfiguration::builder("taken", 1).cron("0/5 * * * * ?").failover(true);
    let mut job = scheduled(&environment, &registry, configuration, handler).await;
    let (first, _) = soon(runs.recv()).await.unwrap();
    remote.panics.store(1, Ordering::Relaxed);
    let _ = job.handle().trigger().await;
    assert_eq!(soon(runs.recv()).await.unwrap(), (first, crate::fire::ExecutionSource::Failover));
    soon(job.shutdown(ShutdownMode::Now)).await;
}

#[tokio::test]
async fn a_job_whose_coordination_ends_by_a_bug_again_and_again_stays_out_and_says_so() {
    let environment = JobEnvironment::builder().restart_pause(Duration::from_millis(20)).build().unwrap();
    let remote = Remote::new(LIMIT);
    let registry: Arc<dyn RegistryCenter> = remote.clone();
    let (handler, _told) = patient();
    let mut job = scheduled(&environment, &registry, each_second("hopeless", 1), handler).await;
    let mut status = job.handle().status();
    remote.panics_at_registrations.store(u64::MAX, Ordering::Relaxed);
    remote.panics.store(1, Ordering::Relaxed);
    let _ = job.handle().trigger().await;
    let failed = soon(status.wait_for(|status| status.activity == Activity::Failed)).await;
    assert!(failed.unwrap().trouble.is_some());
    let asked = job.handle().trigger().await;
    assert!(matches!(asked, Err(TriggerError::NotRunning { .. })), "{asked:?}");
    assert_eq!(children(&registry, "/hopeless/instances").await, Vec::<String>::new());
    soon(job.shutdown(ShutdownMode::Graceful)).await;
}
