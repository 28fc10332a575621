//! The time from which runs of a group take as long as planned.

use std::path::PathBuf;
use std::{fs, io};

use serde::{Deserialize, Serialize};

/// Runs end at once until the test says from which fire on they take as long as their job plans. A group comes together
/// within a few fires then, however long its runs take: an item that runs is not given to a process that has just come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pace(PathBuf);

impl Pace {
    /// A pace that is told through a file.
    pub fn new(file: impl Into<PathBuf>) -> Self {
        Self(file.into())
    }

    /// Runs take as long as planned from the fire of this time on, as far as they have not begun yet.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn slow_down_from(&self, scheduled_ms: i64) -> io::Result<()> {
        // Moved into its place, so that no process reads half of it.
        let written = self.0.with_extension("new");
        fs::write(&written, scheduled_ms.to_string())?;
        fs::rename(written, &self.0)
    }

    /// Whether the runs of a fire take as long as planned.
    ///
    /// # Errors
    /// When the file is there and cannot be read, or holds something else.
    pub fn is_slow(&self, scheduled_ms: i64) -> io::Result<bool> {
        let text = match fs::read_to_string(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            read => read?,
        };
        let from: i64 = text.parse().map_err(|_| io::Error::other(format!("'{text}' is no time of a fire")))?;
        Ok(scheduled_ms >= from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::TemporaryFolder;

    #[test]
    fn fires_are_slow_from_the_told_one_on() {
        let folder = TemporaryFolder::new("pace").unwrap();
        let pace = Pace::new(folder.path().join("pace"));
        assert!(!pace.is_slow(i64::MAX).unwrap(), "nobody said so");
        pace.slow_down_from(5_000).unwrap();
        assert_eq!([4_000, 5_000, 6_000].map(|at| pace.is_slow(at).unwrap()), [false, true, true]);
    }
}
