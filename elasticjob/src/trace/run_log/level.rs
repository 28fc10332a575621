//! The level of a line of a log.

use std::fmt;
use std::str::FromStr;

/// The level of a line of a log. The greatest level matters most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogLevel {
    /// Each step.
    Trace,
    /// A line that helps to find an error in a program.
    Debug,
    /// A line about ordinary work.
    Info,
    /// A line about something that a person should look at.
    Warn,
    /// A line about something that went wrong.
    Error,
}

impl LogLevel {
    /// All levels, the one that matters most first.
    pub const ALL: [Self; 5] = [Self::Error, Self::Warn, Self::Info, Self::Debug, Self::Trace];

    /// Its name. It never changes.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Trace => "TRACE",
            Self::Debug => "DEBUG",
            Self::Info => "INFO",
            Self::Warn => "WARN",
            Self::Error => "ERROR",
        }
    }
}

impl fmt::Display for LogLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A text is no level.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{}' is no level: write ERROR, WARN, INFO, DEBUG or TRACE", .0.escape_default())]
pub struct UnknownLogLevel(String);

impl FromStr for LogLevel {
    type Err = UnknownLogLevel;

    /// Takes capital and small letters.
    fn from_str(name: &str) -> Result<Self, UnknownLogLevel> {
        let known = Self::ALL.into_iter().find(|level| level.as_str().eq_ignore_ascii_case(name));
        known.ok_or_else(|| UnknownLogLevel(name.chars().take(20).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_comes_back_from_its_name_and_an_error_matters_most() {
        for level in LogLevel::ALL {
            assert_eq!(level.to_string().parse(), Ok(level));
            assert_eq!(level.as_str().to_lowercase().parse(), Ok(level));
        }
        assert!(LogLevel::ALL.is_sorted_by(|one, next| one > next));
        assert!("LOUD".parse::<LogLevel>().is_err_and(|error| error.to_string().contains("'LOUD' is no level")));
    }
}
