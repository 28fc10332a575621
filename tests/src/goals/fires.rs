//! Fires on ZooKeeper: what they cost, and how late they are.

use std::io;
use std::process::Command;

use serde_json::Value;

use super::{Case, Party, Stage};
use crate::measure::beside;

pub(super) fn measure(stage: &Stage, case: &Case, party: Party, beside_java: bool) -> io::Result<Option<Value>> {
    let command = match party {
        Party::Before | Party::Now => stage.program(party, "bench")?,
        Party::Peer => stage.java.as_ref().filter(|_| beside_java).map(|java| java.command("bench")),
        Party::Limit => limit(case)?,
    };
    let Some(mut command) = command else { return Ok(None) };
    if party != Party::Limit {
        command.args(case.options);
    }
    command.args(["--jobs", &case.jobs.to_string(), "--seconds", &stage.plan.seconds.to_string()]);
    let mut line = party.last_line(command.args(["--zookeeper", &stage.server.connect_string()]))?;
    // Jobs of these cases fire once a second, those with a cron of their own have no such figure.
    line["requests_per_s"] =
        line["registry_requests_per_fire"].as_f64().map(|requests| requests * f64::from(case.jobs)).into();
    Ok(Some(line))
}

/// The same operations without an engine: of monitored fires of one item.
fn limit(case: &Case) -> io::Result<Option<Command>> {
    let is_simple = case.options == ["--items", "1"];
    is_simple.then(|| beside("registry_limit").map(Command::new)).transpose()
}
