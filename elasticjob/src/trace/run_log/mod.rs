//! The log of a run: the lines that a job logs while an item runs, kept beside the records of its runs.
//!
//! It is off until [`TracingConfiguration::run_log`](super::TracingConfiguration::run_log) asks for it. Code within a run
//! finds the log of the run by [`RunLog::current`]; a layer of `tracing` in the starter does that for all lines. A line
//! goes through the queue of the events, but only as long as half of it is free: a job that logs a lot must not push the
//! records of runs out. What is left out is counted, and the next line that is kept says how much it was.

mod level;
mod limits;
mod log;

use std::sync::Arc;

use chrono::{DateTime, Utc};

pub use level::{LogLevel, UnknownLogLevel};
pub use limits::RunLogOptions;
pub use log::RunLog;

use crate::ident::JobName;

/// A line of the log of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobLogEvent {
    /// The id of the [`JobExecutionEvent`](super::JobExecutionEvent) of the run.
    pub execution_id: Arc<str>,
    /// The job.
    pub job_name: JobName,
    /// The number of the line in its run, from 1. No two lines of a run share it.
    pub line: u32,
    /// The time at which it was logged.
    pub at: DateTime<Utc>,
    /// The level of the line.
    pub level: LogLevel,
    /// The origin of the line: usually the path of a module.
    pub target: String,
    /// The text of the line, without secrets. It may have several lines, and has no other control characters.
    pub message: String,
    /// The number of lines between the one before and this one that were left out. Where the last ones were, a line without target
    /// and message follows them, which says so.
    pub left_out: u32,
}
