//! Names of time zones.
//!
//! `zones.txt` holds the names of the time zone database that the library knows, one a line, sorted. The names alone
//! are here because the rules of the zones would make this crate, which is built for the host, as heavy as the library.
//! A test of the package `elasticjob-tests` compares the file with the library's names, and writes it anew when the
//! environment variable `UPDATE_ZONES` is set.

use strsim::damerau_levenshtein;

const NAMES: &str = include_str!("zones.txt");

/// What is wrong with the name of a time zone.
pub fn check(zone: &str) -> Result<(), String> {
    if NAMES.lines().any(|name| name == zone) || is_gmt_offset(zone) {
        return Ok(());
    }
    let wanted = zone.to_lowercase();
    let nearest = NAMES
        .lines()
        .map(|name| (damerau_levenshtein(&wanted, &name.to_lowercase()), name))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, _)| *distance <= wanted.len() / 5);
    Err(match nearest {
        Some((_, name)) => format!("there is no time zone `{zone}`: did you mean `{name}`?"),
        None => format!(
            "there is no time zone `{zone}`; give a name of the IANA time zone database as `Asia/Shanghai`, or an \
             offset as `GMT+8:00`"
        ),
    })
}

/// `GMT+8`, `GMT+08:00` or `GMT+0800`: at most 23 hours and 59 minutes.
fn is_gmt_offset(zone: &str) -> bool {
    let Some(offset) = zone.strip_prefix("GMT").and_then(|rest| rest.strip_prefix(['+', '-'])) else { return false };
    let (hours, minutes) = match offset.split_once(':') {
        Some((hours, minutes)) if minutes.len() == 2 => (hours, minutes),
        Some(_) => return false,
        None if offset.len() > 2 && offset.is_ascii() => offset.split_at(offset.len() - 2),
        None => (offset, "00"),
    };
    let below = |digits: &str, limit: u8| {
        digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.parse::<u8>().is_ok_and(|number| number < limit)
    };
    hours.len() <= 2 && below(hours, 24) && below(minutes, 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_database_and_offsets_are_known() {
        for zone in
            ["Asia/Shanghai", "UTC", "GMT", "GMT+8", "GMT+8:00", "GMT-0830", "GMT+830", "GMT+08:30", "GMT+23:59"]
        {
            assert_eq!(check(zone), Ok(()), "{zone}");
        }
    }

    #[test]
    fn what_is_no_zone_is_refused_with_the_nearest_name() {
        for zone in
            ["", "CST", "Asia/Beijing", "GMT+", "GMT+24", "GMT+8:0", "GMT+8:60", "GMT++8", "GMT+12345", "GMT+é8"]
        {
            assert!(check(zone).is_err(), "{zone}");
        }
        for zone in ["asia/shanghai", "Asia/Shangai"] {
            let error = check(zone).unwrap_err();
            assert!(error.contains("did you mean `Asia/Shanghai`?"), "{error}");
        }
    }

    #[test]
    fn the_names_are_sorted_and_there_are_hundreds() {
        let names: Vec<&str> = NAMES.lines().collect();
        assert!(names.len() > 500);
        assert!(names.is_sorted());
    }
}
