use std::path::Path;

use super::*;

fn schedule(cron: &str, zone: &str) -> Schedule {
    Schedule::parse(cron, Some(zone)).unwrap()
}

fn fires(cron: &str, zone: &str, from_ms: i64, count: usize) -> Vec<String> {
    let schedule = schedule(cron, zone);
    schedule.upcoming(from_ms).take(count).map(|fire| schedule.format_rfc3339(fire)).collect()
}

#[test]
fn all_vectors_taken_from_quartz_hold() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/quartz-vectors.tsv");
    let text = std::fs::read_to_string(path).unwrap();
    let mut rows = 0;
    for row in text.lines() {
        rows += 1;
        let columns: Vec<&str> = row.split('\t').collect();
        let [zone, from, count, cron, outcome, expected] = columns[..] else { panic!("{row}") };
        let parsed = Schedule::parse(cron, Some(zone));
        if outcome == "err" {
            assert!(matches!(parsed, Err(ScheduleError::Cron(_))), "'{cron}' should be refused: {expected}");
            continue;
        }
        let found: String = parsed
            .unwrap_or_else(|error| panic!("{error}"))
            .upcoming(from.parse::<i64>().unwrap() * 1000)
            .take(count.parse().unwrap())
            .map(|fire| format!("{},", fire / 1000))
            .collect();
        assert_eq!(found, expected, "{zone} {cron} after {from}");
    }
    assert_eq!(rows, 158);
}

#[test]
fn a_time_in_the_gap_does_not_fire_that_day() {
    let from = 1_710_046_800_000; // 2024-03-10T00:00:00-05:00
    assert_eq!(fires("0 30 2 * * ?", "America/New_York", from, 1), ["2024-03-11T02:30:00-04:00"]);
    let every_other_hour = fires("0 0 0/2 * * ?", "America/New_York", from - 1000, 3);
    let expected = ["2024-03-10T00:00:00-05:00", "2024-03-10T04:00:00-04:00", "2024-03-10T06:00:00-04:00"];
    assert_eq!(every_other_hour, expected);
}

#[test]
fn a_repeated_time_fires_once_at_the_later_offset() {
    let from = 1_730_606_400_000; // 2024-11-03T00:00:00-04:00
    let daily = fires("0 30 1 * * ?", "America/New_York", from, 2);
    assert_eq!(daily, ["2024-11-03T01:30:00-05:00", "2024-11-04T01:30:00-05:00"]);
    let half_hours = fires("0 0/30 * * * ?", "America/New_York", from, 2);
    assert_eq!(half_hours, ["2024-11-03T00:30:00-04:00", "2024-11-03T01:00:00-05:00"]);
}

#[test]
fn a_start_in_the_first_pass_of_a_repeated_hour_loses_no_fire() {
    let from = 1_730_611_200_000; // 2024-11-03T01:20:00-04:00
    assert_eq!(fires("0 5 1 * * ?", "America/New_York", from, 1), ["2024-11-03T01:05:00-05:00"]);
    assert_eq!(fires("0 0/30 * * * ?", "America/New_York", from, 1), ["2024-11-03T01:00:00-05:00"]);
}

#[test]
fn a_skipped_day_does_not_fire_and_does_not_hang() {
    let from = 1_325_154_600_000; // 2011-12-29 at Apia, before the date line moved
    assert_eq!(fires("0 0 12 30 12 ?", "Pacific/Apia", from, 1), ["2012-12-30T12:00:00+14:00"]);
    assert_eq!(fires("0 0 12 L-1 12 ?", "Pacific/Apia", from, 1), ["2012-12-30T12:00:00+14:00"]);
    assert_eq!(fires("0 0 12 L * ?", "Pacific/Apia", from, 1), ["2011-12-31T12:00:00+14:00"]);
    assert_eq!(schedule("* * * 30 12 ? 2011", "Pacific/Apia").next_after(from), None);
}

/// The definition itself: every instant is a fire whose wall-clock time matches and does not come again.
#[test]
fn around_every_kind_of_transition_the_fires_are_those_of_the_definition() {
    const MINUTE: i64 = 60;
    for (zone, transition) in [
        ("America/New_York", 1_710_054_000),
        ("America/New_York", 1_730_613_600),
        ("Australia/Lord_Howe", 1_712_415_600),
        ("Australia/Lord_Howe", 1_728_142_200),
        ("America/Sao_Paulo", 1_541_300_400),
        ("America/Sao_Paulo", 1_550_368_800),
        ("Europe/Moscow", 1_414_274_400),
        ("Europe/Dublin", 1_729_990_800),
        ("Africa/Casablanca", 1_710_036_000),
        ("Pacific/Apia", 1_325_239_200),
    ] {
        let time_zone: TimeZone = zone.parse().unwrap();
        let civil_at = |instant: i64| instant + i64::from(time_zone.offset_at(instant));
        assert_ne!(time_zone.offset_at(transition - 1), time_zone.offset_at(transition), "{zone} {transition}");
        let window: Vec<i64> = (-40 * 60..40 * 60).map(|minute| transition + minute * MINUTE).collect();
        for (cron, matches) in [
            ("0 0/10 * * * ?", (|t: i64| t % 600 == 0) as fn(i64) -> bool),
            ("0 5 0-2 * * ?", |t| t % 3600 == 300 && t % 86_400 < 3 * 3600),
            ("0 45 * * * ?", |t| t % 3600 == 2700),
        ] {
            let schedule = Schedule::new(cron.parse().unwrap(), time_zone);
            let comes_again = |t: i64| (1..=180).any(|later| civil_at(t + later * MINUTE) == civil_at(t));
            let expected: Vec<i64> =
                window.iter().copied().filter(|t| matches(civil_at(*t)) && !comes_again(*t)).collect();
            for from in window.iter().copied().filter(|from| (transition - from).abs() < 5 * 3600) {
                let next = expected.iter().find(|fire| **fire > from).map(|fire| fire * 1000);
                assert_eq!(schedule.next_after(from * 1000), next, "{zone} {cron} after {from}");
            }
        }
    }
}

#[test]
fn milliseconds_count_when_a_fire_is_exactly_due() {
    let schedule = schedule("* * * * * ?", "UTC");
    for (after, fire) in [(-1, 0), (0, 1000), (1, 1000), (999, 1000), (1000, 2000), (-86_400_000, 0)] {
        assert_eq!(schedule.next_after(after), Some(fire), "{after}");
    }
    assert_eq!(schedule.next_after(i64::MAX), None);
    for zone in ["UTC", "Asia/Tokyo", "America/New_York"] {
        let schedule = super::tests::schedule("0 0 0 1 1 ?", zone);
        assert_eq!(schedule.next_after(i64::MAX), None);
        assert!(schedule.format_rfc3339(schedule.next_after(i64::MIN).unwrap()).starts_with("1970-01-01T00:00:00"));
    }
}

#[test]
fn an_instant_is_written_with_the_offset_of_its_zone() {
    let written = |ms, zone: &str| format_rfc3339(ms, zone.parse().unwrap());
    assert_eq!(written(1_710_055_800_000, "America/New_York"), "2024-03-10T03:30:00-04:00");
    assert_eq!(written(1_710_055_800_007, "GMT+5:30"), "2024-03-10T13:00:00.007+05:30");
    assert_eq!(written(-1, "UTC"), "1969-12-31T23:59:59.999+00:00");
    // Liberia was 44 minutes and 30 seconds behind until 1972.
    assert_eq!(written(0, "Africa/Monrovia"), "1969-12-31T23:16:00-00:44");
}

#[test]
fn a_schedule_says_which_of_its_parts_is_wrong() {
    assert!(matches!(Schedule::parse("0 0 24 * * ?", Some("UTC")), Err(ScheduleError::Cron(_))));
    let error = Schedule::parse("0 0 0 * * ?", Some("Mars/Base")).unwrap_err();
    assert!(error.to_string().starts_with("time zone 'Mars/Base'"), "{error}");
}

#[test]
fn a_schedule_is_small() {
    assert!(size_of::<Schedule>() <= 96, "{}", size_of::<Schedule>());
}

#[test]
fn a_fire_tells_what_a_change_of_the_clocks_has_to_do_with_it() {
    let marks = |cron: &str, from: i64| {
        let schedule = Schedule::parse(cron, Some("America/New_York")).unwrap();
        let first = schedule.next_fire_after(from).unwrap();
        let second = schedule.next_fire_after(first.at).unwrap();
        [first, second].map(|fire| (schedule.format_rfc3339(fire.at), fire.clock_change))
    };
    // The noons before the clock is set forward, and back.
    let (spring, autumn) = (1_710_003_600_000, 1_730_563_200_000);
    assert_eq!(
        marks("0 30 2 * * ?", spring),
        [
            ("2024-03-11T02:30:00-04:00".to_owned(), Some(ClockChange::Skipped)),
            ("2024-03-12T02:30:00-04:00".to_owned(), None)
        ]
    );
    assert_eq!(
        marks("0 30 1 * * ?", autumn),
        [
            ("2024-11-03T01:30:00-05:00".to_owned(), Some(ClockChange::Repeated)),
            ("2024-11-04T01:30:00-05:00".to_owned(), None)
        ]
    );
}
