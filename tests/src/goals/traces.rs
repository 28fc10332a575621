//! Events of traces into each database.

use std::io;

use serde_json::{Value, json};

use super::{Party, Stage};
use crate::measure::last_line;

/// Enough for a second of the fastest database.
const EVENTS: &str = "100000";

const DATABASES: [&str; 4] = ["sqlite", "postgresql", "mariadb", "mariadb_flushed"];

/// Java's way and the limit of PostgreSQL are measured anew, by the same program.
pub(super) fn measure(stage: &Stage, party: Party) -> io::Result<Option<Value>> {
    let Some(mut command) = stage.program(party, "trace_bench")? else { return Ok(None) };
    let measured = last_line(command.args(["--events", EVENTS]))?;
    let rate = match party {
        Party::Before | Party::Now => "queued_per_s",
        Party::Peer => "one_by_one_per_s",
        Party::Limit => "copy_per_s",
    };
    let mut line = json!({});
    for database in DATABASES {
        line[database] = measured[database][rate].clone();
    }
    Ok(Some(line))
}
