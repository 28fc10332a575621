//! A job whose coordination ends by a bug, while its process lives.

use std::sync::Arc;

use elasticjob_tests::zookeeper::ZookeeperServer;

use super::buggy::{BUG, FALLS, STAYS_DOWN};
use super::process::ENDLESS;
use super::processes::{LIMIT, Processes};

const JOBS: &str = "    works: {cron: '* * * * * ?', sharding-total-count: 2, registry-center-ref: buggy, \
                    job-error-handler-type: RECORDS}\n";

const SESSION_MS: u32 = 6_000;

/// Waits until the error handler of a process got the report of the bug.
async fn told(processes: &Processes, number: usize) {
    let told = async || {
        let failures = processes.failures(number, "works");
        let is_of_bug =
            |failure: &&String| failure.contains("the coordination of the job failed") && failure.contains(BUG);
        failures.iter().find(is_of_bug).map(|_| ())
    };
    processes.wait("the failure", LIMIT, told).await;
}

pub async fn once(server: Arc<ZookeeperServer>) {
    let mut two = Processes::new(server, "fallen", SESSION_MS, JOBS);
    let (falls, other) = (two.start(), two.start());
    let items = two.one_each("works").await;
    two.run_again(falls, "works", &[items[falls]]).await;
    two.ask_for(falls, FALLS);
    told(&two, falls).await;
    let said = "the coordination of the job ended by a bug and starts again in 1 s";
    two.wait(said, LIMIT, async || two.log(falls).contains(said).then_some(())).await;
    // It is there again, and what it left behind troubles no instance.
    let items = two.one_each("works").await;
    two.run_again(falls, "works", &[items[falls]]).await;
    two.run_again(other, "works", &[items[other]]).await;
    let status = two.says(&["status", "works"], &["status     OK"]).await;
    assert!(!status.contains('!'), "{status}");
    // Its item may have had no owner for a fire that came meanwhile, and that is said.
    let is_of_fall = |failure: &String| !failure.contains("no instance began the fires");
    let of_other: Vec<String> = two.failures(other, "works").into_iter().filter(is_of_fall).collect();
    assert_eq!(of_other, Vec::<String>::new());
    assert_eq!(two.end(falls).await.code(), Some(0), "{}", two.all());
}

pub async fn for_good(server: Arc<ZookeeperServer>) {
    // The shutdown waits for this one, until a signal cuts it off.
    let endless = format!("{ENDLESS}{{cron: '* * * * * ?', sharding-total-count: 1}}\n  shutdown: {{grace: 1h}}\n");
    let mut processes = Processes::new(server, "stays-down", SESSION_MS, &format!("{JOBS}{endless}"));
    let alone = processes.start();
    processes.run_again(alone, "works", &[0, 1]).await;
    processes.ask_for(alone, STAYS_DOWN);
    processes.ask_for(alone, FALLS);
    told(&processes, alone).await;
    processes.says(&["why", "works"], &["! no instance is online"]).await;
    processes.says(&["status", "works"], &["status     CRASHED", "! no instance is online"]).await;
    // It was started again five times by then.
    let shuts_down = "running items have 3600s to finish";
    processes.wait(shuts_down, LIMIT, async || processes.log(alone).contains(shuts_down).then_some(())).await;
    assert_eq!(processes.end(alone).await.code(), Some(1), "{}", processes.all());
    let log = processes.log(alone);
    for part in [
        "starts again in 16 s",
        "ended by a bug again and again, and is not started any more",
        "shutting down: the coordination of job 'works' ended by a bug again and again: ",
    ] {
        assert!(log.contains(part), "{part}\n{log}");
    }
    let next = processes.start();
    processes.run_again(next, "works", &[0, 1]).await;
    let why = processes.says(&["why", "works"], &["succeeded"]).await;
    assert!(!why.contains('!'), "{why}");
}
