//! What the command line says and refuses where carried jobs are.

use std::process::{Command, Output};
use std::sync::Arc;
use std::time::{Duration, Instant};

use elasticjob_tests::group::TemporaryFolder;
use elasticjob_tests::scheduler::SchedulerProgram;
use elasticjob_tests::slurm::SlurmCluster;
use elasticjob_tests::zookeeper::ZookeeperServer;
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
