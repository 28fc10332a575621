//! Real processes whose log cannot be written or is not read, or whose subscriber panics or waits: their jobs go on, their
//! items stay shared, and their exit codes are right.
//!
//! This program is both: the tests, and with a variable of the environment the process under test.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::env;
use std::fs::{self, File, OpenOptions};
#[cfg(feature = "console")]
use std::io::Read as _;
use std::io::{PipeReader, Write, pipe};
#[cfg(feature = "console")]
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio, id};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use elasticjob_starter::prelude::*;
use elasticjob_starter::settings::Sources;
use elasticjob_tests::group::TemporaryFolder;
use elasticjob_tests::harness::Harness;
use elasticjob_tests::zookeeper::ZookeeperServer;
use tracing::Level;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

/// Names the folder of a process under test.
const FOLDER: &str = "BROKEN_LOG_FOLDER";

/// Names what is wrong with its subscriber.
const SUBSCRIBER: &str = "BROKEN_LOG_SUBSCRIBER";

/// Names the arguments of `elasticjob console`, one a line, where the process under test is that.
#[cfg(feature = "console")]
const CONSOLE: &str = "BROKEN_LOG_CONSOLE";

/// Everything that is waited for happens within this, or never.
const LIMIT: Duration = Duration::from_secs(90);

const ITEMS: u32 = 3;

/// Adds a line to the records of its process.
#[elastic_job(cron = "* * * * * ?", sharding_total_count = 3)]
async fn recorded(context: ShardingContext, records: Inject<PathBuf>) -> JobResult {
    let mut file = OpenOptions::new().create(true).append(true).open(&*records)?;
    writeln!(file, "{}", context.sharding_item())?;
    Ok(())
}

/// A subscriber with a bug: it panics once about the begin of a fire, or about every line of this library. Lines of the
/// ZooKeeper client are not guarded: its own task would end with them.
struct Panicking {
    always: bool,
    has_panicked: AtomicBool,
}

impl<S: tracing::Subscriber> Layer<S> for Panicking {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let is_of_a_fire = event.metadata().fields().field("fire").is_some();
        let is_ours = event.metadata().target().starts_with("elasticjob");
        let panics = (self.always && is_ours) || (is_of_a_fire && !self.has_panicked.swap(true, Ordering::Relaxed));
        assert!(!panics, "the subscriber of this program panics");
    }
}

/// Sets up a subscriber with a bug, where one is asked for.
fn set_up_subscriber() -> bool {
    let Ok(how) = env::var(SUBSCRIBER) else { return false };
    if how == "waits" {
        // Lines of the ZooKeeper client would make its task wait.
        let ours = Targets::new().with_target("elasticjob", Level::INFO);
        let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_filter(ours);
        tracing_subscriber::registry().with(layer).init();
    } else {
        let layer = Panicking { always: how == "always", has_panicked: AtomicBool::new(false) };
        tracing_subscriber::registry().with(layer).init();
    }
    true
}

#[tokio::main]
async fn under_test(folder: PathBuf) -> Result<(), AppError> {
    if !set_up_subscriber() {
        init_logging()?;
    }
    let records = folder.join(format!("records-{}", id()));
    let sources = Sources::in_folder(folder).arguments(env::args().skip(1));
    let app = ElasticJobApp::builder().only_jobs_of(module_path!()).sources(sources).provide(records).start().await?;
    app.until_shutdown().await
}

#[cfg(feature = "console")]
#[tokio::main]
async fn console_under_test(folder: PathBuf, arguments: String) -> ExitCode {
    set_up_subscriber();
    let (mut stdout, mut stderr) = (std::io::stdout(), elasticjob_cli::standard_error(arguments.lines()));
    let terminal = elasticjob_cli::Console { stdout: &mut stdout, stderr: &mut *stderr, is_terminal: false };
    elasticjob_cli::run(arguments.lines(), Sources::in_folder(folder), terminal).await.into()
}

/// Processes under test; killed when this is dropped.
pub struct Processes {
    folder: TemporaryFolder,
    pub arguments: Vec<String>,
    children: Vec<Child>,
}

impl Processes {
    pub fn new(server: Option<(&ZookeeperServer, &str)>) -> Self {
        let arguments = server.map_or_else(Vec::new, |(server, namespace)| {
            vec![
                format!("--elasticjob.reg-center.server-lists={}", server.connect_string()),
                format!("--elasticjob.reg-center.namespace=broken-log-{namespace}"),
                "--elasticjob.reg-center.session-timeout-milliseconds=6000".to_owned(),
            ]
        });
        Self { folder: TemporaryFolder::new("broken-log").unwrap(), arguments, children: Vec::new() }
    }

    /// Starts one and returns its number.
    fn start(&mut self, stderr: Stdio, subscriber: Option<&str>) -> usize {
        self.start_with(stderr, subscriber, &[])
    }

    fn start_with(&mut self, stderr: Stdio, subscriber: Option<&str>, environment: &[(&str, &str)]) -> usize {
        let command = Command::new(env::current_exe().unwrap());
        self.start_as(command, stderr, subscriber, environment)
    }

    /// Starts one that may open so many files.
    #[cfg(feature = "console")]
    pub fn start_with_few_files(&mut self, files: u32) -> usize {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit -n {files}; exec \"$0\" \"$@\"")]).arg(env::current_exe().unwrap());
        self.start_as(command, Stdio::null(), None, &[])
    }

    fn start_as(
        &mut self,
        mut command: Command,
        stderr: Stdio,
        subscriber: Option<&str>,
        environment: &[(&str, &str)],
    ) -> usize {
        command.envs(environment.iter().copied());
        command.args(&self.arguments).env(FOLDER, self.folder.path()).stdin(Stdio::null()).stderr(stderr);
        command.envs(subscriber.map(|panics| (SUBSCRIBER, panics)));
        self.children.push(command.spawn().unwrap());
        self.children.len() - 1
    }

    /// How often a process ran each item so far.
    fn runs(&self, number: usize) -> [usize; ITEMS as usize] {
        let records = self.folder.path().join(format!("records-{}", self.children[number].id()));
        let text = fs::read_to_string(records).unwrap_or_default();
        std::array::from_fn(|item| text.lines().filter(|line| *line == item.to_string()).count())
    }

    /// Waits until each process has run something, and together each item, some times more than now.
    pub async fn go_on(&self) {
        let all = || (0..self.children.len()).map(|number| self.runs(number)).collect::<Vec<_>>();
        let before = all();
        let until = Instant::now() + LIMIT;
        loop {
            let more: Vec<Vec<usize>> = all()
                .iter()
                .zip(&before)
                .map(|(now, then)| now.iter().zip(then).map(|(a, b)| a - b).collect())
                .collect();
            let every_process = more.iter().all(|of| of.iter().sum::<usize>() >= 4);
            let every_item = (0..ITEMS as usize).all(|item| more.iter().map(|of| of[item]).sum::<usize>() >= 4);
            if every_process && every_item {
                return;
            }
            assert!(Instant::now() < until, "not all goes on: {more:?} more runs of each item by each process");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Sends SIGTERM and waits for the end.
    pub async fn end(&mut self, number: usize) -> ExitStatus {
        let child = &mut self.children[number];
        assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
        let until = Instant::now() + LIMIT;
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < until, "it does not end");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        for child in &mut self.children {
            // An error says that it has ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Starts `elasticjob console` beside jobs, and asks it with a token that it does not know. Returns what it answered, and the
/// processes: the log is written on a thread of its own, after the answer.
#[cfg(feature = "console")]
async fn asked(
    server: &ZookeeperServer,
    namespace: &str,
    stderr: Stdio,
    subscriber: Option<&str>,
) -> (String, Processes) {
    use elasticjob_tests::ports;

    let mut processes = Processes::new(Some((server, namespace)));
    // It makes the namespace.
    processes.start(Stdio::null(), None);
    processes.go_on().await;
    let address = format!("127.0.0.1:{}", ports::free().unwrap());
    let (servers, namespace) = (server.connect_string(), format!("broken-log-{namespace}"));
    let arguments =
        ["elasticjob", "console", "--listen", &address, "--server-lists", &servers, "--namespace", &namespace];
    processes.start_with(stderr, subscriber, &[(CONSOLE, &arguments.join("\n"))]);
    let until = Instant::now() + LIMIT;
    let mut stream = loop {
        match TcpStream::connect(&address) {
            Ok(stream) => break stream,
            Err(error) => assert!(Instant::now() < until, "the console does not listen: {error}"),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    let request = format!(
        "GET /api/v1/registries HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer unknown\r\nConnection: close\r\n\r\n"
    );
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    (answer, processes)
}

#[cfg(feature = "console")]
async fn console_that_logs(server: Arc<ZookeeperServer>) {
    let folder = TemporaryFolder::new("console-log").unwrap();
    let file = folder.path().join("log");
    let (answer, _processes) = asked(&server, "console-logs", File::create(&file).unwrap().into(), None).await;
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
    let until = Instant::now() + LIMIT;
    loop {
        let log = fs::read_to_string(&file).unwrap();
        if log.contains("WARN elasticjob::audit: invalid-token")
            || log.contains("WARN elasticjob::audit: token-refused")
        {
            return;
        }
        assert!(Instant::now() < until, "the log does not tell who was kept out: {log}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[cfg(feature = "console")]
async fn console_with_a_broken_log(server: Arc<ZookeeperServer>) {
    let (_reader, unread) = stalled_pipe();
    let cases = [
        ("console-full", full_disk(), None),
        ("console-unread", unread, None),
        ("console-panics", Stdio::null(), Some("always")),
    ];
    for (namespace, stderr, subscriber) in cases {
        let (answer, _) = asked(&server, namespace, stderr, subscriber).await;
        assert!(answer.starts_with("HTTP/1.1 401 "), "{namespace}: {answer}");
    }
}

fn full_disk() -> Stdio {
    File::options().write(true).open(Path::new("/dev/full")).unwrap().into()
}

async fn broken_pipe(server: Arc<ZookeeperServer>) {
    let mut processes = Processes::new(Some((&server, "pipe")));
    let piped = processes.start(Stdio::piped(), None);
    let other = processes.start(Stdio::null(), None);
    let mut log = processes.children[piped].stderr.take().unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = stop.clone();
    let reader = std::thread::spawn(move || {
        let mut some = [0; 4096];
        while !stopped.load(Ordering::Relaxed) && std::io::Read::read(&mut log, &mut some).is_ok_and(|read| read > 0) {}
    });
    processes.go_on().await;
    stop.store(true, Ordering::Relaxed);
    // The next line ends the reader, and the pipe with it.
    reader.join().unwrap();
    processes.go_on().await;
    assert_eq!(processes.end(piped).await.code(), Some(0));
    assert_eq!(processes.end(other).await.code(), Some(0));
}

/// A pipe that is full, and whose reader reads nothing.
fn stalled_pipe() -> (PipeReader, Stdio) {
    /// As much as Linux keeps in a pipe.
    const FULL: usize = 65_536;
    let (reader, mut writer) = pipe().unwrap();
    writer.write_all(&vec![b'\n'; FULL]).unwrap();
    (reader, writer.into())
}

async fn stalled(server: Arc<ZookeeperServer>, subscriber: Option<&'static str>) {
    let mut processes = Processes::new(Some((&server, subscriber.unwrap_or("stalled"))));
    let (_reader, log) = stalled_pipe();
    let stalled = processes.start(log, subscriber);
    let other = processes.start(Stdio::null(), None);
    processes.go_on().await;
    assert_eq!(processes.end(other).await.code(), Some(0));
    let mut left = processes.children.remove(other);
    left.wait().unwrap();
    // It takes over what the other one had.
    processes.go_on().await;
    assert_eq!(processes.end(stalled).await.code(), Some(0));
}

async fn full(server: Arc<ZookeeperServer>) {
    let mut processes = Processes::new(Some((&server, "full")));
    let full = processes.start(full_disk(), None);
    processes.start(Stdio::null(), None);
    processes.go_on().await;
    assert_eq!(processes.end(full).await.code(), Some(0));
}

async fn panics(server: Arc<ZookeeperServer>, how: &'static str) {
    let mut processes = Processes::new(Some((&server, how)));
    // The message of the panic goes to the standard error.
    let panicking = processes.start(Stdio::null(), Some(how));
    processes.start(Stdio::null(), None);
    processes.go_on().await;
    assert_eq!(processes.end(panicking).await.code(), Some(0));
}

async fn embedded() {
    let goes_on = async |subscriber| {
        let mut processes = Processes::new(None);
        let alone = processes.start(full_disk(), subscriber);
        processes.go_on().await;
        assert_eq!(processes.end(alone).await.code(), Some(0), "{subscriber:?}");
    };
    tokio::join!(goes_on(None), goes_on(Some("once")), goes_on(Some("always")));
}

/// Plays the process, where this is one.
pub fn play() -> Option<ExitCode> {
    let folder = env::var_os(FOLDER)?;
    #[cfg(feature = "console")]
    if let Ok(arguments) = env::var(CONSOLE) {
        return Some(console_under_test(folder.into(), arguments));
    }
    Some(match under_test(folder.into()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    })
}

pub fn add_tests(harness: &mut Harness) {
    harness.on_zookeeper("a_log_whose_reader_ends_costs_lines_and_nothing_else", broken_pipe);
    harness.on_zookeeper("a_log_that_nobody_reads_costs_lines_and_nothing_else", |server| stalled(server, None));
    harness.on_zookeeper("a_subscriber_that_waits_costs_the_log_and_nothing_else", |server| {
        stalled(server, Some("waits"))
    });
    harness.on_zookeeper("a_log_on_a_full_disk_costs_lines_and_nothing_else", full);
    harness
        .on_zookeeper("a_subscriber_that_panics_once_costs_a_line_and_nothing_else", |server| panics(server, "once"));
    harness.on_zookeeper("a_subscriber_that_always_panics_costs_the_log_and_nothing_else", |server| {
        panics(server, "always")
    });
    #[cfg(feature = "console")]
    {
        harness.on_zookeeper("the_log_of_the_console_tells_who_was_kept_out", console_that_logs);
        harness.on_zookeeper("a_broken_log_does_not_keep_the_console_from_answering", console_with_a_broken_log);
    }
    harness.test("on_the_embedded_registry_jobs_go_on_without_a_log", embedded);
}
