//! An example that runs as a process.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use elasticjob_tests::group::{TemporaryFolder, TestProcess};

/// Everything that a test waits for happens within this time, or never.
const LIMIT: Duration = Duration::from_secs(40);

/// A running example.
pub struct Example {
    pub process: TestProcess,
    folder: TemporaryFolder,
}

impl Example {
    pub fn start(name: &str, program: &str, variables: &[(&str, &str)]) -> Self {
        let folder = TemporaryFolder::new(name).expect("a folder for lines and log");
        let mut command = Command::new(program);
        command.env_remove("RUST_LOG").env_remove("ELASTICJOB_LOG").env("TMPDIR", folder.path());
        command.envs(variables.iter().copied());
        command.stdout(File::create(lines_in(&folder)).expect("a file for the lines"));
        let process = TestProcess::start(command, folder.path().join("log")).expect("it starts");
        Self { process, folder }
    }

    /// The lines that it has printed so far.
    fn lines(&self) -> Vec<String> {
        fs::read_to_string(lines_in(&self.folder)).expect("the lines can be read").lines().map(str::to_owned).collect()
    }

    /// Waits until it has printed or logged the expected lines.
    pub fn wait(&self, what: &str, is_there: impl Fn(&[String], &str) -> bool) -> Vec<String> {
        let started = Instant::now();
        loop {
            let (lines, log) = (self.lines(), self.process.log());
            if is_there(&lines, &log) {
                return lines;
            }
            assert!(started.elapsed() < LIMIT, "{what}: not in time\n{lines:#?}\n{log}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// The folder that it uses for temporary files.
    #[cfg(feature = "tracing-sqlite")]
    pub fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// Ends it with a signal, and checks that it exits without an error. Returns its log.
    pub fn end(mut self) -> String {
        self.process.signal("INT");
        let started = Instant::now();
        let status = loop {
            if let Some(status) = self.process.exit_status() {
                break status;
            }
            assert!(started.elapsed() < LIMIT, "it does not end\n{}", self.process.log());
            thread::sleep(Duration::from_millis(20));
        };
        assert!(status.success(), "{status}\n{}", self.process.log());
        self.process.log()
    }
}

/// The file with its output.
fn lines_in(folder: &TemporaryFolder) -> PathBuf {
    folder.path().join("lines")
}
