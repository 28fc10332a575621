//! The example `graceful_shutdown`, as processes: alone, and as two of them on a real ZooKeeper.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus};
use std::sync::Arc;
use std::time::{Duration, Instant};

use elasticjob_tests::group::{TemporaryFolder, TestProcess};
use elasticjob_tests::harness::Harness;
use elasticjob_tests::zookeeper::ZookeeperServer;

/// Everything that a test waits for happens within this time, or never.
const LIMIT: Duration = Duration::from_secs(30);

fn main() -> ExitCode {
    let mut harness = Harness::new();
    harness.test("what_ends_within_the_grace_is_finished_and_the_rest_is_cut_off", alone);
    harness.test("a_second_signal_cuts_off_everything_at_once", twice);
    harness.on_zookeeper("what_is_cut_off_is_handed_over_to_another_process", |server| async move {
        handed_over(server).await;
    });
    harness.run()
}

async fn alone() {
    let mut export = Export::start(None);
    export.wait("a first step", |export| export.lines().contains("short has done step 1")).await;
    export.process.signal("TERM");
    let status = export.exited().await;
    assert!(status.success(), "{status}\n{}", export.told());
    let lines = export.lines();
    assert!(lines.contains("short is done") && lines.ends_with("the program has left\n"), "{}", export.told());
    assert!(!lines.contains("long is done"), "{}", export.told());
    let log = export.process.log();
    assert!(log.contains("finished with failures: item 1 CANCELLED"), "{log}");
    assert!(log.contains("items that were cut off wait for another instance to take them over"), "{log}");
}

async fn twice() {
    let mut export = Export::start(None);
    export.wait("a first step", |export| export.lines().contains("short has done step 1")).await;
    export.process.signal("TERM");
    export.wait("the shutdown", |export| export.process.log().contains("shutting down: SIGTERM")).await;
    export.process.signal("INT");
    let status = export.exited().await;
    assert!(status.success(), "{status}\n{}", export.told());
    assert!(
        export.process.log().contains("Ctrl-C during the shutdown: running items are cut off"),
        "{}",
        export.told()
    );
    assert!(export.lines().ends_with("the program has left\n"), "{}", export.told());
}

async fn handed_over(server: Arc<ZookeeperServer>) {
    let mut leaver = Export::start(Some(&server));
    leaver.wait("a run of both items", |export| export.lines().contains("long has done step 1 ")).await;
    let taker = Export::start(Some(&server));
    taker.wait("a second instance", |export| export.process.log().contains(" registered ")).await;
    let lines = leaver.lines();
    let begun = lines.lines().find(|line| line.starts_with("long begins")).expect("it has begun");
    leaver.process.signal("TERM");
    let status = leaver.exited().await;
    assert!(status.success(), "{status}\n{}", leaver.told());
    let again = begun.replace("NORMAL_TRIGGER", "FAILOVER");
    taker.wait(&again, |export| export.lines().contains(&again)).await;
}

/// The example as a process.
struct Export {
    process: TestProcess,
    lines: PathBuf,
    _folder: TemporaryFolder,
}

impl Export {
    fn start(server: Option<&ZookeeperServer>) -> Self {
        let folder = TemporaryFolder::new("export").expect("a folder for lines and log");
        let lines = folder.path().join("lines");
        let mut command = Command::new(env!("CARGO_BIN_EXE_graceful_shutdown"));
        command.args(["--elasticjob.jobs.export.cron=* * * * * ?", "--elasticjob.shutdown.grace=6s"]);
        if let Some(server) = server {
            command.env("ELASTICJOB_REG_CENTER_SERVER_LISTS", server.connect_string());
            command.env("ELASTICJOB_REG_CENTER_SESSION_TIMEOUT_MILLISECONDS", "4000");
        }
        command.stdout(File::create(&lines).expect("a file for the lines"));
        let process = TestProcess::start(command, folder.path().join("log")).expect("it starts");
        Self { process, lines, _folder: folder }
    }

    fn lines(&self) -> String {
        fs::read_to_string(&self.lines).expect("its lines can be read")
    }

    fn told(&self) -> String {
        format!("--- process {}\n{}{}", self.process.pid(), self.lines(), self.process.log())
    }

    async fn wait(&self, what: &str, is_there: impl Fn(&Self) -> bool) {
        let started = Instant::now();
        while !is_there(self) {
            assert!(started.elapsed() < LIMIT, "{what}: not in time\n{}", self.told());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn exited(&mut self) -> ExitStatus {
        let started = Instant::now();
        loop {
            if let Some(status) = self.process.exit_status() {
                return status;
            }
            assert!(started.elapsed() < LIMIT, "it does not end in time\n{}", self.told());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}
