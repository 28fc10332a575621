//! The schedulers of a registry center have one carrier.

use elasticjob::registry::SessionState;

use super::super::nodes::SCHEDULERS;
use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scheduler_with_another_carrier_than_a_live_one_does_not_start() {
    let cluster = Cluster::new();
    let one = cluster.scheduler("a").await;
    let same = cluster.scheduler("b").await;
    let start = async || {
        let other = Away::of_host(&cluster, "other");
        other.name.set("KUBERNETES".to_owned()).unwrap();
        let environment = JobEnvironment::builder().build().unwrap();
        let center: Arc<dyn RegistryCenter> = Arc::new(cluster.registry.connect());
        Scheduler::start(SchedulerOptions::new(environment, center, Arc::new(other))).await
    };
    let refused = start().await.err().unwrap().to_string();
    for part in ["carrier KUBERNETES", "has PROCESS", "Stop the other one", "elasticjob.reg-center.namespace"] {
        assert!(refused.contains(part), "{refused}");
    }
    // What was refused is no scheduler, and is in nobody's way.
    let names = async || one.center.children(SCHEDULERS).await.unwrap().unwrap();
    assert_eq!(names().await.len(), 2);
    same.scheduler.shutdown().await;
    // The last one is seen in its next session, too.
    let session = *one.center.session().borrow();
    let SessionState::Connected { id, .. } = session else { panic!("{session:?}") };
    let before = names().await;
    cluster.registry.expire(id);
    until("it is entered again", || async {
        let now = names().await;
        now.len() == 1 && now != before
    })
    .await;
    assert!(matches!(start().await, Err(StoreError::OtherCarrier { .. })));
    one.scheduler.shutdown().await;
    start().await.unwrap().shutdown().await;
}
