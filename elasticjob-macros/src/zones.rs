//! Names of time zones.
//!
//! `zones.txt` holds the names of the time zone database that the library knows, one a line, sorted. The names alone
//! are here because the rules of the zones would make this crate, which is built for the host, as heavy as the library.
//! A test of the package `elasticjob-tests` compares the file with the library's names, and writes it anew when the
//! environment variable `UPDATE_ZONES` is set.

use strsim::damerau_levenshtein;

const NAMES: &str = include_str!("zones.txt");

/// What is wrong with the name of a time zone. Takes what `TimeZone` of the library takes.
pub fn check(zone: &str) -> Result<(), String> {
    let name = zone.trim();
    if name.eq_ignore_ascii_case("Z") || NAMES.lines().any(|known| known.eq_ignore_ascii_case(name)) {
        return Ok(());
    }
    let (prefix, offset) = name.split_at_checked(3).unwrap_or((name, ""));
    if prefix.eq_ignore_ascii_case("GMT") || prefix.eq_ignore_ascii_case("UTC") {
        return match is_offset(offset) {
            true => Ok(()),
            false => Err(format!(
                "`{zone}` is not an offset: write hours from 0 to 23 and minutes as in `GMT+8` or `GMT+08:30`"
            )),
        };
    }
    Err(match nearest(name) {
        Some(known) => format!("there is no time zone `{zone}`: did you mean `{known}`?"),
        None => format!(
            "there is no time zone `{zone}`: write a name of the IANA time zone database as `Asia/Shanghai`, or an \
             offset as `GMT+08:00`"
        ),
    })
}

/// `+8`, `+08:00`, `+800` or `+0800`: at most 23 hours and 59 minutes.
fn is_offset(text: &str) -> bool {
    let Some(digits) = text.strip_prefix(['+', '-']) else { return false };
    let (hours, minutes) = match digits.split_once(':') {
        Some((hours, minutes)) if minutes.len() == 2 => (hours, minutes),
        Some(_) => return false,
        None if digits.len() > 2 => digits.split_at_checked(digits.len() - 2).unwrap_or_default(),
        None => (digits, "00"),
    };
    let at_most = |limit: u8, part: &str| {
        let plain = matches!(part.len(), 1 | 2) && part.bytes().all(|byte| byte.is_ascii_digit());
        plain && part.parse::<u8>().is_ok_and(|number| number <= limit)
    };
    at_most(23, hours) && at_most(59, minutes)
}

/// The zone with a similar name, or with a city of a similar name.
fn nearest(name: &str) -> Option<&'static str> {
    let wanted = name.to_lowercase().replace(' ', "_");
    let distance = |known: &str| {
        let known = known.to_lowercase();
        let city = known.rsplit('/').next().unwrap_or(&known);
        damerau_levenshtein(&wanted, &known).min(damerau_levenshtein(&wanted, city))
    };
    let (distance, known) = NAMES.lines().map(|known| (distance(known), known)).min()?;
    (distance <= wanted.len() / 4).then_some(known)
}

#[cfg(test)]
mod tests {
    use elasticjob::schedule::TimeZone;

    use super::*;

    #[test]
    fn the_library_takes_the_same_zones() {
        let zones =
            ["asia/shanghai", " UTC ", "z", "GMT", "GMT+0", "gmt-8", "utc+8", "GMT+8:00", "GMT-0830", "GMT+830"];
        for zone in NAMES.lines().chain(zones).chain(["GMT+08:30", "GMT+23:59", "Etc/GMT+8", "PST8PDT"]) {
            assert_eq!(check(zone), Ok(()), "{zone}");
            assert!(zone.parse::<TimeZone>().is_ok(), "{zone}");
        }
        let wrong = ["CST", "Asia/Beijing", "GMT+", "GMT+24", "GMT+8:0", "GMT+8:60", "GMT++8", "GMT+12345", "GMT+é8"];
        for zone in wrong.into_iter().chain(["+8", "GMT+:00", "GMT+8:", "GMT 8", "GM", "Ü"]) {
            assert!(check(zone).is_err(), "{zone}");
            assert!(zone.parse::<TimeZone>().is_err(), "{zone}");
        }
    }

    #[test]
    fn the_nearest_name_is_suggested() {
        for (zone, name) in
            [("Asia/Shangai", "Asia/Shanghai"), ("shanghai", "Asia/Shanghai"), ("new york", "America/New_York")]
        {
            let error = check(zone).unwrap_err();
            assert!(error.contains(&format!("did you mean `{name}`?")), "{error}");
        }
        assert!(check("CST").unwrap_err().contains("write a name of the IANA"));
        assert!(check("UTC+25").unwrap_err().contains("is not an offset"));
    }
}
