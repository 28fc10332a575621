//! Triggers while a change of the job is followed.

use elasticjob::operations::{OperationError, Target};

use super::*;

/// The command line and other schedulers do not wait until a change is followed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trigger_right_after_a_change_is_run_or_refused_whoever_asks() {
    let cluster = Cluster::new();
    let one = cluster.scheduler("a").await;
    one.register(cluster.app("quick", "echo run >>$DIR/runs"), job("quick", "quick", json!({}))).await;
    let mut taken = 0;
    for times in 0..20 {
        let change = json!({ "jobName": "quick", "description": times.to_string() });
        one.scheduler.store().change_job(change).await.unwrap();
        match one.operations().trigger(&Target::Job(name("quick"))).await {
            Ok(_) => taken += 1,
            Err(OperationError::NoEnabledInstance { .. }) => continue,
            Err(error) => panic!("{error}"),
        }
        let what = format!("trigger {taken}, of change {times}, is run");
        one.until_of("quick", &what, || async { cluster.lines("runs").len() == taken }).await;
        one.until_last("quick", FireState::Succeeded).await;
    }
    // What was refused is not run later.
    let target = Target::Job(name("quick"));
    until("a trigger is taken", || async { one.operations().trigger(&target).await.is_ok() }).await;
    until("the last trigger is run", || async { cluster.lines("runs").len() == taken + 1 }).await;
    one.scheduler.shutdown().await;
}
