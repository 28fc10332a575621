//! A cluster of Slurm that loses its controller for minutes beside schedulers, and its nodes together with a scheduler.

use std::sync::Arc;
use std::time::Duration;

use elasticjob_tests::scheduler::SchedulerProgram;
use elasticjob_tests::slurm::SlurmCluster;
use elasticjob_tests::until;
use elasticjob_tests::zookeeper::ZookeeperServer;
use serde_json::json;
use tokio::time::sleep;

use crate::killed::{ITEMS, SCRIPT, carrier_of, check, job, program, stop, until_ended};

/// What happens within this, or never.
const LIMIT: Duration = Duration::from_secs(180);

/// Longer than Slurm's commands wait for a controller, and than the carrier waits for its commands.
const AWAY: Duration = Duration::from_secs(100);

/// No fire is begun twice, none overlaps the next one, and what ran meanwhile counts as what it was.
pub async fn controller(cluster: SlurmCluster, server: Arc<ZookeeperServer>) {
    let program = program(&server, cluster.shared().join("away"), "away-for-minutes", carrier_of(&cluster));
    let schedulers = [program.start(), program.start()];
    schedulers[0].register(&program.app("work", SCRIPT), &job("0/2 * * * * ?"));
    until_ended(&program, 2 * ITEMS as usize).await;
    cluster.kill_daemon("slurmctld");
    sleep(AWAY).await;
    let ended = program.noted("ended");
    assert_eq!(program.noted("begun"), ended, "what ran has ended by itself\n{}", program.logs());
    for scheduler in &schedulers {
        let answer = scheduler.call("GET", "/api/job/jobs", "");
        assert!(answer.is_ok_and(|(status, _)| status == 200), "the schedulers answer\n{}", program.logs());
    }
    cluster.resume_controller().expect("it comes back");
    until_ended(&program, ended + 2 * ITEMS as usize).await;
    stop(&program, &schedulers).await;
    check(&program);
}

/// The item with failover runs again, and the other one is lost.
pub async fn nodes_and_scheduler(cluster: SlurmCluster, server: Arc<ZookeeperServer>) {
    let program = program(&server, cluster.shared().join("lost"), "lost-with-scheduler", carrier_of(&cluster));
    let scheduler = program.start();
    for (name, failover) in [("again", true), ("lost", false)] {
        let script = format!(
            "echo begun {name} $ELASTICJOB_ATTEMPT >>$DIR/runs; [ $ELASTICJOB_ATTEMPT -gt 1 ] || sleep 600; \
             echo ended {name} $ELASTICJOB_ATTEMPT >>$DIR/runs"
        );
        let job = json!({ "jobName": name, "appName": name, "jobExecutionType": "TRANSIENT", "cpuCount": 0.1, "memoryMB": 16,
                          "shardingTotalCount": 1, "failover": failover, "gracePeriodSeconds": 1 });
        scheduler.register(&program.app(name, &script), &job);
        let triggered = || scheduler.call("POST", "/api/job/trigger", name).is_ok_and(|answer| answer.0 == 200);
        until(&program, "it is triggered", triggered).await;
    }
    until(&program, "both run", || program.noted("begun") == 2).await;
    drop(scheduler);
    for node in [0, 1] {
        cluster.kill_node(&cluster.node(node));
    }
    let _next = program.start();
    for node in [0, 1] {
        cluster.start_node(node).expect("it starts");
    }
    until(&program, "it has run again", || program.noted("ended again 2") == 1).await;
    let is_lost = |line: &str| line.contains("job=lost") && line.contains("it was lost");
    until(&program, "the other one is lost", || program.logs().lines().any(is_lost)).await;
    let mut lines = program.lines("runs");
    lines.sort_unstable();
    assert_eq!(lines, ["begun again 1", "begun again 2", "begun lost 1", "ended again 2"], "{}", program.logs());
}

async fn until(program: &SchedulerProgram, what: &str, is: impl Fn() -> bool) {
    let told = || format!("{}\n{}", program.lines("runs").join("\n"), program.logs());
    until::until(LIMIT, what, told, || is().then_some(())).await;
}
