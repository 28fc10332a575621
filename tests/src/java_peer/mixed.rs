//! Groups of Rust and Java instances of the same jobs.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use super::JavaPeer;
use crate::fence::SinkWrite;
use crate::group::{Group, Program, WorkerProgram};
use crate::records::ProcessRecords;

/// A worker, and the Java program with the same jobs. [`Group::start`] starts the worker.
#[derive(Debug)]
pub struct MixedProgram {
    worker: WorkerProgram,
    peer: Option<Arc<JavaPeer>>,
}

impl MixedProgram {
    /// Java instances beside these workers. Without the Java program there are none.
    pub fn new(worker: WorkerProgram, peer: Option<Arc<JavaPeer>>) -> Self {
        Self { worker, peer }
    }

    /// The workers.
    pub fn worker(&self) -> &WorkerProgram {
        &self.worker
    }

    fn java_command(&self, records: &Path, registry: Option<&str>) -> Command {
        let plan = self.worker.plan();
        let peer = self.peer.as_ref().expect("the Java program was built");
        peer.instance(plan, registry.unwrap_or(&plan.zookeeper), records)
    }
}

impl Group<MixedProgram> {
    /// Starts one more Java process and returns its id.
    ///
    /// # Panics
    /// When the group was made without the Java program.
    pub async fn start_java(&mut self) -> u32 {
        self.start_command(MixedProgram::java_command).await
    }
}

impl Program for MixedProgram {
    fn command(&self, records: &Path, registry: Option<&str>) -> Command {
        self.worker.command(records, registry)
    }

    fn registry(&self) -> Option<String> {
        self.worker.registry()
    }

    fn records(&self, pid: u32, text: &str) -> ProcessRecords {
        self.worker.records(pid, text)
    }

    fn sink(&self) -> Vec<SinkWrite> {
        self.worker.sink()
    }

    fn session_timeout(&self) -> Duration {
        self.worker.session_timeout()
    }

    fn may_freeze(&self) -> bool {
        self.worker.may_freeze()
    }
}
