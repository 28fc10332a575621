//! Measures the cost and lateness of fires, and a process's use of the machine.

use std::io;

use serde_json::Value;

use super::Stage;
use crate::java_peer::Kind;
use crate::measure::last_line;

/// What is measured: its name, and the options of both programs.
pub(super) const CASES: [(&str, &str); 9] = [
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

pub(super) fn measure(stage: &Stage, kind: Kind, options: &str) -> io::Result<Value> {
    let server = stage.server.connect_string();
    let options = format!("{options} --seconds {} --zookeeper {server}", stage.seconds);
    last_line(stage.bench(kind)?.args(options.split(' ')))
}
