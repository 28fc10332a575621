//! `elasticjob next`: the coming fires of an expression.

use chrono::DateTime;
use elasticjob::schedule::{ClockChange, Schedule};
use serde::Serialize;

use crate::Console;
use crate::args::Next;
use crate::failure::Failure;
use crate::table::json;
use crate::time::now;

#[derive(Serialize)]
struct Fires {
    fires: Vec<Fire>,
}

#[derive(Serialize)]
struct Fire {
    at: String,
    /// Seconds since 1970.
    epoch: i64,
    dst: Option<&'static str>,
}

/// The fires. Fewer fires than requested are no error, but a remark says so.
pub(crate) fn next(next: &Next, as_json: bool, console: &mut Console<'_>) -> Result<String, Failure> {
    let schedule =
        Schedule::parse(&next.expression, next.zone.as_deref()).map_err(|error| Failure::Usage(error.to_string()))?;
    let from = match &next.from {
        None => now(),
        Some(text) => DateTime::parse_from_rfc3339(text)
            .map_err(|error| {
                Failure::Usage(format!(
                    "--from '{text}' is not a time as RFC 3339 has it, for example 2024-03-10T00:00:00-05:00: {error}"
                ))
            })?
            .timestamp_millis(),
    };
    let mut after = from;
    let fires: Vec<Fire> = std::iter::from_fn(|| {
        let fire = schedule.next_fire_after(after)?;
        after = fire.at;
        let dst = fire.clock_change.map(|change| match change {
            ClockChange::Skipped => "skipped",
            ClockChange::Repeated => "repeated",
        });
        Some(Fire { at: schedule.format_rfc3339(fire.at), epoch: fire.at / 1_000, dst })
    })
    .take(next.count as usize)
    .collect();
    if fires.len() < next.count as usize {
        let last = schedule.format_rfc3339(after);
        let _ = writeln!(console.stderr, "note: '{}' never fires after {last}", next.expression);
    }
    Ok(if as_json { json(&Fires { fires }) } else { text(&fires) })
}

fn text(fires: &[Fire]) -> String {
    let line = |fire: &Fire| match fire.dst {
        None => format!("{}\n", fire.at),
        Some("repeated") => format!("{}  this local time comes twice; it fires at the later one\n", fire.at),
        Some(_) => format!("{}  the fire before it is skipped: clocks go forward then\n", fire.at),
    };
    fires.iter().map(line).collect()
}
