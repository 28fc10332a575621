//! The name of a fire in addresses, and the place in a list of fires.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, SecondsFormat};

/// Before the time of runs without a scheduled time.
const BEGAN: &str = "began-";

/// What names a fire among those of its job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum FireId {
    /// The fire of this scheduled time, in milliseconds since 1970.
    Scheduled(i64),
    /// Runs without a scheduled time that began in the second of this time: they were triggered by hand, or are of a
    /// Java instance, which does not write it.
    Began(i64),
}

impl FireId {
    /// The scheduled time, else the second in which the runs began.
    pub(crate) fn time(self) -> i64 {
        match self {
            Self::Scheduled(at) | Self::Began(at) => at,
        }
    }

    pub(crate) fn scheduled(self) -> Option<i64> {
        match self {
            Self::Scheduled(at) => Some(at),
            Self::Began(_) => None,
        }
    }

    /// The name of the runs without a scheduled time that began at this time.
    pub(crate) fn began_at(start: i64) -> Self {
        Self::Began(start - start.rem_euclid(1_000))
    }

    /// The key of the order: the time decides.
    pub(super) fn rank(self) -> (i64, bool) {
        (self.time(), matches!(self, Self::Began(_)))
    }

    /// Whether it comes before another one in a list of fires, the newest first.
    pub(crate) fn is_newer_than(self, other: Self) -> bool {
        self.rank() > other.rank()
    }
}

/// RFC 3339 in UTC, with milliseconds where there are any.
impl fmt::Display for FireId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = DateTime::from_timestamp_millis(self.time()).unwrap_or_default();
        let before = if matches!(self, Self::Began(_)) { BEGAN } else { "" };
        write!(f, "{before}{}", time.to_rfc3339_opts(SecondsFormat::AutoSi, true))
    }
}

impl FromStr for FireId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (time, began) = text.strip_prefix(BEGAN).map_or((text, false), |time| (time, true));
        let at = DateTime::parse_from_rfc3339(time).map_err(|_| {
            let shown: String = text.chars().take(60).collect();
            format!("'{shown}' names no fire: write its scheduled time, such as 2026-11-21T03:00:00Z")
        })?;
        let at = at.timestamp_millis();
        Ok(if began { Self::began_at(at) } else { Self::Scheduled(at) })
    }
}

/// The place after a fire. Runs for fires that come after it may have begun before that fire, by a failover for
/// example: so it says as well from which start of a run on records have to be read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) after: FireId,
    pub(crate) read_from: i64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if matches!(self.after, FireId::Began(_)) { 'b' } else { 's' };
        write!(f, "{kind}{}_{}", self.after.time(), self.read_from)
    }
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = || {
            let (time, read_from) = text.get(1..)?.split_once('_')?;
            // No clock shows more, and sums of what a visitor typed must not overflow.
            let number = |text: &str| text.parse::<i64>().ok().filter(|number| number.abs() < 1 << 52);
            let (time, read_from) = (number(time)?, number(read_from)?);
            let after = match text.as_bytes().first()? {
                b's' => FireId::Scheduled(time),
                b'b' => FireId::Began(time),
                _ => return None,
            };
            Some(Self { after, read_from })
        };
        parsed().ok_or_else(|| "it is no cursor: take the one that came with the page before as it is".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fire_comes_back_from_its_name_and_nothing_else_names_one() {
        for (id, name) in [
            (FireId::Scheduled(1_700_000_000_000), "2023-11-14T22:13:20Z"),
            (FireId::Scheduled(1_700_000_000_001), "2023-11-14T22:13:20.001Z"),
            (FireId::Began(1_700_000_000_000), "began-2023-11-14T22:13:20Z"),
        ] {
            assert_eq!(id.to_string(), name);
            assert_eq!(name.parse(), Ok(id));
        }
        assert_eq!("2023-11-15T06:13:20+08:00".parse(), Ok(FireId::Scheduled(1_700_000_000_000)));
        for wrong in ["", "now", "began-", "1700000000", "2023-11-14"] {
            assert!(wrong.parse::<FireId>().is_err_and(|why| why.contains("names no fire")), "{wrong}");
        }
    }

    #[test]
    fn a_place_comes_back_from_its_text_and_nothing_else_is_one() {
        for after in [FireId::Scheduled(7_000), FireId::Began(-3_000)] {
            let place = Place { after, read_from: 9_000 };
            assert_eq!(place.to_string().parse(), Ok(place));
        }
        for wrong in ["", "s", "x7_8", "s7", "s7_", "s7_x", "报7_8", "s9223372036854775807_1"] {
            assert!(wrong.parse::<Place>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn of_two_fires_the_later_one_is_newer() {
        let (three, four) = (FireId::Began(3_000), FireId::Scheduled(4_000));
        assert!(four.is_newer_than(three) && !three.is_newer_than(four) && !four.is_newer_than(four));
        assert!(FireId::Began(4_000).is_newer_than(four), "one order for all: by hand, it came later");
    }
}
