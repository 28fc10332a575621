//! A scheduler that dies at a certain point of a submission: a command of the same name stands before Slurm's `sbatch`, and
//! kills the process that started it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use elasticjob_tests::scheduler::{SchedulerProcess, SchedulerProgram};
use elasticjob_tests::slurm::SlurmCluster;
use elasticjob_tests::until;
use elasticjob_tests::zookeeper::ZookeeperServer;
use serde_json::json;
use tokio::time::sleep;

use crate::killed::{carrier_of, program};

const ITEMS: u32 = 3;

/// What happens within this, or never.
const LIMIT: Duration = Duration::from_secs(90);

pub async fn before(cluster: Arc<SlurmCluster>, server: Arc<ZookeeperServer>) {
    let program = crash(&cluster, &server, "crash-before", "kill -9 $PPID; exit 1", true).await;
    assert_once(&program).await;
}

/// Without failover nothing runs that may have run: the scheduler had noted that it launches.
pub async fn before_without_failover(cluster: Arc<SlurmCluster>, server: Arc<ZookeeperServer>) {
    let program = crash(&cluster, &server, "crash-before-lost", "kill -9 $PPID; exit 1", false).await;
    until(&program, "the items are lost", || program.logs().matches("does not know it; with `failover`").count() >= 3)
        .await;
    assert_eq!(program.lines("runs"), [""; 0]);
}

pub async fn after(cluster: Arc<SlurmCluster>, server: Arc<ZookeeperServer>) {
    let submitted = "\"$real\" \"$@\"; kill -9 $PPID; exit 0";
    let program = crash(&cluster, &server, "crash-after", submitted, false).await;
    assert_once(&program).await;
}

/// The request is on its way when its scheduler dies, and arrives when the next scheduler has launched the items already.
pub async fn late(cluster: Arc<SlurmCluster>, server: Arc<ZookeeperServer>) {
    let late = "kill -9 $PPID; while [ \"$(wc -l <runs)\" -lt 3 ]; do sleep 0.1; done; \"$real\" \"$@\" >late; exit 0";
    let program = crash(&cluster, &server, "crash-late", late, true).await;
    assert_once(&program).await;
    let deadline = Instant::now() + LIMIT;
    let submitted = loop {
        if let Some(id) = program.lines("late").first() {
            break id.clone();
        }
        assert!(Instant::now() < deadline, "the late submission has not arrived");
        sleep(Duration::from_millis(100)).await;
    };
    while !cluster.ask("squeue", &["-h", "--jobs", &submitted]).trim().is_empty() {
        assert!(Instant::now() < deadline, "the late submission has not ended");
        sleep(Duration::from_millis(100)).await;
    }
    assert_once(&program).await;
}

/// Triggers a job. Its scheduler runs `how` in place of its first `sbatch`; another scheduler is there to take over, and runs on
/// with the program.
async fn crash(cluster: &SlurmCluster, server: &ZookeeperServer, name: &str, how: &str, failover: bool) -> Crashed {
    let folder = cluster.shared().join(name);
    let commands = folder.join("commands");
    std::fs::create_dir_all(&commands).expect("a folder");
    let mut carrier = carrier_of(cluster);
    carrier.extend(["--slurm-commands".to_owned(), commands.display().to_string()]);
    let program = program(server, folder.clone(), name, carrier);
    wrap(&commands, &folder, how);
    let mut schedulers = [program.start(), program.start()];
    let job = json!({ "jobName": "work", "appName": "work", "jobExecutionType": "TRANSIENT", "cpuCount": 0.1, "memoryMB": 16,
                      "shardingTotalCount": ITEMS, "failover": failover });
    let script = "echo \"begun $ELASTICJOB_SHARDING_ITEM\" >>$DIR/runs; sleep 2; echo \"ended $ELASTICJOB_SHARDING_ITEM\" >>$DIR/runs";
    schedulers[0].register(&program.app("work", script), &job);
    // An instance that joins after the trigger would not hear of it.
    until(&program, "both are there", || program.logs().matches("registered job=work").count() == 2).await;
    until(&program, "the job is triggered", || {
        schedulers[0].call("POST", "/api/job/trigger", "work").is_ok_and(|(status, _)| status == 200)
    })
    .await;
    until(&program, "the first scheduler is killed", || schedulers.iter_mut().any(|one| one.is_gone())).await;
    Crashed { program, _schedulers: schedulers }
}

/// A scheduler was killed, and another one lives.
struct Crashed {
    program: SchedulerProgram,
    _schedulers: [SchedulerProcess; 2],
}

impl std::ops::Deref for Crashed {
    type Target = SchedulerProgram;

    fn deref(&self) -> &SchedulerProgram {
        &self.program
    }
}

/// Waits until all items have ended. Each has begun once.
async fn assert_once(program: &SchedulerProgram) {
    let ended = || program.noted("ended");
    until(program, "all items have ended", || ended() >= ITEMS as usize).await;
    let mut runs = program.lines("runs");
    runs.sort_unstable();
    let expected = ["begun", "ended"].iter().flat_map(|kind| (0..ITEMS).map(move |item| format!("{kind} {item}")));
    assert_eq!(runs, expected.collect::<Vec<_>>(), "{}", program.logs());
}

/// Commands that are those of Slurm, but for the first `sbatch`.
pub fn wrap(commands: &Path, folder: &Path, how: &str) {
    for name in ["sbatch", "squeue", "scancel", "scontrol", "sinfo"] {
        let real = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
            .map(|folder| folder.join(name))
            .find(|program| program.is_file())
            .expect("Slurm is installed");
        let first = match name {
            "sbatch" => format!("cd {}\nif mkdir crashed 2>/dev/null; then touch runs; {how}; fi", folder.display()),
            _ => String::new(),
        };
        let file = commands.join(name);
        std::fs::write(&file, format!("#!/bin/sh\nreal={}\n{first}\nexec \"$real\" \"$@\"\n", real.display()))
            .expect("a script");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("a program");
    }
}

async fn until(program: &SchedulerProgram, what: &str, mut is: impl FnMut() -> bool) {
    until::until(LIMIT, what, || program.logs(), || is().then_some(())).await;
}
