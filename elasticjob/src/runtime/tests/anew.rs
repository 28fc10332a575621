use futures_util::FutureExt;

use super::super::{Activity, ShutdownMode, StartError};
use super::*;

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
async fn a_job_made_anew_waits_until_its_last_one_has_left() {
    let environment = environment();
    let registry: Arc<dyn RegistryCenter> =
        Arc::new(MemoryRegistry::new().connect_with_timeout(Duration::from_millis(500)));
    let (handler, mut runs) = endless();
    let mut last = scheduled(&environment, &registry, each_second("anew", 1), handler).await;
    soon(runs.recv()).await.unwrap();
    // Not waited for: its run is dropped in a moment, until then it is leaving.
    assert_eq!(last.shutdown(ShutdownMode::Now).now_or_never(), None);

    let (handler, mut runs) = endless();
    let mut anew = scheduled(&environment, &registry, each_second("anew", 1), handler).await;
    assert_eq!(last.handle().status().borrow().activity, Activity::Stopped);
    assert_eq!(children(&registry, "/anew/instances").await, [environment.instance_id().to_string()]);
    soon(runs.recv()).await.unwrap();
    soon(anew.shutdown(ShutdownMode::Now)).await;
    assert_eq!(children(&registry, "/anew/instances").await, Vec::<String>::new());
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
