//! The process of a DAEMON job, with schedulers that are killed or frozen.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use elasticjob_tests::group::TemporaryFolder;
use elasticjob_tests::scheduler::{SchedulerProcess, SchedulerProgram};
use elasticjob_tests::until;
use elasticjob_tests::zookeeper::ZookeeperServer;
use serde_json::json;

use super::killed;

/// What happens within this, or never.
const LIMIT: Duration = Duration::from_secs(60);

/// Schedulers of this host, in this folder.
fn program(server: &ZookeeperServer, folder: &TemporaryFolder, name: &str) -> SchedulerProgram {
    let carrier = ["--carrier", "process", "--memory-limit", "off", "--cpus", "64"].map(str::to_owned).to_vec();
    killed::program(server, folder.path().to_owned(), name, carrier)
}

/// Registers a job of which one process notes its begin, and waits for it.
async fn register(program: &SchedulerProgram, scheduler: &SchedulerProcess) {
    let daemon = json!({ "jobName": "resident", "appName": "resident", "jobExecutionType": "DAEMON", "cron": "0 0 3 * * ?",
                         "cpuCount": 0.1, "memoryMB": 16, "shardingTotalCount": 1, "gracePeriodSeconds": 1 });
    scheduler.register(&program.app("resident", "echo $$ >>$DIR/begun; while :; do sleep 0.1; done"), &daemon);
    until(program, "it runs", || program.lines("begun").len() == 1).await;
}

/// Kills the process that began last.
fn kill_last(program: &SchedulerProgram) {
    let pid = program.lines("begun").pop().expect("it has begun");
    let killed = Command::new("kill").args(["-KILL", &pid]).status().expect("kill is there");
    assert!(killed.success());
}

/// How many processes a scheduler lists.
fn listed(scheduler: &SchedulerProcess) -> usize {
    let (_, tasks) = scheduler.call("GET", "/api/job/tasks/running", "").unwrap_or_default();
    serde_json::from_str::<Vec<serde_json::Value>>(&tasks).unwrap_or_default().len()
}

/// The scheduler that keeps a process is frozen for longer than its session: the other one keeps it, and the first one starts none
/// beside it when it goes on.
pub async fn a_daemon_of_frozen_schedulers_runs_once(server: Arc<ZookeeperServer>) {
    let folder = TemporaryFolder::new("frozen-daemons").expect("a folder");
    let program = program(&server, &folder, "frozen-daemons");
    let schedulers = [program.start(), program.start()];
    register(&program, &schedulers[0]).await;
    for round in 1..=3 {
        let [frozen, other] = if round % 2 == 1 { [0, 1] } else { [1, 0] };
        schedulers[frozen].freeze();
        assert_eq!(running(&program).len(), 1, "it goes on");
        // The other one starts it again when the session of the frozen one has ended, unless it keeps it already.
        kill_last(&program);
        until(&program, "it is started again", || program.lines("begun").len() > round).await;
        until(&program, "it is listed once", || listed(&schedulers[other]) == 1).await;
        schedulers[frozen].thaw();
        until(&program, "the thawed one lists it", || listed(&schedulers[frozen]) == 1).await;
        assert_eq!(running(&program).len(), 1, "{}", program.logs());
    }
    // Both look at the end of the process that both may have kept.
    kill_last(&program);
    until(&program, "it is started again", || program.lines("begun").len() > 4).await;
    schedulers[0].done("DELETE", "/api/job/resident/deregister", "");
    until(&program, "it is ended", || running(&program).is_empty()).await;
    assert_eq!(program.lines("begun").len(), 5, "{}", program.logs());
}

pub async fn a_daemon_of_killed_schedulers_runs_once(server: Arc<ZookeeperServer>) {
    let folder = TemporaryFolder::new("killed-daemons").expect("a folder");
    let program = program(&server, &folder, "killed-daemons");
    let mut schedulers = vec![program.start(), program.start()];
    register(&program, &schedulers[0]).await;
    for round in 1..=3 {
        let pid = program.lines("begun").pop().expect("it has begun");
        // From the second round on, the oldest scheduler keeps the process: the others came later.
        drop(schedulers.remove(0));
        assert_eq!(running(&program), [pid.as_str()], "a scheduler that is killed leaves it");
        // That another scheduler keeps it is seen by what it does when the process ends: it starts it again, once.
        kill_last(&program);
        until(&program, "it is started again", || program.lines("begun").len() > round).await;
        until(&program, "it is listed once", || listed(&schedulers[0]) == 1).await;
        schedulers.push(program.start());
        assert_eq!(running(&program).len(), 1, "{}", program.logs());
        assert_eq!(program.lines("begun").len(), round + 1, "{}", program.logs());
    }
    schedulers[0].done("DELETE", "/api/job/resident/deregister", "");
    until(&program, "it is ended", || running(&program).is_empty()).await;
    assert_eq!(program.lines("begun").len(), 4, "{}", program.logs());
}

/// The processes of the job that are there.
fn running(program: &SchedulerProgram) -> Vec<String> {
    let is_program = |pid: &String| {
        let command = std::fs::read_to_string(Path::new("/proc").join(pid).join("cmdline")).unwrap_or_default();
        command.contains("resident.sh")
    };
    program.lines("begun").into_iter().filter(is_program).collect()
}

async fn until(program: &SchedulerProgram, what: &str, is: impl Fn() -> bool) {
    let told = || format!("{}\n{}", program.lines("begun").join("\n"), program.logs());
    until::until(LIMIT, what, told, || is().then_some(())).await;
}
