//! Schedulers that are killed again and again while a job fires.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use elasticjob_tests::group::TemporaryFolder;
use elasticjob_tests::kubernetes::Cluster;
use elasticjob_tests::scheduler::{SchedulerProcess, SchedulerProgram};
use elasticjob_tests::zookeeper::ZookeeperServer;
use serde_json::{Value, json};
use tokio::time::sleep;

pub(crate) const ITEMS: usize = 2;

/// How often schedulers are killed.
const ROUNDS: u32 = 5;

/// What happens within this, or never.
const LIMIT: Duration = Duration::from_secs(120);

/// Notes its begin and its end in a folder of the host, with its fire.
pub(crate) const SCRIPT: &str = "sh -c 'note() { echo \"$1 $ELASTICJOB_SCHEDULED_AT $ELASTICJOB_SHARDING_ITEM\" >>/notes/runs; }; \
                      note begun; sleep 2; note ended'";

/// How schedulers of this test are started, in this folder, on the cluster that a file names.
pub(crate) fn program(
    kubeconfig: &Path,
    server: &ZookeeperServer,
    folder: &TemporaryFolder,
    name: &str,
) -> SchedulerProgram {
    let template = json!({ "spec": {
        "volumes": [{ "name": "notes", "hostPath": { "path": folder.path() } }],
        "containers": [{ "name": "item", "volumeMounts": [{ "name": "notes", "mountPath": "/notes" }] }]
    } });
    let (kubeconfig, template_file) = (kubeconfig.display().to_string(), folder.path().join("template.json"));
    std::fs::write(&template_file, template.to_string()).unwrap();
    let template_file = template_file.display().to_string();
    let carrier = ["--carrier", "kubernetes", "--kubeconfig", &kubeconfig, "--pod-template", &template_file];
    SchedulerProgram {
        binary: env!("CARGO_BIN_EXE_scheduler").into(),
        zookeeper: server.connect_string(),
        namespace: name.to_owned(),
        folder: folder.path().to_owned(),
        carrier: carrier.map(str::to_owned).to_vec(),
    }
}

/// Registers the job, which fires every four seconds.
pub(crate) fn register(scheduler: &SchedulerProcess) {
    let app = json!({ "appName": "work", "appURL": "oci://localhost/box:1", "bootstrapScript": SCRIPT, "cpuCount": 0, "memoryMB": 16 });
    scheduler.register(&app, &job("0/4 * * * * ?"));
}

/// Ends the fires, and looks at what ran.
pub(crate) async fn stop_and_check(program: &SchedulerProgram, scheduler: &SchedulerProcess) {
    // It fires again next year.
    scheduler.done("PUT", "/api/job/update", &job("0 0 3 1 1 ?").to_string());
    until_at_rest(program).await;
    check(program);
}

pub(crate) async fn run_once(cluster: Arc<Cluster>, server: Arc<ZookeeperServer>) {
    let folder = TemporaryFolder::new("killed-schedulers").unwrap();
    let program = program(cluster.kubeconfig(), &server, &folder, "killed-on-kubernetes");
    let mut schedulers = vec![program.start(), program.start()];
    register(&schedulers[0]);
    let mut ended = 0;
    for round in 0..ROUNDS {
        // Some fires between, and another point of a run each time: before the launch, during it, and while it runs.
        ended = until_ended(&program, ended + 2 * ITEMS).await;
        sleep(Duration::from_millis(700) * round).await;
        match round % 3 {
            // All of them: the next ones find what runs by what the cluster and the registry center know.
            2 => schedulers.clear(),
            at => drop(schedulers.remove(at as usize)),
        }
        while schedulers.len() < 2 {
            schedulers.push(program.start());
        }
    }
    until_ended(&program, ended + 2 * ITEMS).await;
    stop_and_check(&program, &schedulers[0]).await;
}

fn job(cron: &str) -> Value {
    json!({ "jobName": "work", "appName": "work", "jobExecutionType": "TRANSIENT", "cpuCount": 0.01, "memoryMB": 16,
            "shardingTotalCount": ITEMS, "cron": cron, "gracePeriodSeconds": 1 })
}

/// Waits until so many runs have ended.
pub(crate) async fn until_ended(program: &SchedulerProgram, wanted: usize) -> usize {
    let deadline = Instant::now() + LIMIT;
    loop {
        let ended = program.noted("ended");
        if ended >= wanted {
            return ended;
        }
        assert!(Instant::now() < deadline, "{ended} of {wanted} runs have ended\n{}", program.logs());
        sleep(Duration::from_millis(50)).await;
    }
}

/// Waits until nothing runs, for longer than a fire is away from the next one.
async fn until_at_rest(program: &SchedulerProgram) {
    let deadline = Instant::now() + LIMIT;
    let mut quiet = Instant::now();
    let mut before = 0;
    while quiet.elapsed() < Duration::from_secs(8) {
        let lines = program.lines("runs").len();
        if lines != before || program.noted("begun") != program.noted("ended") {
            (before, quiet) = (lines, Instant::now());
        }
        assert!(Instant::now() < deadline, "runs go on\n{}", program.logs());
        sleep(Duration::from_millis(100)).await;
    }
}

/// Each item of a fire has begun at most once and has ended, and the runs of an item do not overlap.
pub(crate) fn check(program: &SchedulerProgram) {
    let lines = program.lines("runs");
    let told = || format!("{}\n{}", lines.join("\n"), program.logs());
    let mut begun = BTreeSet::new();
    let mut running: BTreeMap<&str, &str> = BTreeMap::new();
    for line in &lines {
        let words: Vec<&str> = line.split(' ').collect();
        let [kind, fire, item] = words[..] else { panic!("'{line}' is no note") };
        if kind == "begun" {
            assert!(begun.insert((fire, item)), "item {item} has begun twice for {fire}\n{}", told());
            assert_eq!(running.insert(item, fire), None, "item {item} ran for two fires at a time\n{}", told());
        } else {
            assert_eq!(running.remove(item), Some(fire), "{}", told());
        }
    }
    assert!(running.is_empty(), "{running:?} have not ended\n{}", told());
}
