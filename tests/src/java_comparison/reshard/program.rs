//! Processes of one kind that share a job with many items, which do nothing.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::{ITEMS, PERIOD_SECONDS};
use crate::group::Program;
use crate::java_comparison::stage::SESSION_TIMEOUT;
use crate::records::ProcessRecords;

/// Longer than any of it takes.
const SECONDS: u32 = 3_600;

/// The benchmark program, of which the registry shows all that is measured.
#[derive(Debug)]
pub(super) struct Benches {
    bench: Command,
}

impl Benches {
    /// The same, in a namespace. Nothing is monitored: neither kind waits for runs, or marks them.
    pub fn new(mut bench: Command, zookeeper: &str, namespace: &str) -> Self {
        bench.args(["--zookeeper", zookeeper, "--namespace", namespace, "--jobs", "1", "--no-monitor"]);
        bench.args(["--items", &ITEMS.to_string(), "--seconds", &SECONDS.to_string()]);
        bench.args(["--cron", &format!("0/{PERIOD_SECONDS} * * * * ?")]);
        Self { bench }
    }
}

impl Program for Benches {
    fn command(&self, _: &Path, _: Option<&str>) -> Command {
        let mut command = Command::new(self.bench.get_program());
        command.args(self.bench.get_args()).stdout(Stdio::null());
        command
    }

    fn records(&self, _: u32, _: &str) -> ProcessRecords {
        ProcessRecords::default()
    }

    fn session_timeout(&self) -> Duration {
        SESSION_TIMEOUT
    }
}
