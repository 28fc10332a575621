//! The Java program in `tests/java-peer`: instances and operators of the Java release, and Quartz.

mod build;
mod mixed;
mod operator;
mod plan;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

pub use self::build::{Tools, target_folder};
pub use self::mixed::MixedProgram;
pub use self::operator::JavaOperator;

/// Small and quick to start: there are several of them on a machine that has more to do.
const JVM: [&str; 3] = ["-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];

/// The program, built.
#[derive(Debug, Clone)]
pub struct JavaPeer {
    java: PathBuf,
    classpath: OsString,
}

impl JavaPeer {
    /// How to start one of its commands.
    pub fn command(&self, name: &str) -> Command {
        self.command_with(&JVM, name)
    }

    /// The same with the memory and the compiler that Java gives to any program.
    pub fn unbounded_command(&self, name: &str) -> Command {
        self.command_with(&[], name)
    }

    fn command_with(&self, options: &[&str], name: &str) -> Command {
        let mut command = Command::new(&self.java);
        command.args(options).arg("-cp").arg(&self.classpath).args(["elasticjob.peer.Main", name]);
        command
    }
}
