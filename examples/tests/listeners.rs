//! The example `listeners`, as processes: alone, and as three of them on a real ZooKeeper.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::{Duration, Instant};

use elasticjob_tests::group::{TemporaryFolder, TestProcess};
use elasticjob_tests::harness::Harness;
use elasticjob_tests::zookeeper::ZookeeperServer;

const REGIONS: [&str; 3] = ["Beijing", "Shanghai", "Guangzhou"];
/// How many fires the test checks.
const FIRES: usize = 4;
/// Everything that a test waits for happens within this time, or never.
const LIMIT: Duration = Duration::from_secs(40);

fn main() -> ExitCode {
    let mut harness = Harness::new();
    harness.test("alone_it_opens_and_closes_a_statement_around_the_items", alone);
    harness.on_zookeeper("three_processes_open_and_close_one_statement_for_each_fire", |server| async move {
        together(server).await;
    });
    harness.run()
}

async fn alone() {
    let group = Group::start(1, None);
    let fires = group.wait("whole fires", FIRES, |fire| fire.is_whole()).await;
    for (at, fire) in fires {
        let lines: Vec<&str> = fire.lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!((lines[0], lines[5]), ("the statement is opened", "the statement is closed"), "{at}: {lines:?}");
    }
}

async fn together(server: Arc<ZookeeperServer>) {
    let group = Group::start(3, Some(&server));
    let shared = |fire: &Fire| fire.is_whole() && fire.settled_by().len() == 3;
    let fires = group.wait("fires that all processes share", FIRES, shared).await;
    for (at, fire) in fires {
        let by = |text: &str| -> Vec<usize> {
            fire.lines.iter().filter(|line| line.text.ends_with(text)).map(|line| line.process).collect()
        };
        assert_eq!((by("is opened").len(), by("is closed").len()), (1, 1), "{at}: {:?}\n{}", fire.lines, group.logs());
        assert_eq!(by("is removed").len(), 3, "{at}: {:?}", fire.lines);
    }
}

/// The printed lines of a fire.
#[derive(Debug, Default)]
struct Fire {
    lines: Vec<Line>,
}

#[derive(Debug)]
struct Line {
    process: usize,
    text: String,
}

impl Fire {
    /// The processes that settled a region.
    fn settled_by(&self) -> BTreeSet<usize> {
        let is_settled = |line: &&Line| REGIONS.iter().any(|region| line.text == format!("{region} is settled"));
        self.lines.iter().filter(is_settled).map(|line| line.process).collect()
    }

    /// Whether every region was settled, the statement is closed, and every process has removed its folder.
    fn is_whole(&self) -> bool {
        let count = |end: &str| self.lines.iter().filter(|line| line.text.ends_with(end)).count();
        let processes = self.settled_by().len();
        count("is settled") == REGIONS.len() && count("is closed") > 0 && count("is removed") == processes
    }
}

/// Processes of the example that share a namespace.
struct Group {
    members: Vec<(TestProcess, PathBuf)>,
    _folder: TemporaryFolder,
}

impl Group {
    fn start(processes: usize, server: Option<&ZookeeperServer>) -> Self {
        let folder = TemporaryFolder::new("listeners").expect("a folder for lines and logs");
        let start = |number: usize| {
            let lines = folder.path().join(format!("lines-{number}"));
            let mut command = Command::new(env!("CARGO_BIN_EXE_listeners"));
            // The settings of the examples are found relative to this folder.
            command.current_dir(env!("CARGO_MANIFEST_DIR")).arg("--elasticjob.jobs.settlement.cron=* * * * * ?");
            command.env("ELASTICJOB_REG_CENTER_NAMESPACE", "listeners");
            if let Some(server) = server {
                command.env("ELASTICJOB_REG_CENTER_SERVER_LISTS", server.connect_string());
            }
            command.stdout(File::create(&lines).expect("a file for the lines"));
            (TestProcess::start(command, folder.path().join(format!("log-{number}"))).expect("it starts"), lines)
        };
        Self { members: (0..processes).map(start).collect(), _folder: folder }
    }

    /// The printed lines, fire by fire. Lines of one process are in order.
    fn fires(&self) -> BTreeMap<String, Fire> {
        let mut fires: BTreeMap<String, Fire> = BTreeMap::new();
        for (process, (_, lines)) in self.members.iter().enumerate() {
            let text = fs::read_to_string(lines).expect("the lines can be read");
            for (at, text) in text.lines().filter_map(|line| line.split_once(' ')) {
                let line = Line { process, text: text.to_owned() };
                fires.entry(at.to_owned()).or_default().lines.push(line);
            }
        }
        fires
    }

    /// Waits until `count` fires are as wanted, and returns these.
    async fn wait(&self, what: &str, count: usize, is_wanted: impl Fn(&Fire) -> bool) -> Vec<(String, Fire)> {
        let started = Instant::now();
        loop {
            let fires: Vec<_> = self.fires().into_iter().filter(|(_, fire)| is_wanted(fire)).collect();
            if fires.len() >= count {
                return fires;
            }
            assert!(started.elapsed() < LIMIT, "{what}: not in time\n{:#?}\n{}", self.fires(), self.logs());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    fn logs(&self) -> String {
        self.members.iter().map(|(process, _)| format!("--- process {}\n{}", process.pid(), process.log())).collect()
    }
}
