//! Schedulers that are killed again and again while a job fires: no item of a fire begins twice, and none overlaps the one before.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use elasticjob_tests::scheduler::{SchedulerProcess, SchedulerProgram};
use elasticjob_tests::slurm::SlurmCluster;
use elasticjob_tests::zookeeper::ZookeeperServer;
use serde_json::{Value, json};
use tokio::time::sleep;

pub const ITEMS: u32 = 3;

/// How often schedulers are killed.
const ROUNDS: usize = 6;

/// What happens within this, or never.
const LIMIT: Duration = Duration::from_secs(90);

/// Notes its begin and its end, with its fire.
pub const SCRIPT: &str = "note() { echo \"$1 $ELASTICJOB_SCHEDULED_AT $ELASTICJOB_SHARDING_ITEM\" >>$DIR/runs; }; \
                      note begun; sleep 1; note ended";

/// How schedulers of this test are started. The folder is on the cluster, or goes with the server.
pub fn program(
    server: &ZookeeperServer,
    folder: std::path::PathBuf,
    name: &str,
    carrier: Vec<String>,
) -> SchedulerProgram {
    SchedulerProgram {
        binary: env!("CARGO_BIN_EXE_scheduler").into(),
        zookeeper: server.connect_string(),
        namespace: name.to_owned(),
        folder,
        carrier,
    }
}

/// The options of the carrier of a cluster.
pub fn carrier_of(cluster: &SlurmCluster) -> Vec<String> {
    ["--carrier", "slurm", "--slurm-conf"]
        .map(str::to_owned)
        .into_iter()
        .chain([cluster.conf().display().to_string()])
        .collect()
}

pub async fn on_this_host(server: Arc<ZookeeperServer>) {
    let folder = elasticjob_tests::group::TemporaryFolder::new("killed-schedulers").expect("a folder");
    let carrier = ["--carrier", "process", "--memory-limit", "off", "--cpus", "64"].map(str::to_owned).to_vec();
    kill(program(&server, folder.path().to_owned(), "killed-schedulers", carrier)).await;
}

pub async fn on_slurm(cluster: Arc<SlurmCluster>, server: Arc<ZookeeperServer>) {
    let folder = cluster.shared().join("killed");
    kill(program(&server, folder, "killed-on-slurm", carrier_of(&cluster))).await;
}

pub fn job(cron: &str) -> Value {
    json!({ "jobName": "work", "appName": "work", "jobExecutionType": "TRANSIENT", "cpuCount": 0.1, "memoryMB": 16,
            "shardingTotalCount": ITEMS, "cron": cron, "gracePeriodSeconds": 1 })
}

async fn kill(program: SchedulerProgram) {
    let mut schedulers = vec![program.start(), program.start()];
    let job = job("0/2 * * * * ?");
    schedulers[0].register(&program.app("work", SCRIPT), &job);
    let mut ended = 0;
    for round in 0..ROUNDS {
        // Some fires between, and another point of a run each time.
        ended = until_ended(&program, ended + 2 * ITEMS as usize).await;
        sleep(Duration::from_millis(230) * round as u32).await;
        match round % 3 {
            // All of them: the next ones find what runs by what the carrier and the registry center know.
            2 => schedulers.clear(),
            at => drop(schedulers.remove(at)),
        }
        while schedulers.len() < 2 {
            schedulers.push(program.start());
        }
    }
    until_ended(&program, ended + 2 * ITEMS as usize).await;
    stop(&program, &schedulers).await;
    check(&program);
}

/// Waits until so many runs have ended.
pub async fn until_ended(program: &SchedulerProgram, count: usize) -> usize {
    let deadline = Instant::now() + LIMIT;
    loop {
        let ended = program.noted("ended");
        if ended >= count {
            return ended;
        }
        assert!(Instant::now() < deadline, "{ended} of {count} runs have ended\n{}", program.logs());
        sleep(Duration::from_millis(50)).await;
    }
}

/// Ends the fires, and waits for the runs that go on.
pub async fn stop(program: &SchedulerProgram, schedulers: &[SchedulerProcess]) {
    // It fires again next year.
    let job = job("0 0 3 1 1 ?");
    schedulers[0].done("PUT", "/api/job/update", &job.to_string());
    let deadline = Instant::now() + LIMIT;
    loop {
        let lines = program.lines("runs");
        let count = |kind: &str| lines.iter().filter(|line| line.starts_with(kind)).count();
        let before = (count("begun"), count("ended"));
        // Longer than a fire is away from the next one.
        sleep(Duration::from_secs(4)).await;
        if before.0 == before.1 && program.lines("runs").len() == lines.len() {
            return;
        }
        assert!(Instant::now() < deadline, "{before:?} have begun and ended\n{}", program.logs());
    }
}

/// Each item of a fire has begun at most once and has ended, and the runs of an item do not overlap.
pub fn check(program: &SchedulerProgram) {
    let mut begun: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut running: BTreeMap<String, String> = BTreeMap::new();
    let lines = program.lines("runs");
    for line in &lines {
        let words: Vec<&str> = line.split(' ').collect();
        let [kind, fire, item] = words[..] else { panic!("'{line}' is no note") };
        if kind == "begun" {
            *begun.entry((fire.to_owned(), item.to_owned())).or_default() += 1;
            let before = running.insert(item.to_owned(), fire.to_owned());
            assert_eq!(
                before,
                None,
                "item {item} ran for two fires at a time\n{}\n{}",
                lines.join("\n"),
                program.logs()
            );
        } else {
            assert_eq!(running.remove(item).as_deref(), Some(fire), "{}", lines.join("\n"));
        }
    }
    let twice: Vec<_> = begun.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "begun more than once: {twice:?}\n{}\n{}", lines.join("\n"), program.logs());
    assert!(running.is_empty(), "{running:?} have not ended");
}
