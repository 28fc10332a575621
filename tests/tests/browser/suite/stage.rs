//! The stage for the browser: a console with users, jobs that run, and their traces.

use std::fs;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use elasticjob_console::PasswordHash;
use elasticjob_tests::databases::{Database, DatabaseServer, Kind};
use elasticjob_tests::group::{TemporaryFolder, TestProcess, WorkerProgram};
use elasticjob_tests::java_peer::JavaPeer;
use elasticjob_tests::ports;
use elasticjob_tests::tier::Tier;
use elasticjob_tests::worker::JobPlan;
use elasticjob_tests::zookeeper::ZookeeperServer;

use super::processes;

const NAMESPACE: &str = "browser";
/// What the session of a killed process lasts. The machine has other work: in a shorter one a stalled disk cuts runs off.
const SESSION: Duration = Duration::from_secs(10);
/// What happens within this, or never. The machine has other work.
pub const LIMIT: Duration = Duration::from_secs(120);
/// The password of all users.
pub const PASSWORD: &str = "open sesame, open";

/// Everything that is started for a test; all of it ends when this is dropped.
pub struct Stage {
    /// The address of the console, without a slash at its end.
    pub address: String,
    /// Its port.
    pub port: u16,
    pub jobs: TestProcess,
    /// Another process with the same jobs.
    pub others: TestProcess,
    pub database: Database,
    pub console: TestProcess,
    /// The Java instance, where the Java tests are asked for.
    pub java: Option<TestProcess>,
    folder: TemporaryFolder,
    pub zookeeper: ZookeeperServer,
}

impl Stage {
    /// Starts it, and waits until the console serves and a run is traced. Every instance traces its runs.
    pub async fn start() -> Self {
        Self::start_with(false, "").await
    }

    /// The same with a Java instance of one of the jobs, where the Java tests are asked for. It traces nothing.
    pub async fn start_beside_java() -> Self {
        Self::start_with(true, "").await
    }

    /// The same with the console below a path.
    pub async fn start_below(path: &str) -> Self {
        Self::start_with(false, path).await
    }

    async fn start_with(is_java_wanted: bool, base: &str) -> Self {
        let zookeeper = ZookeeperServer::start().expect("ZooKeeper starts");
        let server = Arc::new(DatabaseServer::start(Kind::Postgresql).await.expect("PostgreSQL starts"));
        let database = Database::on(server, Kind::Postgresql).await;
        let folder = TemporaryFolder::new("browser").expect("a folder");
        let port = ports::free().expect("a free port");
        let hash = PasswordHash::of(PASSWORD).expect("a password");
        let user = |role: &str| format!("    {role}:\n      password-hash: {}\n      role: {role}\n", hash.as_str());
        let settings = format!(
            "elasticjob:\n  reg-center:\n    server-lists: {}\n    namespace: {NAMESPACE}\n    \
             session-timeout-milliseconds: {}\n  tracing:\n    type: RDB\n    data-source: {{url: '{}'}}\n    run-log: {{enabled: true}}\n  \
             console:\n    port: {port}\n    base-path: '{base}'\n    data: {}\n  console-users:\n{}{}{}",
            zookeeper.connect_string(),
            SESSION.as_millis(),
            database.url(),
            folder.path().join("console.db").display(),
            user("admin"),
            user("operator"),
            user("viewer"),
        );
        let console_folder = folder.path().join("console");
        let jobs_folder = folder.path().join("jobs");
        for (place, text) in [(&console_folder, settings.as_str()), (&jobs_folder, &without_console(&settings))] {
            fs::create_dir(place).expect("a folder for settings");
            fs::write(place.join("application.yaml"), text).expect("settings");
        }
        let log = |name: &str| folder.path().join(name);
        let start = |command, name| TestProcess::start(command, log(name)).expect("it starts");
        let jobs = start(processes::jobs(&jobs_folder), "jobs.log");
        let others = start(processes::jobs(&jobs_folder), "others.log");
        let java = if is_java_wanted { java(&zookeeper, &folder) } else { None };
        // The console asks for a namespace that the first job makes.
        wait_traced(&database, &jobs).await;
        let mut console = start(processes::console(&console_folder), "console.log");
        wait_open(port, &mut console);
        Self {
            address: format!("http://127.0.0.1:{port}{base}"),
            port,
            jobs,
            others,
            database,
            console,
            java,
            folder,
            zookeeper,
        }
    }

    /// Starts the console again, after it was killed.
    pub fn start_console_again(&mut self) {
        let command = processes::console(&self.folder.path().join("console"));
        self.console = TestProcess::start(command, self.folder.path().join("console-again.log")).expect("it starts");
        wait_open(self.port, &mut self.console);
    }
}

/// Waits until some runs are traced.
async fn wait_traced(database: &Database, jobs: &TestProcess) {
    let deadline = Instant::now() + LIMIT;
    while !(has_table(database, "job_execution_log").await && database.count("JOB_EXECUTION_LOG").await > 4) {
        assert!(Instant::now() < deadline, "no run is traced\n{}", jobs.log());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn has_table(database: &Database, name: &str) -> bool {
    let tables = database.rows("pg_tables", &["tablename"], &format!("tablename = '{name}'")).await;
    !tables.is_empty()
}

/// The settings of the program with the jobs: it serves no console.
fn without_console(settings: &str) -> String {
    settings.split("  console:\n").next().unwrap_or_default().to_owned()
}

pub fn wait_open(port: u16, console: &mut TestProcess) {
    let deadline = Instant::now() + LIMIT;
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        let waits = console.exit_status().is_none() && Instant::now() < deadline;
        assert!(waits, "the console does not listen\n{}", console.log());
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A Java instance of a job of the Rust processes, where the Java tests are asked for.
fn java(zookeeper: &ZookeeperServer, folder: &TemporaryFolder) -> Option<TestProcess> {
    if !Tier::asked().includes(Tier::Java) {
        return None;
    }
    if let Err(why) = JavaPeer::find() {
        eprintln!("the console is looked at without a Java instance beside the jobs: {why}");
        return None;
    }
    let peer = JavaPeer::build().expect("Maven builds it");
    let jobs = vec![JobPlan::each_second("settle", 2, 50)];
    let program = WorkerProgram::new(("", &[]), zookeeper.connect_string(), NAMESPACE, jobs, SESSION);
    let command = peer.instance(program.plan(), &zookeeper.connect_string(), &folder.path().join("java.records"));
    Some(TestProcess::start(command, folder.path().join("java.log")).expect("it starts"))
}
