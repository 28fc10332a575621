//! The runs of items, and how they are read from the records of a process.

use std::io;

use elasticjob::fire::ExecutionSource;
use serde::{Deserialize, Serialize};

use super::{Call, Record, Skip, What, complete_lines};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// It came to its end.
    Finished,
    /// Its token was cancelled, and it ended.
    Cancelled,
    /// Its future was dropped.
    Dropped,
}

/// A run of one item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The process that ran it.
    pub pid: u32,
    /// The number of the run in its process.
    pub number: u64,
    /// The job.
    pub job: String,
    /// The item.
    pub item: u32,
    /// The scheduled time, in milliseconds since 1970.
    pub scheduled_ms: i64,
    /// Why it was run.
    pub source: ExecutionSource,
    /// The fencing token, where the program records it.
    pub token: Option<i64>,
    /// The instance that ran it.
    pub instance: String,
    /// When it began, in microseconds since 1970.
    pub began_us: i64,
    /// When and how it ended.
    pub end: Option<(i64, Ending)>,
    /// How many of its writes were refused.
    pub refused: usize,
}

impl Run {
    /// Whether an instance of this implementation ran it: only these have fencing tokens.
    pub fn is_of_rust(&self) -> bool {
        self.token.is_some()
    }
}

/// Everything that a process recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessRecords {
    /// Its runs, in the order of their begins.
    pub runs: Vec<Run>,
    /// What it said that it does not run.
    pub skips: Vec<Skip>,
    /// The calls of its listeners.
    pub calls: Vec<Call>,
}

/// Reads the records of a worker. A last line that is still being written is left out.
///
/// # Errors
/// A line that is no record, or that is about a run which did not begin or is over.
pub fn records_of_worker(text: &str) -> io::Result<ProcessRecords> {
    let mut records = ProcessRecords::default();
    for line in complete_lines(text) {
        let record: Record =
            serde_json::from_str(line).map_err(|error| io::Error::other(format!("'{line}' is no record: {error}")))?;
        let follows = records.add(record);
        follows.ok_or_else(|| io::Error::other(format!("'{line}' does not follow from the lines before it")))?;
    }
    Ok(records)
}

impl ProcessRecords {
    /// `None` when the record does not follow from those before it.
    fn add(&mut self, record: Record) -> Option<()> {
        let Record { at_us, pid, job, what } = record;
        match what {
            What::Begin { run: number, item, scheduled_ms, source, token, instance } => {
                if self.runs.iter().any(|run| run.number == number) {
                    return None;
                }
                let (began_us, end, refused) = (at_us, None, 0);
                let run = Run { pid, number, job, item, scheduled_ms, source, token, instance, began_us, end, refused };
                self.runs.push(run);
            }
            What::Refused { run } => self.open(run)?.refused += 1,
            What::End { run, how } => self.open(run)?.end = Some((at_us, how)),
            What::Called { listener, hook, scheduled_ms, source } => {
                self.calls.push(Call { at_us, pid, job, listener, hook, scheduled_ms, source });
            }
            What::Skipped { from_ms, until_ms, items, reason } => {
                self.skips.push(Skip { at_us, pid, job, from_ms, until_ms, items, reason });
            }
        }
        Some(())
    }

    fn open(&mut self, number: u64) -> Option<&mut Run> {
        // The last ones first: a process has few runs at a time.
        self.runs.iter_mut().rev().find(|run| run.number == number).filter(|run| run.end.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::Reason;

    fn line(at_us: i64, what: What) -> String {
        serde_json::to_string(&Record { at_us, pid: 7, job: "job".to_owned(), what }).unwrap() + "\n"
    }

    fn begin(at_us: i64, run: u64) -> String {
        let (source, instance) = (ExecutionSource::NormalTrigger, "10.0.0.1@-@7".to_owned());
        line(at_us, What::Begin { run, item: 2, scheduled_ms: 1_000, source, token: Some(9), instance })
    }

    fn end(at_us: i64, run: u64, how: Ending) -> String {
        line(at_us, What::End { run, how })
    }

    #[test]
    fn lines_become_runs_and_skips() {
        let reason = Reason::StillRunning;
        let skipped = What::Skipped { from_ms: 2_000, until_ms: 2_000, items: vec![], reason: reason.clone() };
        let refused = line(6, What::Refused { run: 1 });
        let lines = [begin(5, 1), begin(5, 2), refused, end(7, 1, Ending::Cancelled), line(8, skipped)];
        let records = records_of_worker(&(lines.concat() + "{\"what\":\"en")).unwrap();
        let [first, second] = &records.runs[..] else { panic!("{records:?}") };
        assert_eq!((first.item, first.token, first.began_us, first.pid), (2, Some(9), 5, 7));
        assert_eq!((first.end, first.refused), (Some((7, Ending::Cancelled)), 1));
        assert_eq!((second.end, second.refused), (None, 0));
        let job = "job".to_owned();
        assert_eq!(
            records.skips,
            [Skip { at_us: 8, pid: 7, job, from_ms: 2_000, until_ms: 2_000, items: vec![], reason }]
        );
    }

    #[test]
    fn lines_that_make_no_sense_are_told() {
        for wrong in [
            "{}\n".to_owned(),
            end(5, 1, Ending::Finished),
            begin(5, 1) + &begin(6, 1),
            begin(5, 1) + &end(6, 1, Ending::Finished) + &end(7, 1, Ending::Dropped),
        ] {
            assert!(records_of_worker(&wrong).is_err(), "{wrong}");
        }
    }
}
