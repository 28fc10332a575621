//! Events of traces into each database.

use std::io;

use serde_json::Value;

use super::{Party, Stage};

/// Enough for a second of the fastest database.
const EVENTS: &str = "100000";

const DATABASES: [&str; 4] = ["sqlite", "postgresql", "mariadb", "mariadb_flushed"];

/// One run of the program gives the rate of this implementation, that of Java's way and the limit of PostgreSQL.
pub(super) fn measure(stage: &Stage, party: Party) -> io::Result<Vec<(Party, Value)>> {
    let rates: &[(Party, &str)] = match party {
        Party::Before => &[(Party::Before, "queued_per_s")],
        Party::Now => &[(Party::Now, "queued_per_s"), (Party::Peer, "one_by_one_per_s"), (Party::Limit, "copy_per_s")],
        Party::Peer | Party::Limit => return Ok(Vec::new()),
    };
    let Some(mut command) = stage.program(party, "trace_bench")? else { return Ok(Vec::new()) };
    let measured = party.last_line(command.args(["--events", EVENTS]))?;
    let line = |rate: &str| DATABASES.iter().map(|name| ((*name).to_owned(), measured[name][rate].clone())).collect();
    Ok(rates.iter().map(|(party, rate)| (*party, Value::Object(line(rate)))).collect())
}
