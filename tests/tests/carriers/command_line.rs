//! The output and the refusals of the command line where carried jobs are.

use std::process::{Command, Output};
use std::sync::Arc;
use std::time::{Duration, Instant};

use elasticjob_tests::group::TemporaryFolder;
use elasticjob_tests::scheduler::SchedulerProgram;
use elasticjob_tests::slurm::SlurmCluster;
use elasticjob_tests::zookeeper::ZookeeperServer;
use serde_json::Value;
use tokio::time::sleep;

use crate::killed::{carrier_of, job, program};

/// What happens within this, or never.
const LIMIT: Duration = Duration::from_secs(60);

fn of_this_host() -> Vec<String> {
    ["--carrier", "process", "--memory-limit", "off"].map(str::to_owned).to_vec()
}

/// Runs `elasticjob` with the registry center of these schedulers.
fn elasticjob(program: &SchedulerProgram, arguments: &[&str]) -> Output {
    let mut command = Command::new(&program.binary);
    command.args(["--server-lists", &program.zookeeper, "--namespace", &program.namespace]).args(arguments);
    command.current_dir(&program.folder).output().expect("it starts")
}

fn text(said: &[u8]) -> String {
    String::from_utf8_lossy(said).into_owned()
}

pub async fn of_a_carried_job(server: Arc<ZookeeperServer>) {
    let folder = TemporaryFolder::new("carried-configuration").expect("a folder");
    let program = program(&server, folder.path().to_owned(), "carried-configuration", of_this_host());
    let scheduler = program.start();
    scheduler.register(&program.app("work", "true"), &job("0 0 3 1 1 ?"));
    let shown = || elasticjob(&program, &["config", "get", "work", "--json"]);
    let deadline = Instant::now() + LIMIT;
    while !shown().status.success() {
        assert!(Instant::now() < deadline, "the job has no configuration\n{}", program.logs());
        sleep(Duration::from_millis(100)).await;
    }
    let before = shown().stdout;
    let refused = elasticjob(&program, &["config", "set", "work", "cron=0/5 * * * * ?"]);
    let said = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains("carried job") && said.contains("PUT /api/job/update"), "{said}");
    assert!(refused.stdout.is_empty(), "{}", text(&refused.stdout));
    assert_eq!(text(&shown().stdout), text(&before), "nothing was changed");
    // The remedy that it names.
    scheduler.done("PUT", "/api/job/update", r#"{"jobName": "work", "cron": "0/30 * * 2 2 ?"}"#);
    while !text(&shown().stdout).contains("0/30 * * 2 2 ?") {
        assert!(Instant::now() < deadline, "{}\n{}", text(&shown().stdout), program.logs());
        sleep(Duration::from_millis(100)).await;
    }
}

/// It has never joined the registry center, and a command line elsewhere says why.
pub async fn of_a_daemon_that_dies(server: Arc<ZookeeperServer>) {
    let folder = TemporaryFolder::new("dying-daemon").expect("a folder");
    let program = program(&server, folder.path().to_owned(), "dying-daemon", of_this_host());
    let scheduler = program.start();
    let mut daemon = job("0 0 3 * * ?");
    daemon["jobExecutionType"] = "DAEMON".into();
    daemon["instances"] = 1.into();
    scheduler.register(&program.app("work", "echo 'no database' >&2; exit 3"), &daemon);
    let deadline = Instant::now() + LIMIT;
    let told = loop {
        let said = text(&elasticjob(&program, &["why", "work"]).stdout);
        if said.contains("soon after its start") {
            break said;
        }
        assert!(Instant::now() < deadline, "{said}\n{}", program.logs());
        sleep(Duration::from_millis(200)).await;
    };
    assert!(told.contains("process 0") && told.contains("exit code 3: no database"), "{told}");
    let told = text(&elasticjob(&program, &["status", "work"]).stdout);
    assert!(told.contains("soon after its start"), "{told}");
    scheduler.done("DELETE", "/api/job/work/deregister", "");
    while elasticjob(&program, &["status", "work"]).status.success() {
        assert!(Instant::now() < deadline, "its nodes stay\n{}", program.logs());
        sleep(Duration::from_millis(200)).await;
    }
}

/// Of two items only one has room: a command line elsewhere says for what the other one waits, until it is cancelled.
pub async fn of_a_run_that_does_not_start(server: Arc<ZookeeperServer>) {
    let folder = TemporaryFolder::new("waiting-run").expect("a folder");
    let mut carrier = of_this_host();
    carrier.extend(["--cpus", "1"].map(str::to_owned));
    let program = program(&server, folder.path().to_owned(), "waiting-run", carrier);
    let scheduler = program.start();
    let mut large = job("0 0 3 1 1 ?");
    (large["cpuCount"], large["shardingTotalCount"]) = (0.8.into(), 2.into());
    scheduler.register(&program.app("work", "echo begun >>$DIR/begun; while :; do sleep 0.1; done"), &large);
    let deadline = Instant::now() + LIMIT;
    while !elasticjob(&program, &["trigger", "work"]).status.success() {
        assert!(Instant::now() < deadline, "no instance is online\n{}", program.logs());
        sleep(Duration::from_millis(200)).await;
    }
    let waits = || {
        let said = elasticjob(&program, &["why", "work", "--json"]);
        let told: Value = serde_json::from_slice(&said.stdout).unwrap_or_else(|_| panic!("{}", text(&said.stderr)));
        let findings = told["items"].as_array().into_iter().flatten().flat_map(|item| item["findings"].as_array());
        findings.flatten().filter(|finding| finding["code"] == "carried-waits").cloned().collect::<Vec<_>>()
    };
    let found = loop {
        if let Some(found) = waits().pop() {
            break found;
        }
        assert!(Instant::now() < deadline, "nothing is told\n{}", program.logs());
        sleep(Duration::from_millis(200)).await;
    };
    assert_eq!(found["obstacle"], true, "{found}");
    assert_eq!(found["arguments"]["carrier"], "PROCESS", "{found}");
    let why = found["arguments"]["why"].as_str().unwrap_or_default();
    assert!(why.starts_with("it needs 0.8 CPU"), "{found}");
    assert!(found["since"].is_i64(), "{found}");
    for command in ["why", "status"] {
        let told = text(&elasticjob(&program, &[command, "work"]).stdout);
        assert!(told.contains("is to run on PROCESS and is not known to run: it needs 0.8 CPU"), "{told}");
    }
    assert_eq!(program.lines("begun").len(), 1, "the other one runs");
    // The remedy that it names.
    let remedy = found["remedy"]["command"].as_str().unwrap_or_default();
    let arguments: Vec<&str> = remedy.split(' ').skip(1).collect();
    let cancelled = elasticjob(&program, &arguments);
    assert!(cancelled.status.success(), "{remedy}: {}", text(&cancelled.stderr));
    while !waits().is_empty() {
        assert!(Instant::now() < deadline, "it is still told\n{}", program.logs());
        sleep(Duration::from_millis(200)).await;
    }
    assert_eq!(program.lines("begun").len(), 1, "it never began");
    scheduler.done("DELETE", "/api/job/work/deregister", "");
    while elasticjob(&program, &["status", "work"]).status.success() {
        assert!(Instant::now() < deadline, "its nodes stay\n{}", program.logs());
        sleep(Duration::from_millis(200)).await;
    }
}

pub async fn of_another_carrier(cluster: Arc<SlurmCluster>, server: Arc<ZookeeperServer>) {
    let folder = cluster.shared().join("two-carriers");
    let first = program(&server, folder.clone(), "two-carriers", of_this_host());
    let _scheduler = first.start();
    let work = folder.join("slurm").display().to_string();
    let mut arguments = vec!["cloud", "--no-authentication", "--listen", "127.0.0.1:0", "--work", &work];
    let of_slurm = carrier_of(&cluster);
    arguments.extend(of_slurm.iter().map(String::as_str));
    let refused = elasticjob(&first, &arguments);
    let said = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{said}");
    for part in ["carrier SLURM", "has PROCESS", "elasticjob.reg-center.namespace"] {
        assert!(said.contains(part), "{said}");
    }
}

pub async fn of_another_folder(cluster: Arc<SlurmCluster>, server: Arc<ZookeeperServer>) {
    let folder = cluster.shared().join("two-folders");
    let first = program(&server, folder.clone(), "two-folders", carrier_of(&cluster));
    let _scheduler = first.start();
    let start = |work: &str| {
        let work = folder.join(work).display().to_string();
        let mut arguments = vec!["cloud", "--no-authentication", "--listen", "127.0.0.1:0", "--work", &work];
        let of_slurm = carrier_of(&cluster);
        arguments.extend(of_slurm.iter().map(String::as_str));
        elasticjob(&first, &arguments)
    };
    let refused = start("other");
    let said = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{said}");
    let own = folder.join("other").display().to_string();
    for part in ["keeps its launches at SLURM", own.as_str(), "the same --work", "elasticjob.reg-center.namespace"] {
        assert!(said.contains(part), "{said}");
    }
}
