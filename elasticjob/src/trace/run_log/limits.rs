//! Limits of what is kept of a log.

use super::LogLevel;

/// The limits of the log of a run. The first lines are kept, and of the others the last ones: the end of a log says most often
/// why a run failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunLogOptions {
    /// Lines that matter less are not kept. Default INFO.
    pub level: LogLevel,
    /// The most lines of the run of an item. Default 1,000; from 10 to 100,000.
    pub max_lines: u32,
    /// The most bytes of a line; the rest of it is cut off. Default 4,096; from 100 to 32,768.
    pub max_line_bytes: usize,
    /// The most bytes of the run of an item. Default 256 KiB; from 1 KiB to 64 MiB.
    pub max_bytes: usize,
}

/// The most lines from the end of a run that wait in memory.
const LAST_LINES: u32 = 100;

impl Default for RunLogOptions {
    fn default() -> Self {
        Self { level: LogLevel::Info, max_lines: 1_000, max_line_bytes: 4_096, max_bytes: 256 * 1024 }
    }
}

impl RunLogOptions {
    /// The same within their ranges.
    pub(crate) fn within_range(self) -> Self {
        Self {
            level: self.level,
            max_lines: self.max_lines.clamp(10, 100_000),
            max_line_bytes: self.max_line_bytes.clamp(100, 32_768),
            max_bytes: self.max_bytes.clamp(1_024, 64 << 20),
        }
    }

    /// How many of the lines are the last ones of a run: a tenth.
    pub(super) fn last_lines(&self) -> u32 {
        (self.max_lines / 10).min(LAST_LINES)
    }

    /// How many of the bytes are for the last lines of a run: a fifth.
    pub(super) fn last_bytes(&self) -> usize {
        self.max_bytes / 5
    }
}
