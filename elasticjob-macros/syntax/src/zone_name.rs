//! Names of time zones: the names of the IANA database, and fixed offsets as Java writes them.
//!
//! `zone_names.txt` has the names of the database, one on each line, sorted. Only the names are here, because the rules
//! of the zones would make the attribute as heavy as the library. A test of the library compares the file with the
//! names that have rules, and writes the file when the environment variable `UPDATE_ZONES` is set.

use std::fmt;
use std::sync::LazyLock;

use strsim::damerau_levenshtein;

use crate::message::Message;
use crate::texts;

/// Sorted, so that a name in its own spelling is found at once: a program may start with thousands of schedules.
static NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| include_str!("zone_names.txt").lines().collect());

/// The meaning of a text as a time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZoneName {
    /// A fixed offset, in seconds east of Greenwich: `UTC`, `GMT`, `Z`, `GMT+8`, `UTC+08:30`.
    Fixed {
        /// Less than a day in either direction, whole minutes.
        seconds_east: i32,
    },
    /// A zone of the IANA database, in its own spelling.
    Iana(&'static str),
}

/// A text that is not a time zone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ZoneNameError {
    /// It is no IANA name.
    Unknown {
        /// The text.
        name: String,
        /// The most similar names, best first; may be empty.
        suggestions: Vec<&'static str>,
    },
    /// It starts like a fixed offset but is not one.
    Offset(String),
}

impl ZoneNameError {
    /// The message: what is wrong, and what to write instead.
    pub fn message(&self) -> Message {
        match self {
            Self::Unknown { name, suggestions } if suggestions.is_empty() => texts::zone_unknown(name),
            Self::Unknown { name, suggestions } => texts::zone_similar(name, suggestions.join("' or '")),
            Self::Offset(name) => texts::zone_offset(name),
        }
    }
}

impl fmt::Display for ZoneNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

/// All names of the IANA database that are known, sorted.
pub fn names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().copied()
}

/// Reads a name in any case, or an offset: `+8`, `+08`, `+8:30`, `+08:30`, `+830` or `+0830` behind `GMT` or `UTC`.
///
/// # Errors
/// [`ZoneNameError`]. Java reads an offset that it cannot parse as GMT; here it is an error.
pub fn parse(text: &str) -> Result<ZoneName, ZoneNameError> {
    let name = text.trim();
    if ["Z", "UTC", "GMT"].iter().any(|utc| name.eq_ignore_ascii_case(utc)) {
        return Ok(ZoneName::Fixed { seconds_east: 0 });
    }
    let spelled = NAMES.binary_search(&name).ok().map(|at| NAMES[at]);
    if let Some(known) = spelled.or_else(|| names().find(|known| known.eq_ignore_ascii_case(name))) {
        return Ok(ZoneName::Iana(known));
    }
    match name.split_at_checked(3) {
        Some((prefix, offset)) if prefix.eq_ignore_ascii_case("GMT") || prefix.eq_ignore_ascii_case("UTC") => {
            let seconds_east = parse_offset(offset).ok_or_else(|| ZoneNameError::Offset(text.to_owned()))?;
            Ok(ZoneName::Fixed { seconds_east })
        }
        _ => Err(ZoneNameError::Unknown { name: text.to_owned(), suggestions: similar(name) }),
    }
}

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

/// Up to three names that a wrong one may mean: names with the same city, else names that differ by a few letters.
fn similar(name: &str) -> Vec<&'static str> {
    let wanted = name.to_lowercase().replace(' ', "_");
    let limit = wanted.len() / 4;
    let distance = |known: &str| {
        let known = known.to_ascii_lowercase();
        let city = known.rsplit('/').next().unwrap_or(&known);
        damerau_levenshtein(&wanted, &known).min(damerau_levenshtein(&wanted, city))
    };
    let mut near: Vec<(usize, &str)> =
        names().map(|known| (distance(known), known)).filter(|(distance, _)| *distance <= limit).collect();
    near.sort_unstable();
    near.into_iter().take(3).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
            (" utc ", 0),
            ("z", 0),
        ] {
            assert_eq!(parse(text), Ok(ZoneName::Fixed { seconds_east: minutes * 60 }), "{text}");
        }
    }

    #[test]
    fn an_offset_that_cannot_be_read_is_an_error_and_not_gmt() {
        for text in ["GMT+24", "GMT+8:0", "GMT+1260", "GMT+", "GMT +8", "GMT8", "GMT+8:60", "GMT+-8", "GMT+008:00"]
            .into_iter()
            .chain(["GMT++8", "GMT+12345", "GMT+é8", "GMT+:00", "GMT+8:", "GMT 8"])
        {
            assert_eq!(parse(text), Err(ZoneNameError::Offset(text.to_owned())));
        }
        let error = parse("GMT+24").unwrap_err().to_string();
        assert!(error.contains("'GMT+24'") && error.contains("0 to 23"), "{error}");
    }

    #[test]
    fn names_are_found_in_any_case() {
        assert_eq!(parse("asia/SHANGHAI"), Ok(ZoneName::Iana("Asia/Shanghai")));
        assert_eq!(parse(" Etc/GMT+8 "), Ok(ZoneName::Iana("Etc/GMT+8")));
        for known in names().filter(|known| !["UTC", "GMT"].contains(known)) {
            assert_eq!(parse(&known.to_uppercase()), Ok(ZoneName::Iana(known)));
        }
        for wrong in ["", "CST", "Asia/Beijing", "+8", "GM", "Ü"] {
            assert!(matches!(parse(wrong), Err(ZoneNameError::Unknown { .. })), "{wrong}");
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest_ones() {
        let suggestions = |name: &str| match parse(name) {
            Err(ZoneNameError::Unknown { suggestions, .. }) => suggestions,
            other => panic!("{name}: {other:?}"),
        };
        assert_eq!(suggestions("Asia/Shangai")[0], "Asia/Shanghai");
        assert_eq!(suggestions("berlin"), ["Europe/Berlin"]);
        assert!(suggestions("new york").contains(&"America/New_York"));
        assert!(suggestions("CST").is_empty(), "an abbreviation says nothing");
        let error = parse("Europe/Berln").unwrap_err().to_string();
        assert_eq!(error, "time zone 'Europe/Berln' is not known: did you mean 'Europe/Berlin'?");
        assert!(parse("").unwrap_err().to_string().contains("'Asia/Shanghai'"));
    }
}
