//! Time zones: IANA names and fixed offsets, and the conversion of a wall-clock time to an instant.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, MappedLocalTime, NaiveDateTime, Offset, TimeZone as _};
use chrono_tz::{GapInfo, Tz};
use elasticjob_syntax::message::Message;
use elasticjob_syntax::zone_name::{self, ZoneName, ZoneNameError};

use crate::texts;

/// A time zone: an IANA zone, or a fixed offset from UTC.
///
/// Parsed from an IANA name in any case (`Asia/Shanghai`), `UTC`, `GMT`, `Z`, or `UTC` or `GMT` with an offset of at
/// most 23:59 as Java reads it: `GMT+8`, `GMT+8:00`, `GMT+08:30`, `GMT+0800`. Beware of the `Etc/GMT+8` family, whose
/// sign is the other way round. Java reads an offset that it cannot parse as GMT; here it is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeZone(Kind);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Fixed { seconds_east: i32 },
    Named(Tz),
}

/// The meaning of a wall-clock time in a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Instant {
    /// It is this epoch second; of two, the later one.
    At(i64),
    /// The clock jumps over it, to this civil second.
    SkippedUntil(i64),
}

/// A time zone that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TimeZoneError {
    /// The text names no time zone.
    #[error(transparent)]
    Name(#[from] ZoneNameError),
    /// The zone of this machine cannot be used.
    #[error("{}", texts::zone_local(.0.message()))]
    Local(#[source] ZoneNameError),
}

impl TimeZoneError {
    /// The message: what is wrong, and what to write instead.
    pub fn message(&self) -> Message {
        match self {
            Self::Name(error) => error.message(),
            Self::Local(error) => texts::zone_local(error.message()),
        }
    }
}

impl TimeZone {
    /// Coordinated universal time.
    pub const UTC: Self = Self(Kind::Fixed { seconds_east: 0 });

    /// The zone of this process: the variable `TZ` where it is set, else the system's setting, else UTC.
    ///
    /// This reads the environment and the file system; nothing else in this module does.
    ///
    /// # Errors
    /// [`TimeZoneError::Local`] when the setting names a zone that is not known, or is a POSIX rule instead of a name.
    pub fn local() -> Result<Self, TimeZoneError> {
        let variable = std::env::var_os("TZ").map(|value| value.to_string_lossy().into_owned());
        Self::local_of(variable.as_deref(), || iana_time_zone::get_timezone().ok())
    }

    fn local_of(variable: Option<&str>, system: impl FnOnce() -> Option<String>) -> Result<Self, TimeZoneError> {
        let name = match variable {
            Some(value) => Some(value.strip_prefix(':').unwrap_or(value).to_owned()),
            None => system(),
        };
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            return Ok(Self::UTC);
        };
        let name = name.rsplit_once("/zoneinfo/").map_or(name.as_str(), |(_, name)| name);
        named(name).map_err(TimeZoneError::Local)
    }

    /// Seconds that local time is ahead of UTC at an epoch second.
    pub fn offset_at(self, epoch_second: i64) -> i32 {
        match self.0 {
            Kind::Fixed { seconds_east } => seconds_east,
            Kind::Named(zone) => zone.offset_from_utc_datetime(&naive(epoch_second)).fix().local_minus_utc(),
        }
    }

    /// The instant of a civil second.
    pub(super) fn resolve(self, civil: i64) -> Instant {
        match self.0 {
            Kind::Fixed { seconds_east } => Instant::At(civil - i64::from(seconds_east)),
            Kind::Named(zone) => {
                let local = naive(civil);
                let seconds = |offset: chrono_tz::TzOffset| i64::from(offset.fix().local_minus_utc());
                match zone.offset_from_local_datetime(&local) {
                    MappedLocalTime::Single(offset) => Instant::At(civil - seconds(offset)),
                    MappedLocalTime::Ambiguous(one, other) => Instant::At(civil - seconds(one).min(seconds(other))),
                    MappedLocalTime::None => {
                        let end = GapInfo::new(&local, &zone).and_then(|gap| gap.end);
                        Instant::SkippedUntil(end.map_or(civil + 1, |end| end.naive_local().and_utc().timestamp()))
                    }
                }
            }
        }
    }

    /// Whether a civil second comes twice.
    pub(super) fn is_repeated(self, civil: i64) -> bool {
        match self.0 {
            Kind::Fixed { .. } => false,
            Kind::Named(zone) => {
                matches!(zone.offset_from_local_datetime(&naive(civil)), MappedLocalTime::Ambiguous(..))
            }
        }
    }

    /// The civil second after which to look for the fires after an instant.
    ///
    /// It is the wall-clock time of the instant, unless that time comes again. Then all fires of the repeated stretch
    /// are still ahead, because they belong to the second pass, and the search begins where the clock will be set back
    /// to.
    pub(super) fn search_after(self, epoch_second: i64) -> i64 {
        let civil = epoch_second + i64::from(self.offset_at(epoch_second));
        match self.resolve(civil) {
            Instant::At(later) if later > epoch_second => {
                let (mut before, mut after) = (epoch_second, later);
                let offset = self.offset_at(before);
                while after - before > 1 {
                    let middle = before + (after - before) / 2;
                    if self.offset_at(middle) == offset { before = middle } else { after = middle }
                }
                after + i64::from(self.offset_at(after)) - 1
            }
            _ => civil,
        }
    }
}

/// Callers keep to the years of the cron dialect. A second beyond the range of chrono becomes the largest time of
/// chrono.
fn naive(second: i64) -> NaiveDateTime {
    DateTime::from_timestamp(second, 0).map_or(NaiveDateTime::MAX, |time| time.naive_utc())
}

impl FromStr for TimeZone {
    type Err = TimeZoneError;

    fn from_str(text: &str) -> Result<Self, TimeZoneError> {
        Ok(named(text)?)
    }
}

fn named(text: &str) -> Result<TimeZone, ZoneNameError> {
    let unknown = || ZoneNameError::Unknown { name: text.to_owned(), suggestions: Vec::new() };
    Ok(TimeZone(match zone_name::parse(text)? {
        ZoneName::Fixed { seconds_east } => Kind::Fixed { seconds_east },
        ZoneName::Iana(name) => Kind::Named(name.parse().map_err(|_| unknown())?),
    }))
}

impl fmt::Display for TimeZone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Kind::Named(zone) => f.write_str(zone.name()),
            Kind::Fixed { seconds_east: 0 } => f.write_str("UTC"),
            Kind::Fixed { seconds_east } => {
                f.write_str("GMT")?;
                write_offset(f, seconds_east)
            }
        }
    }
}

/// Writes an offset as `+08:00`, cut to whole minutes.
pub(super) fn write_offset(f: &mut dyn fmt::Write, seconds_east: i32) -> fmt::Result {
    let (sign, minutes) = (if seconds_east < 0 { '-' } else { '+' }, seconds_east.abs() / 60);
    write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> TimeZone {
        text.parse().unwrap()
    }

    #[test]
    fn names_are_found_in_any_case_and_written_in_their_own() {
        assert_eq!(parse("asia/SHANGHAI").to_string(), "Asia/Shanghai");
        assert_eq!(parse(" Etc/GMT+8 ").offset_at(0), -8 * 3600);
        assert_eq!(parse("gmt+830").to_string(), "GMT+08:30");
        assert_eq!(parse("GMT-0").to_string().parse::<TimeZone>().unwrap().offset_at(0), 0);
        for text in ["GMT-03:30", "Europe/Berlin", "UTC"] {
            assert_eq!(parse(text).to_string(), text);
        }
    }

    /// The names that the attribute accepts are exactly the names that have rules.
    #[test]
    fn every_name_has_rules_and_every_rule_a_name() {
        let mut names: Vec<&str> = chrono_tz::TZ_VARIANTS.iter().map(|zone| zone.name()).collect();
        names.sort_unstable();
        if std::env::var_os("UPDATE_ZONES").is_some() {
            let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../elasticjob-macros/syntax/src/zone_names.txt");
            std::fs::write(file, names.join("\n") + "\n").unwrap();
            return;
        }
        let known: Vec<&str> = zone_name::names().collect();
        assert_eq!(known, names, "zone_names.txt is out of date: run this test with UPDATE_ZONES=1");
        for name in names {
            assert!(name.parse::<TimeZone>().is_ok(), "{name}");
        }
    }

    #[test]
    fn the_local_zone_is_tz_then_the_system_then_utc() {
        let system = || Some("Asia/Tokyo".to_owned());
        let local = |variable| TimeZone::local_of(variable, system).unwrap().to_string();
        assert_eq!(local(None), "Asia/Tokyo");
        assert_eq!(local(Some("Europe/Paris")), "Europe/Paris");
        assert_eq!(local(Some(":Europe/Paris")), "Europe/Paris");
        assert_eq!(local(Some("/usr/share/zoneinfo/America/Lima")), "America/Lima");
        assert_eq!(local(Some("")), "UTC");
        assert_eq!(TimeZone::local_of(None, || None), Ok(TimeZone::UTC));
        let error = TimeZone::local_of(Some("CET-1CEST,M3.5.0,M10.5.0"), system).unwrap_err().to_string();
        assert!(error.contains("TZ") && error.contains("CET-1CEST"), "{error}");
    }

    #[test]
    fn a_gap_is_left_at_its_end_and_an_overlap_at_the_later_instant() {
        let new_york = parse("America/New_York");
        let civil = |month, day, hour: i64, minute: i64| {
            elasticjob_syntax::calendar::epoch_day(2024, month, day) * 86_400 + hour * 3600 + minute * 60
        };
        assert_eq!(new_york.resolve(civil(3, 10, 2, 30)), Instant::SkippedUntil(civil(3, 10, 3, 0)));
        assert_eq!(new_york.resolve(civil(11, 3, 1, 30)), Instant::At(civil(11, 3, 6, 30)));
        // 01:20 of the first pass: everything from 01:00 on comes again.
        assert_eq!(new_york.search_after(civil(11, 3, 5, 20)), civil(11, 3, 1, 0) - 1);
        assert_eq!(new_york.search_after(civil(11, 3, 6, 20)), civil(11, 3, 1, 20));
    }
}
