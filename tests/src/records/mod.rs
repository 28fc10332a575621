//! What processes under test record of their runs, and what must hold of all records together.

mod check;

use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

pub use self::check::{Fault, History};

/// One line in the records of a worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// What happened to the run.
    pub what: What,
    /// When, in microseconds since 1970.
    pub at_us: i64,
    /// The item.
    pub item: u32,
    /// The scheduled time, in milliseconds since 1970.
    pub scheduled_ms: i64,
    /// The fencing token.
    pub token: i64,
    /// The instance that runs it.
    pub instance: String,
    /// The process.
    pub pid: u32,
}

/// What happened to a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// It began.
    Begin,
    /// It wrote to the fenced sink and was refused.
    Refused,
    /// It came to its end.
    End,
    /// Its token was cancelled, and it ended.
    Cancelled,
    /// Its future was dropped.
    Dropped,
}

/// A run of one item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The item.
    pub item: u32,
    /// The scheduled time, in milliseconds since 1970.
    pub scheduled_ms: i64,
    /// The fencing token, where the program records it.
    pub token: Option<i64>,
    /// The instance that ran it.
    pub instance: String,
    /// The process that ran it.
    pub pid: u32,
    /// When it began, in microseconds since 1970.
    pub began_us: i64,
    /// When and how it ended.
    pub end: Option<(i64, What)>,
    /// How many of its writes were refused.
    pub refused: usize,
}

/// The wall clock in microseconds since 1970.
pub fn now_us() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// The runs in the records of a worker. A last line that is still being written is left out.
///
/// # Errors
/// A line that is no record, or that tells of a run which did not begin.
pub fn runs_of_records(text: &str) -> io::Result<Vec<Run>> {
    let mut runs: Vec<Run> = Vec::new();
    for line in complete_lines(text) {
        let record: Record =
            serde_json::from_str(line).map_err(|error| io::Error::other(format!("'{line}' is no record: {error}")))?;
        let run = runs.iter_mut().rev().find(|run| run.item == record.item && run.token == Some(record.token));
        match (record.what, run) {
            (What::Begin, None) => runs.push(Run {
                item: record.item,
                scheduled_ms: record.scheduled_ms,
                token: Some(record.token),
                instance: record.instance,
                pid: record.pid,
                began_us: record.at_us,
                end: None,
                refused: 0,
            }),
            (What::Refused, Some(run)) => run.refused += 1,
            (What::End | What::Cancelled | What::Dropped, Some(run)) if run.end.is_none() => {
                run.end = Some((record.at_us, record.what));
            }
            _ => return Err(io::Error::other(format!("'{line}' does not follow from the lines before it"))),
        }
    }
    Ok(runs)
}

/// The lines of a file that somebody is appending to.
pub fn complete_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(what: What, at_us: i64, token: i64) -> String {
        let instance = "10.0.0.1@-@7".to_owned();
        let record = Record { what, at_us, item: 2, scheduled_ms: 1_000, token, instance, pid: 7 };
        serde_json::to_string(&record).unwrap() + "\n"
    }

    #[test]
    fn lines_become_runs() {
        let lines = [line(What::Begin, 5, 1), line(What::Refused, 6, 1), line(What::Cancelled, 7, 1)];
        let text = lines.concat() + &line(What::Begin, 8, 3) + "{\"what\":\"en";
        let runs = runs_of_records(&text).unwrap();
        assert_eq!(runs.len(), 2);
        assert_eq!((runs[0].item, runs[0].token, runs[0].began_us, runs[0].pid), (2, Some(1), 5, 7));
        assert_eq!((runs[0].end, runs[0].refused), (Some((7, What::Cancelled)), 1));
        assert_eq!((runs[1].end, runs[1].refused), (None, 0));
    }

    #[test]
    fn lines_that_make_no_sense_are_told() {
        for wrong in [
            "{}\n".to_owned(),
            line(What::End, 5, 1),
            line(What::Begin, 5, 1) + &line(What::Begin, 6, 1),
            line(What::Begin, 5, 1) + &line(What::End, 6, 1) + &line(What::Dropped, 7, 1),
        ] {
            assert!(runs_of_records(&wrong).is_err(), "{wrong}");
        }
    }
}
