//! Leaving takes a limited time, whatever does not answer.

use std::time::Duration;

use tokio::time::Instant;

use super::super::LEAVING;
use super::*;

#[tokio::test(start_paused = true)]
async fn a_scheduler_leaves_in_time_also_where_its_carrier_does_not_answer() {
    for is_embedded in [false, true] {
        let cluster = Cluster::new();
        let away = Arc::new(Away::of(&cluster));
        let center: Arc<dyn RegistryCenter> = Arc::new(cluster.registry.connect());
        let environment = JobEnvironment::builder().build().unwrap();
        let options = SchedulerOptions {
            embedded: is_embedded.then(|| cluster.file("registrations.json")),
            ..SchedulerOptions::new(environment, center.clone(), away.clone())
        };
        let one = Member { scheduler: Scheduler::start(options).await.unwrap(), center };
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
