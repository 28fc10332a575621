//! A place that is lost while an item runs there.

use elasticjob::trace::{DecisionKind, TracingConfiguration};
use rustix::process::{Pid, Signal, kill_process_group};

use super::*;
use crate::told::Told;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_that_runs_again_says_which_attempt_it_is_and_why() {
    let (cluster, told) = (Cluster::new(), Told::default());
    let environment = JobEnvironment::builder().build().unwrap().with_tracing(TracingConfiguration::new(told.clone()));
    let center: Arc<dyn RegistryCenter> = Arc::new(cluster.registry.connect());
    let carrier = Arc::new(ProcessCarrier::new(ProcessOptions::new(cluster.file("a"), "tests")).unwrap());
    let options = SchedulerOptions::new(environment, center.clone(), carrier);
    let one = Member { scheduler: Scheduler::start(options).await.unwrap(), center };
    one.register(cluster.app("work", UNTIL_TOLD), job("work", "work", json!({ "failover": true }))).await;
    let registered = one.scheduler.registrations().borrow().jobs[&name("work")].clone();
    let task = async || one.scheduler.tasks(&registered).await.unwrap().items.remove(&0);
    one.trigger("work").await;
    until("it runs", || async { matches!(task().await, Some(ItemTask::Running { attempt: Some(1), .. })) }).await;
    until("it has begun", || async { cluster.lines("runs").len() == 1 }).await;
    // A host loses a place when the keeper of its process is killed.
    let id = LaunchId { job: name("work"), fire: one.record("work").await.unwrap().last_fire().unwrap() };
    let pid = cluster.file("a").join("launches").join(id.token("tests")).join("0").join("pid");
    let keeper = fs::read_to_string(pid).unwrap().parse().ok().and_then(Pid::from_raw).unwrap();
    kill_process_group(keeper, Signal::KILL).unwrap();
    one.until_of("work", "it has lost its place, and runs again or has ended", || async {
        match task().await {
            Some(ItemTask::Running { attempt: Some(2..), .. }) => true,
            // Where it has ended, its record follows.
            Some(_) => false,
            None => one.last("work").await.is_some(),
        }
    })
    .await;
    let again = task().await;
    let is_second = |lost: &crate::carrier::LostPlace| lost.attempt == 1 && !lost.why.is_empty();
    assert!(
        matches!(&again, Some(ItemTask::Running { attempt: Some(2), lost: Some(lost), .. }) if is_second(lost)),
        "{again:?}, and the record says {:?}",
        one.last("work").await
    );
    fs::write(cluster.file("end"), "").unwrap();
    one.until_last("work", FireState::Succeeded).await;
    until("it is recorded", || async {
        let told = told.0.lock().unwrap();
        let lost: Vec<_> = told.iter().filter(|decision| decision.kind == DecisionKind::PlaceLost).collect();
        let is_told = |decision: &elasticjob::trace::JobDecisionEvent| {
            decision.job_name == name("work")
                && decision.sharding_items == [0]
                && decision.scheduled_at.is_some()
                && decision.detail["attempt"] == 1
                && decision.reason.starts_with("attempt 1 on ")
        };
        lost.len() == 1 && is_told(lost[0])
    })
    .await;
    one.scheduler.shutdown().await;
}
