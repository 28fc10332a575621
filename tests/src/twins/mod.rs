//! The benchmark of this implementation and its twin of the Java release, in turn on one server.

mod table;

use std::io;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

pub use self::table::table;
use crate::java_peer::{JavaPeer, target_folder};
use crate::zookeeper::ZookeeperServer;

/// What is measured: its name, and the options of both programs.
const CASES: [(&str, &str); 9] = [
    ("1x1", "--jobs 1 --items 1"),
    ("1x10", "--jobs 1 --items 10"),
    ("1x10 failover", "--jobs 1 --items 10 --failover"),
    ("10x10", "--jobs 10 --items 10"),
    ("100x3", "--jobs 100 --items 3"),
    ("300x1", "--jobs 300 --items 1"),
    ("1000x1 unmonitored", "--jobs 1000 --items 1 --no-monitor"),
    ("one-off 1x1", "--jobs 1 --items 1 --one-off"),
    ("one-off 1x10", "--jobs 1 --items 10 --one-off"),
];

/// How to measure.
#[derive(Debug)]
pub struct Plan {
    /// How long each is measured.
    pub seconds: u32,
    /// How often each takes its turn.
    pub rounds: u32,
    /// Only cases whose name contains this.
    pub only: String,
}

/// What was measured of a case, a line for each round.
#[derive(Debug)]
pub struct Measured {
    case: &'static str,
    rust: Vec<Value>,
    java: Vec<Value>,
}

/// Measures, and keeps all lines in the target folder of Cargo as `twins.json`.
///
/// # Errors
/// When something is not installed, or one of the programs fails.
pub fn measure(plan: &Plan) -> io::Result<Vec<Measured>> {
    let peer = JavaPeer::build()?.unbounded();
    let server = ZookeeperServer::start()?;
    let mut all = Vec::new();
    for (case, options) in CASES.iter().filter(|(case, _)| case.contains(&plan.only)) {
        let mut measured = Measured { case, rust: vec![], java: vec![] };
        for round in 1..=plan.rounds {
            eprintln!("{case}, round {round} of {}", plan.rounds);
            let run = |mut command: Command| {
                let options = format!("{options} --seconds {} --zookeeper {}", plan.seconds, server.connect_string());
                last_line(command.args(options.split(' ')))
            };
            measured.rust.push(run(Command::new(bench()?))?);
            measured.java.push(run(peer.command("bench"))?);
        }
        all.push(measured);
    }
    let lines: Vec<Value> =
        all.iter().map(|case| json!({ "case": case.case, "rust": case.rust, "java": case.java })).collect();
    std::fs::write(target_folder()?.join("twins.json"), serde_json::to_string_pretty(&lines)?)?;
    Ok(all)
}

/// The program beside this one.
fn bench() -> io::Result<PathBuf> {
    Ok(std::env::current_exe()?.with_file_name("bench"))
}

fn last_line(command: &mut Command) -> io::Result<Value> {
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    match text.lines().last().filter(|_| output.status.success()).map(serde_json::from_str) {
        Some(Ok(line)) => Ok(line),
        _ => Err(io::Error::other(format!(
            "{command:?}: {}\n{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        ))),
    }
}
