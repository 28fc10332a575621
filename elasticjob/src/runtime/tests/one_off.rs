use super::super::{OneOffJobBootstrap, ShutdownMode, TriggerError, Triggered};
use super::*;

#[tokio::test]
async fn a_one_off_job_runs_when_asked_and_one_pending_request_serves_all() {
    let environment = environment();
    let registry = environment.embedded_registry();
    let (sender, mut runs) = mpsc::unbounded_channel();
    let (release, released) = tokio::sync::watch::channel(false);
    let handler = item_handler(move |context: ShardingContext| {
        let _ = sender.send(context.sharding_item());
        let mut released = released.clone();
        async move {
            let _ = released.wait_for(|released| *released).await;
        }
    });
    let configuration = JobConfiguration::builder("reindex", 1).build().unwrap();
    let mut job = OneOffJobBootstrap::new(&environment, registry, configuration, handler).unwrap();
    let handle = job.handle();
    assert!(matches!(handle.execute().await, Err(TriggerError::NotRunning { .. })), "not started yet");

    job.start().await.unwrap();
    assert_eq!(soon(handle.execute()).await, Ok(Triggered::Queued));
    assert_eq!(soon(runs.recv()).await, Some(0));
    // While it runs, one request waits, and the same run serves the next requests.
    assert_eq!(soon(handle.execute()).await, Ok(Triggered::Queued));
    assert_eq!(soon(handle.execute()).await, Ok(Triggered::AlreadyPending));
    release.send_replace(true);
    assert_eq!(soon(runs.recv()).await, Some(0));

    soon(job.shutdown(ShutdownMode::Graceful)).await;
    assert!(matches!(handle.execute().await, Err(TriggerError::NotRunning { .. })), "stopped");
    assert!(runs.try_recv().is_err(), "two runs for three requests");
}
