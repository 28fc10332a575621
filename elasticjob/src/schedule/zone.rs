//! Time zones: IANA names and fixed offsets, and how a wall-clock time becomes an instant.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, MappedLocalTime, NaiveDateTime, Offset, TimeZone as _};
use chrono_tz::{GapInfo, TZ_VARIANTS, Tz};

/// A time zone: an IANA zone, or a fixed offset from UTC.
///
/// Parsed from an IANA name in any case (`Asia/Shanghai`), `UTC`, `GMT`, `Z`, or one of the two prefixes with an offset
/// of at most 23:59 as Java reads it: `GMT+8`, `GMT+8:00`, `GMT+08:30`, `GMT+0800`. Beware of the `Etc/GMT+8` family,
/// whose sign is the other way round. Java takes an offset that it cannot read for GMT; here it is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeZone(Kind);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Fixed { seconds_east: i32 },
    Named(Tz),
}

/// What a wall-clock time means in a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Instant {
    /// It is this epoch second; of two, the later one.
    At(i64),
    /// The clock jumps over it, to this civil second.
    SkippedUntil(i64),
}

/// Why a text is not a time zone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TimeZoneError {
    /// It is no IANA name.
    #[error("time zone '{name}' is not known{}", hint(suggestions))]
    Unknown {
        /// The text that was parsed.
        name: String,
        /// The most similar names, best first; may be empty.
        suggestions: Vec<&'static str>,
    },
    /// It starts like a fixed offset but is none.
    #[error("time zone '{0}' is not a valid offset: write hours from 0 to 23 and minutes as in 'GMT+8' or 'GMT+08:30'")]
    Offset(String),
    /// The zone of this machine cannot be used.
    #[error("the local time zone cannot be used, set a time zone in the job's configuration or the variable TZ: {0}")]
    Local(#[source] Box<TimeZoneError>),
}

fn hint(suggestions: &[&str]) -> String {
    if suggestions.is_empty() {
        ": write an IANA name such as 'Asia/Shanghai' or an offset such as 'GMT+08:00'".to_owned()
    } else {
        format!(": is '{}' meant?", suggestions.join("' or '"))
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
        name.parse().map_err(|error| TimeZoneError::Local(Box::new(error)))
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

    /// The civil second after which the fires after an instant are to be looked for.
    ///
    /// It is the wall-clock time of the instant, unless that time comes again: then all fires of the repeated stretch
    /// are still ahead, because they belong to the second pass, and the search begins where the clock will be set back to.
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

/// Callers keep to the years of the cron dialect; anything beyond what chrono can hold is taken for its limit.
fn naive(second: i64) -> NaiveDateTime {
    DateTime::from_timestamp(second, 0).map_or(NaiveDateTime::MAX, |time| time.naive_utc())
}

impl FromStr for TimeZone {
    type Err = TimeZoneError;

    fn from_str(text: &str) -> Result<Self, TimeZoneError> {
        let name = text.trim();
        if ["Z", "UTC", "GMT"].iter().any(|utc| name.eq_ignore_ascii_case(utc)) {
            return Ok(Self::UTC);
        }
        if let Ok(zone) = Tz::from_str_insensitive(name) {
            return Ok(Self(Kind::Named(zone)));
        }
        let prefix = name.get(..3).filter(|it| it.eq_ignore_ascii_case("GMT") || it.eq_ignore_ascii_case("UTC"));
        if prefix.is_some() {
            return match parse_offset(&name[3..]) {
                Some(seconds_east) => Ok(Self(Kind::Fixed { seconds_east })),
                None => Err(TimeZoneError::Offset(text.to_owned())),
            };
        }
        Err(TimeZoneError::Unknown { name: text.to_owned(), suggestions: similar_names(name) })
    }
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

/// `+8`, `+08`, `+8:30`, `+08:30`, `+830` and `+0830`, in seconds east of Greenwich.
fn parse_offset(text: &str) -> Option<i32> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'+' => (1, &text[1..]),
        b'-' => (-1, &text[1..]),
        _ => return None,
    };
    let (hours, minutes) = match digits.split_once(':') {
        Some((hours, minutes)) if minutes.len() == 2 => (hours, minutes),
        Some(_) => return None,
        None if digits.len() > 2 => digits.split_at_checked(digits.len() - 2)?,
        None => (digits, "00"),
    };
    let number = |part: &str, limit: i32| -> Option<i32> {
        let plain = matches!(part.len(), 1 | 2) && part.bytes().all(|b| b.is_ascii_digit());
        part.parse().ok().filter(|number| plain && *number <= limit)
    };
    Some(sign * (number(hours, 23)? * 3600 + number(minutes, 59)? * 60))
}

/// Up to three zone names that a wrong one may stand for: those whose city it is, else those a few letters away.
fn similar_names(name: &str) -> Vec<&'static str> {
    let wanted = name.to_ascii_lowercase().replace(' ', "_");
    let limit = wanted.len() / 4;
    let mut scored: Vec<(usize, &'static str)> = TZ_VARIANTS
        .iter()
        .map(|zone| zone.name())
        .filter_map(|known| {
            let lower = known.to_ascii_lowercase();
            let city = lower.rsplit('/').next().unwrap_or(&lower);
            let distance = edit_distance(&wanted, &lower).min(edit_distance(&wanted, city));
            (distance <= limit).then_some((distance, known))
        })
        .collect();
    scored.sort_unstable();
    scored.into_iter().take(3).map(|(_, name)| name).collect()
}

fn edit_distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, l) in left.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, r) in right.iter().enumerate() {
            let substituted = diagonal + usize::from(l != *r);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> TimeZone {
        text.parse().unwrap()
    }

    #[test]
    fn offsets_are_read_as_java_reads_them() {
        for (text, minutes) in [
            ("GMT+8", 480),
            ("GMT+8:00", 480),
            ("GMT+0800", 480),
            ("GMT+800", 480),
            ("GMT+08:30", 510),
            ("gmt-3:30", -210),
            ("UTC+05:45", 345),
            ("GMT+23:59", 1439),
            ("GMT+123", 83),
            ("GMT", 0),
            ("utc", 0),
            ("Z", 0),
        ] {
            assert_eq!(parse(text).offset_at(1_709_208_000), minutes * 60, "{text}");
        }
    }

    #[test]
    fn an_offset_that_cannot_be_read_is_an_error_and_not_gmt() {
        for text in ["GMT+24", "GMT+8:0", "GMT+1260", "GMT+", "GMT +8", "GMT8", "GMT+8:60", "GMT+-8", "GMT+008:00"] {
            assert_eq!(text.parse::<TimeZone>(), Err(TimeZoneError::Offset(text.to_owned())));
        }
        let error = "GMT+24".parse::<TimeZone>().unwrap_err().to_string();
        assert!(error.contains("'GMT+24'") && error.contains("0 to 23"), "{error}");
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

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest_ones() {
        let suggestions = |name: &str| match name.parse::<TimeZone>() {
            Err(TimeZoneError::Unknown { suggestions, .. }) => suggestions,
            other => panic!("{name}: {other:?}"),
        };
        assert_eq!(suggestions("Asia/Shangai")[0], "Asia/Shanghai");
        assert_eq!(suggestions("berlin"), ["Europe/Berlin"]);
        assert!(suggestions("new york").contains(&"America/New_York"));
        assert!(suggestions("CST").is_empty(), "an abbreviation says nothing");
        let error = "Europe/Berln".parse::<TimeZone>().unwrap_err().to_string();
        assert_eq!(error, "time zone 'Europe/Berln' is not known: is 'Europe/Berlin' meant?");
        assert!("".parse::<TimeZone>().unwrap_err().to_string().contains("'Asia/Shanghai'"));
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
            super::super::cron::epoch_day(2024, month, day) * 86_400 + hour * 3600 + minute * 60
        };
        assert_eq!(new_york.resolve(civil(3, 10, 2, 30)), Instant::SkippedUntil(civil(3, 10, 3, 0)));
        assert_eq!(new_york.resolve(civil(11, 3, 1, 30)), Instant::At(civil(11, 3, 6, 30)));
        // 01:20 of the first pass: everything from 01:00 on comes again.
        assert_eq!(new_york.search_after(civil(11, 3, 5, 20)), civil(11, 3, 1, 0) - 1);
        assert_eq!(new_york.search_after(civil(11, 3, 6, 20)), civil(11, 3, 1, 20));
    }
}
