//! The times that are written at an axis: whole minutes, hours and days by the clocks of a zone.

use elasticjob::schedule::{TimeZone, format_rfc3339};

use super::Tick;
use super::scale::Scale;

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// The steps between two times.
const STEPS: [i64; 18] = [
    SECOND,
    2 * SECOND,
    5 * SECOND,
    10 * SECOND,
    30 * SECOND,
    MINUTE,
    2 * MINUTE,
    5 * MINUTE,
    10 * MINUTE,
    30 * MINUTE,
    HOUR,
    2 * HOUR,
    3 * HOUR,
    6 * HOUR,
    12 * HOUR,
    DAY,
    2 * DAY,
    7 * DAY,
];

/// The times from `low` to `high`, at most about `count`, in milliseconds since 1970.
fn times(low: i64, high: i64, zone: TimeZone, count: i64) -> Vec<(i64, i64)> {
    let rough = (high - low) / count.max(1);
    let step = STEPS.into_iter().find(|step| *step >= rough).unwrap_or_else(|| (rough / DAY + 1) * DAY);
    let offset = |at: i64| i64::from(zone.offset_at(at.div_euclid(SECOND))) * SECOND;
    // By the clock of the zone: where it is set, a step is shorter or longer.
    let first = (low + offset(low)).div_euclid(step) * step;
    let locals = (0..).map(|number| first + number * step);
    let instants = locals.map(|local| {
        let near = local - offset(local);
        (local - offset(near), step)
    });
    instants.skip_while(|(at, _)| *at < low).take_while(|(at, _)| *at <= high).take(100).collect()
}

/// What is written at a time: the day at midnight, else the time of the day.
fn label(at: i64, step: i64, zone: TimeZone) -> String {
    let text = format_rfc3339(at, zone);
    let (date, time) = (text.get(5..10).unwrap_or_default(), text.get(11..16).unwrap_or_default());
    match (step, time) {
        (DAY.., _) | (_, "00:00") if step >= MINUTE => date.to_owned(),
        (..MINUTE, _) => text.get(11..19).unwrap_or_default().to_owned(),
        _ => time.to_owned(),
    }
}

/// The times on an axis of this range.
pub(crate) fn of_times(scale: &Scale, (low, high): (i64, i64), zone: TimeZone, count: i64) -> Vec<Tick> {
    let ticks = times(low, high, zone, count).into_iter();
    ticks.map(|(at, step)| Tick { at: scale.at_time(at), label: label(at, step, zone) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: &str, high: &str, zone: &str, count: i64) -> Vec<String> {
        let at = |text: &str| chrono::DateTime::parse_from_rfc3339(text).expect("a time").timestamp_millis();
        let range = (at(low), at(high));
        let zone = zone.parse().expect("a zone");
        let scale = Scale::time(range, (0.0, 100.0));
        of_times(&scale, range, zone, count).into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn ticks_are_whole_hours_of_the_zone_with_the_day_at_midnight() {
        let shanghai = labels("2026-11-21T14:10:00Z", "2026-11-21T19:30:00Z", "Asia/Shanghai", 6);
        assert_eq!(shanghai, ["23:00", "11-22", "01:00", "02:00", "03:00"]);
        let kolkata = labels("2026-11-21T14:10:00Z", "2026-11-21T16:40:00Z", "Asia/Kolkata", 5);
        assert_eq!(kolkata, ["20:00", "20:30", "21:00", "21:30", "22:00"]);
        assert_eq!(
            labels("2026-11-01T00:00:00Z", "2026-11-04T00:00:00Z", "UTC", 4),
            ["11-01", "11-02", "11-03", "11-04"]
        );
        assert_eq!(
            labels("2026-11-21T14:10:00Z", "2026-11-21T14:10:03Z", "UTC", 3),
            ["14:10:00", "14:10:01", "14:10:02", "14:10:03"]
        );
    }

    #[test]
    fn ticks_stay_whole_where_the_clocks_are_set() {
        // At 01:00 UTC the clocks of Berlin are set from 02:00 to 03:00.
        let spring = labels("2026-03-28T21:00:00Z", "2026-03-29T07:00:00Z", "Europe/Berlin", 5);
        assert_eq!(spring.first().map(String::as_str), Some("22:00"));
        assert!(spring.iter().all(|label| label.ends_with(":00") || label == "03-29"), "{spring:?}");
        assert_eq!(spring.last().map(String::as_str), Some("08:00"));
    }

    #[test]
    fn a_range_of_any_length_has_few_ticks() {
        for days in [0, 1, 10, 90, 4_000] {
            let range = (0, days * DAY);
            let ticks = of_times(&Scale::time(range, (0.0, 1.0)), range, TimeZone::UTC, 8);
            assert!((1..=10).contains(&ticks.len()), "{days}: {}", ticks.len());
        }
    }
}
