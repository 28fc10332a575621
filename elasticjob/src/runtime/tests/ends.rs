use std::sync::atomic::Ordering;

use super::super::{Activity, ShutdownMode, TriggerError};
use super::remote::Remote;
use super::*;

/// Runs that end when they are cancelled, and tell both.
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
async fn a_job_whose_coordination_panics_gives_its_items_away_and_answers() {
    let environment = environment();
    let remote = Remote::new(LIMIT);
    let registry: Arc<dyn RegistryCenter> = remote.clone();
    let (handler, _told) = patient();
    let mut job = scheduled(&environment, &registry, each_second("buggy", 1), handler).await;
    assert_eq!(children(&registry, "/buggy/instances").await.len(), 1);
    remote.panics.store(true, Ordering::Relaxed);
    let asked = job.handle().trigger().await;
    assert!(matches!(asked, Err(TriggerError::NotRunning { .. })), "{asked:?}");
    soon(job.handle().status().wait_for(|status| status.activity == Activity::Stopped)).await.unwrap();
    assert_eq!(children(&registry, "/buggy/instances").await, Vec::<String>::new());
    let asked = job.handle().trigger().await;
    assert!(matches!(asked, Err(TriggerError::NotRunning { .. })), "{asked:?}");
    soon(job.shutdown(ShutdownMode::Graceful)).await;
}
