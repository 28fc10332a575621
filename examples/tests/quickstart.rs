//! The main job as real processes: embedded, and three of them on a real ZooKeeper.

use std::fs::File;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::DateTime;
use elasticjob::fire::ExecutionSource;
use elasticjob::registry::RegistryCenter;
use elasticjob::registry::zookeeper::ZookeeperRegistryCenter;
use elasticjob_tests::group::{Group, Program};
use elasticjob_tests::harness::Harness;
use elasticjob_tests::records::{Ending, Expected, ProcessRecords, Run, complete_lines, now_us};
use elasticjob_tests::retry_reads::answered;
use elasticjob_tests::zookeeper::{ZookeeperBackend, ZookeeperServer};
use tokio::runtime::Handle;

const JOB: &str = "quickstart";
const ITEMS: u32 = 3;
const PARAMETERS: [&str; ITEMS as usize] = ["Beijing", "Shanghai", "Guangzhou"];
const SESSION_TIMEOUT: Duration = Duration::from_secs(4);
const EVERY_MS: i64 = 2_000;

/// Everything that a test waits for happens within this time, or never.
const LIMIT: Duration = Duration::from_secs(40);

fn main() -> ExitCode {
    let mut harness = Harness::new();
    harness.test("without_a_service_it_prints_each_item_of_two_fires_and_ends", two_fires);
    harness.test("ctrl_c_ends_it", ctrl_c);
    harness.on_zookeeper("three_processes_share_the_items_through_a_kill_and_a_restart", |server| async move {
        three_processes(server).await;
    });
    harness.run()
}

async fn two_fires() {
    let mut group = Group::new(Quickstart { server: None, namespace: "embedded", arguments: &["--fires", "2"] });
    let pid = group.start().await;
    let status = group.exited(pid, LIMIT).await;
    assert!(status.success(), "{status}\n{}", group.logs());
    let history = group.history();
    let fires = Vec::from_iter(history.fires(JOB));
    // One more run may have begun before the program ended.
    let [first, second, ..] = fires[..] else { panic!("{fires:?}\n{}", group.logs()) };
    for fire in [first, second] {
        assert_eq!(history.owners(JOB, fire).len(), ITEMS as usize, "{history:?}");
    }
    group.check(Expected::every(EVERY_MS, JOB, ITEMS, first - 1, second));
    assert!(group.logs().contains("WARN"), "the embedded registry is announced\n{}", group.logs());
}

async fn ctrl_c() {
    let mut group = Group::new(Quickstart { server: None, namespace: "embedded", arguments: &[] });
    let pid = group.start().await;
    group.wait("a first line", LIMIT, |history| history.runs.first().map(|_| ())).await;
    let status = group.end(pid, "INT", LIMIT).await;
    assert!(status.success(), "{status}\n{}", group.logs());
}

async fn three_processes(server: Arc<ZookeeperServer>) {
    let namespace = "quickstart";
    let mut group = Group::new(Quickstart { server: Some(server.clone()), namespace, arguments: &[] });
    let pids = [group.start().await, group.start().await, group.start().await];
    let from = group.wait_split(JOB, ITEMS, &pids, 0, LIMIT).await;

    group.kill(&[pids[0]]);
    let rest = [pids[1], pids[2]];
    let moved = group.wait_split(JOB, ITEMS, &rest, now_us() / 1_000, LIMIT).await;
    let successor = group.start().await;
    let all = [pids[1], pids[2], successor];
    let back = group.wait_split(JOB, ITEMS, &all, moved, LIMIT).await;

    let config = ZookeeperBackend::new(server.clone(), namespace).onlooker();
    let registry = ZookeeperRegistryCenter::connect(config, &Handle::current()).await.expect("it connects");
    let status = group.end(pids[1], "TERM", LIMIT).await;
    let exited = Instant::now();
    assert!(status.success(), "{status}\n{}", group.logs());
    let suffix = format!("@-@{}", pids[1]);
    let is_there = async || {
        let instances = answered(|| registry.children("/quickstart/instances")).await;
        instances.expect("there are instances").iter().any(|instance| instance.ends_with(&suffix))
    };
    while is_there().await {
        assert!(exited.elapsed() < Duration::from_secs(1), "it has left the registry\n{}", group.logs());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    registry.close().await;

    let until = group.wait_split(JOB, ITEMS, &[pids[2], successor], back, LIMIT).await;
    let status = group.end(successor, "INT", LIMIT).await;
    assert!(status.success(), "{status}\n{}", group.logs());
    group.check(Expected::every(EVERY_MS, JOB, ITEMS, from, until));
}

/// The parameters of a `quickstart` that fires every [`EVERY_MS`].
struct Quickstart {
    server: Option<Arc<ZookeeperServer>>,
    namespace: &'static str,
    arguments: &'static [&'static str],
}

impl Program for Quickstart {
    fn command(&self, records: &Path, _: Option<&str>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quickstart"));
        // The settings of the examples are found relative to this folder.
        command.current_dir(env!("CARGO_MANIFEST_DIR")).args(self.arguments);
        command.arg("--elasticjob.jobs.quickstart.cron=0/2 * * * * ?");
        command.env("ELASTICJOB_REG_CENTER_NAMESPACE", self.namespace);
        if let Some(server) = &self.server {
            command.env("ELASTICJOB_REG_CENTER_SERVER_LISTS", server.connect_string());
            let timeout = SESSION_TIMEOUT.as_millis().to_string();
            command.env("ELASTICJOB_REG_CENTER_SESSION_TIMEOUT_MILLISECONDS", timeout);
        }
        command.stdout(File::create(records).expect("a file for the lines"));
        command
    }

    /// Reads the records of a process: each line is a run that is over.
    fn records(&self, pid: u32, text: &str) -> ProcessRecords {
        let runs = complete_lines(text)
            .zip(0..)
            .map(|(line, number)| run(pid, number, line).unwrap_or_else(|| panic!("'{line}' is no line of a run")));
        ProcessRecords { runs: runs.collect(), ..ProcessRecords::default() }
    }

    fn session_timeout(&self) -> Duration {
        SESSION_TIMEOUT
    }
}

/// Parses a line of the form `<scheduled time, RFC 3339> item=0 parameter=Beijing instance=<id>`; no other form is
/// accepted.
fn run(pid: u32, number: u64, line: &str) -> Option<Run> {
    let words: Vec<&str> = line.split(' ').collect();
    let [time, item, parameter, instance] = words.as_slice() else { return None };
    let scheduled_ms = DateTime::parse_from_rfc3339(time).ok()?.timestamp_millis();
    let item: u32 = item.strip_prefix("item=")?.parse().ok()?;
    let parameter = parameter.strip_prefix("parameter=")?;
    let instance = instance.strip_prefix("instance=")?.to_owned();
    let is_right = PARAMETERS.get(item as usize) == Some(&parameter) && instance.ends_with(&format!("@-@{pid}"));
    let began_us = scheduled_ms * 1_000;
    let (job, source, end) = (JOB.to_owned(), ExecutionSource::NormalTrigger, Some((began_us, Ending::Finished)));
    let (token, refused) = (None, 0);
    is_right.then_some(Run { pid, number, job, item, scheduled_ms, source, token, instance, began_us, end, refused })
}
