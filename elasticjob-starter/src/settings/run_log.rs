//! The section `run-log` of a tracing.

use elasticjob::trace::RunLogOptions;

use super::read::{Reader, parse_flag};
use super::schema::Key;

/// `elasticjob.tracing.run-log`: the logs of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunLogSettings {
    /// `enabled`: whether they are kept. Default false.
    pub enabled: bool,
    /// `level`, `max-lines`, `max-line-bytes` and `max-bytes`: which lines are kept.
    pub options: RunLogOptions,
    /// `days`: older lines are removed. Default 7.
    pub days: u32,
    /// `rows`: the most lines that are kept of all runs.
    pub rows: Option<u64>,
}

/// The default of `days`.
const DAYS: u32 = 7;

/// The settings that only the storage RDB obeys.
pub(super) const ONLY_RDB: [&str; 2] = ["days", "rows"];

pub(super) fn read(reader: &mut Reader<'_>, section: &Key) -> RunLogSettings {
    let enabled = reader.or_default(&section.child("enabled"), parse_flag);
    let mut options = RunLogOptions::default();
    options.level = reader.or_default(&section.child("level"), |text| text.parse().ok());
    options.max_lines = reader.whole_or_default(&section.child("max-lines"));
    options.max_line_bytes = reader.whole_or_default(&section.child("max-line-bytes"));
    options.max_bytes = reader.whole_or_default(&section.child("max-bytes"));
    let days = reader.whole(&section.child("days")).unwrap_or(DAYS);
    let rows = reader.whole(&section.child("rows"));
    RunLogSettings { enabled, options, days, rows }
}
