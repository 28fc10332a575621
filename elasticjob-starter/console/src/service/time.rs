//! Times in answers.

use elasticjob::schedule::{TimeZone, format_rfc3339};
use serde::{Serialize, Serializer};

/// A time in milliseconds since 1970, written as RFC 3339 in UTC with milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Time(pub(crate) i64);

impl Time {
    pub(crate) fn of(time: chrono::DateTime<chrono::Utc>) -> Self {
        Self(time.timestamp_millis())
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_string())
    }
}

impl std::fmt::Display for Time {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match chrono::DateTime::from_timestamp_millis(self.0) {
            Some(time) => f.write_str(&time.to_rfc3339_opts(chrono::SecondsFormat::Millis, true)),
            // No clock shows a time that far away.
            None => f.write_str(&format_rfc3339(self.0, TimeZone::UTC)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_in_utc_with_milliseconds() {
        assert_eq!(Time(1_700_000_000_000).to_string(), "2023-11-14T22:13:20.000Z");
        assert_eq!(Time(-1).to_string(), "1969-12-31T23:59:59.999Z");
    }
}
