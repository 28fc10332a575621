//! The Java program in `tests/java-peer`: instances and operators of the Java release, and Quartz.

mod build;
mod mixed;
mod operator;
mod plan;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub use self::build::{Tools, target_folder};
pub use self::mixed::MixedProgram;
pub use self::operator::JavaOperator;
use self::plan::JavaPlan;
use crate::worker::WorkerPlan;

/// Small and quick to start: there are several of them on a machine that has more to do.
const JVM: [&str; 3] = ["-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];

/// Which implementation a process runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// This one.
    Rust,
    /// The Java release.
    Java,
}

impl Kind {
    /// Both of them.
    pub const BOTH: [Self; 2] = [Self::Rust, Self::Java];

    /// The one that this is not.
    pub fn other(self) -> Self {
        match self {
            Self::Rust => Self::Java,
            Self::Java => Self::Rust,
        }
    }
}

/// The program, built.
#[derive(Debug, Clone)]
pub struct JavaPeer {
    java: PathBuf,
    classpath: OsString,
    options: &'static [&'static str],
}

impl JavaPeer {
    /// The same with the memory and the compiler that Java gives to any program.
    #[must_use]
    pub fn unbounded(self) -> Self {
        Self { options: &[], ..self }
    }

    /// How to start one of its commands.
    pub fn command(&self, name: &str) -> Command {
        let mut command = Command::new(&self.java);
        command.args(self.options).arg("-cp").arg(&self.classpath).args(["elasticjob.peer.Main", name]);
        command
    }

    /// How to start a process with the jobs of a worker, which records its runs in a file.
    ///
    /// # Panics
    /// When the plan makes no sense.
    pub fn instance(&self, plan: &WorkerPlan, registry: &str, records: &Path) -> Command {
        let plan = JavaPlan::beside(plan, registry, records).expect("a plan that makes sense");
        let mut command = self.command("instance");
        command.stdout(Stdio::null()).arg(serde_json::to_string(&plan).expect("a plan is JSON"));
        command
    }
}
