//! Processes under test, and what they told.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use elasticjob_tests::command_line::CommandLine;
use elasticjob_tests::group::{TemporaryFolder, TestProcess};
use elasticjob_tests::zookeeper::ZookeeperServer;

use super::process::{BUGGY, FOLDER};

/// Everything that is waited for happens within this, or never.
pub const LIMIT: Duration = Duration::from_secs(60);

/// Processes with the same settings. They are killed when this is dropped.
pub struct Processes {
    folder: TemporaryFolder,
    server: Arc<ZookeeperServer>,
    namespace: String,
    processes: Vec<TestProcess>,
    pub operator: CommandLine,
}

impl Processes {
    /// None yet, of a program with these jobs.
    pub fn new(server: Arc<ZookeeperServer>, namespace: &str, session_ms: u32, jobs: &str) -> Self {
        let folder = TemporaryFolder::new("told").unwrap();
        let namespace = format!("told-{namespace}");
        let servers = server.connect_string();
        let settings = format!(
            "elasticjob:\n  reg-center:\n    server-lists: {servers}\n    namespace: {namespace}\n    \
             session-timeout-milliseconds: {session_ms}\n  jobs:\n{jobs}"
        );
        fs::write(folder.path().join("application.yaml"), settings).unwrap();
        let operator = CommandLine::new(servers, &namespace);
        Self { folder, server, namespace, processes: Vec::new(), operator }
    }

    /// Starts one and returns its number. The registry center `buggy` is in the same namespace.
    pub fn start(&mut self) -> usize {
        let number = self.processes.len();
        let mut command = Command::new(env::current_exe().unwrap());
        command.env(FOLDER, self.folder.path()).env_remove("RUST_LOG").stdout(Stdio::null());
        command.envs(BUGGY.into_iter().zip([&self.server.connect_string(), &self.namespace]));
        let log = self.folder.path().join(format!("log-{number}"));
        self.processes.push(TestProcess::start(command, log).unwrap());
        number
    }

    /// Kills one with SIGKILL.
    pub fn kill(&mut self, number: usize) {
        self.processes[number].kill();
    }

    pub fn log(&self, number: usize) -> String {
        self.processes[number].log()
    }

    /// Makes the file of this name that a process looks for.
    pub fn ask_for(&self, number: usize, what: &str) {
        fs::write(self.file(number, what), "").unwrap();
    }

    /// Makes the file of this name that all processes look for.
    pub fn ask_all_for(&self, what: &str) {
        fs::write(self.folder.path().join(what), "").unwrap();
    }

    fn file(&self, number: usize, what: &str) -> std::path::PathBuf {
        self.folder.path().join(format!("{what}-{}", self.processes[number].pid()))
    }

    fn lines(&self, number: usize, what: &str) -> Vec<String> {
        let text = fs::read_to_string(self.file(number, what)).unwrap_or_default();
        elasticjob_tests::records::complete_lines(&text).map(str::to_owned).collect()
    }

    /// The reports that the error handler of a process got about a job.
    pub fn failures(&self, number: usize, job: &str) -> Vec<String> {
        let of_job = |line: &String| line.starts_with(&format!("Job '{job}': "));
        self.lines(number, "failures").into_iter().filter(of_job).collect()
    }

    /// How often a process ran an item of a job.
    pub fn runs(&self, number: usize, job: &str, item: u32) -> usize {
        self.recorded(number, &format!("{job} {item}"))
    }

    /// How often a process recorded this of its runs.
    pub fn recorded(&self, number: usize, run: &str) -> usize {
        self.lines(number, "runs").iter().filter(|line| **line == run).count()
    }

    /// Waits until a process has run these items of a job twice more than now.
    pub async fn run_again(&self, number: usize, job: &str, items: &[u32]) {
        let before: Vec<usize> = items.iter().map(|item| self.runs(number, job, *item)).collect();
        let again = || items.iter().zip(&before).all(|(item, before)| self.runs(number, job, *item) >= before + 2);
        self.wait(&format!("runs of {items:?} of {job} on process {number}"), LIMIT, async || again().then_some(()))
            .await;
    }

    /// The items of a job that the registry center leaves to each process; none before there is such a job.
    pub async fn items(&self, job: &str) -> Vec<BTreeSet<u32>> {
        let mut shards = Vec::new();
        self.operator.write(&["shards", job, "--json"], &mut shards).await;
        let shards: serde_json::Value = serde_json::from_slice(&shards).unwrap_or_else(|_| serde_json::json!([]));
        let owned = |process: &TestProcess| {
            let id = format!("@-@{}", process.pid());
            let is_its = |shard: &&serde_json::Value| shard["instance"].as_str().is_some_and(|of| of.ends_with(&id));
            let of_process = shards.as_array().unwrap().iter().filter(is_its);
            of_process.map(|shard| u32::try_from(shard["item"].as_u64().unwrap()).unwrap()).collect()
        };
        self.processes.iter().map(owned).collect()
    }

    /// Waits until each process has one item of a job; returns them.
    pub async fn one_each(&self, job: &str) -> Vec<u32> {
        let one_each = async || {
            let items = self.items(job).await;
            items.iter().all(|items| items.len() == 1).then(|| items.into_iter().flatten().collect())
        };
        self.wait(&format!("an item of {job} for each"), LIMIT, one_each).await
    }

    /// Waits until something is there.
    pub async fn wait<T>(&self, what: &str, limit: Duration, find: impl AsyncFn() -> Option<T>) -> T {
        let until = Instant::now() + limit;
        loop {
            if let Some(found) = find().await {
                return found;
            }
            assert!(Instant::now() < until, "{what}: not within {limit:?}\n{}", self.all());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Waits until a command says all these parts; returns what it says.
    pub async fn says(&self, arguments: &[&str], parts: &[&str]) -> String {
        let asked = async || {
            let said = self.operator.says(arguments).await;
            parts.iter().all(|part| said.contains(part)).then_some(said)
        };
        self.wait(&format!("{arguments:?} says {parts:?}"), LIMIT, asked).await
    }

    /// Waits for the end of a process.
    pub async fn exited(&mut self, number: usize) -> ExitStatus {
        let until = Instant::now() + LIMIT;
        loop {
            if let Some(status) = self.processes[number].exit_status() {
                return status;
            }
            assert!(Instant::now() < until, "process {number} does not end\n{}", self.all());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Sends a signal to a process.
    pub fn signal(&self, number: usize, name: &str) {
        self.processes[number].signal(name);
    }

    /// Ends a process in good order.
    pub async fn end(&mut self, number: usize) -> ExitStatus {
        self.signal(number, "TERM");
        self.exited(number).await
    }

    /// Everything that they told so far.
    pub fn all(&self) -> String {
        let of_each = (0..self.processes.len()).map(|number| {
            format!("--- process {number}\n{}\n{}", self.lines(number, "failures").join("\n"), self.log(number))
        });
        of_each.collect()
    }
}
