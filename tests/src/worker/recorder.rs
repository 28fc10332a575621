//! The file in which a worker records what happens to it.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use crate::records::{Record, What, now_us};

/// Appends records to a file.
#[derive(Debug)]
pub(super) struct Recorder(File);

impl Recorder {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        OpenOptions::new().create(true).append(true).open(path).map(Self)
    }

    pub(super) fn record(&self, job: &str, what: What) -> io::Result<()> {
        let record = Record { at_us: now_us(), pid: std::process::id(), job: job.to_owned(), what };
        // One call a line, and no buffer: a process that is killed leaves no half of one and keeps none back.
        let line = serde_json::to_string(&record)? + "\n";
        (&self.0).write_all(line.as_bytes())
    }
}
