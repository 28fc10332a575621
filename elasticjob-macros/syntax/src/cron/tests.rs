use super::{CronError, CronExpression, CronField};
use crate::calendar::{civil_date, epoch_day};

fn parse(text: &str) -> CronExpression {
    text.parse().unwrap_or_else(|error: CronError| panic!("{}", error.caret()))
}

fn error(text: &str) -> CronError {
    text.parse::<CronExpression>().err().unwrap_or_else(|| panic!("'{text}' should be refused"))
}

/// `2024-02-29 10:15:00` or a date alone, as a civil second.
fn civil(text: &str) -> i64 {
    let numbers: Vec<i64> = text.split(['-', ' ', ':']).map(|part| part.parse().unwrap()).collect();
    let time = numbers.get(3..).unwrap_or_default().iter().zip([3600, 60, 1]).map(|(n, unit)| n * unit).sum::<i64>();
    epoch_day(numbers[0], numbers[1] as u32, numbers[2] as u32) * 86_400 + time
}

/// A small deterministic generator (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % u64::from(limit)) as u32
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u32) as usize]
    }
}

#[test]
fn the_documented_expressions_fire_when_the_reference_says() {
    for (expression, fires) in [
        ("0 15 10 L * ?", ["2024-02-29 10:15", "2024-03-31 10:15", "2024-04-30 10:15", "2024-05-31 10:15"]),
        ("0 15 10 LW * ?", ["2024-02-29 10:15", "2024-03-29 10:15", "2024-04-30 10:15", "2024-05-31 10:15"]),
        ("0 15 10 L-3W * ?", ["2024-03-28 10:15", "2024-04-26 10:15", "2024-05-28 10:15", "2024-06-27 10:15"]),
        ("0 15 10 ? * 6L", ["2024-03-29 10:15", "2024-04-26 10:15", "2024-05-31 10:15", "2024-06-28 10:15"]),
        ("0 15 10 ? * 6#3", ["2024-03-15 10:15", "2024-04-19 10:15", "2024-05-17 10:15", "2024-06-21 10:15"]),
        ("0 15 10 ? * FRI#5", ["2024-03-29 10:15", "2024-05-31 10:15", "2024-08-30 10:15", "2024-11-29 10:15"]),
        ("0 0 0 15W * ?", ["2024-03-15", "2024-04-15", "2024-05-15", "2024-06-14"]),
        ("0 0 0 1,15W * ?", ["2024-03-01", "2024-04-01", "2024-05-01", "2024-06-03"]),
        ("0 0 0 1W * ?", ["2024-03-01", "2024-04-01", "2024-05-01", "2024-06-03"]),
        ("0 0 0 31W * ?", ["2024-03-29", "2024-05-31", "2024-07-31", "2024-08-30"]),
        ("0 0 8-18/5 ? * MON-FRI", ["2024-02-29 08", "2024-02-29 13", "2024-02-29 18", "2024-03-01 08"]),
        ("0 0 22-2 * * ?", ["2024-02-29 00", "2024-02-29 01", "2024-02-29 02", "2024-02-29 22"]),
        ("0 0 0 29 2 ?", ["2024-02-29", "2028-02-29", "2032-02-29", "2036-02-29"]),
        ("0 0 0 1 1 ? 2026/2", ["2026-01-01", "2028-01-01", "2030-01-01", "2032-01-01"]),
        ("0 0 0 ? 1-3,12 1#2", ["2024-03-10", "2024-12-08", "2025-01-12", "2025-02-09"]),
        ("0 0 0 ? * 2L", ["2024-03-25", "2024-04-29", "2024-05-27", "2024-06-24"]),
        ("0 0 0 ? * 7-2", ["2024-03-02", "2024-03-03", "2024-03-04", "2024-03-09"]),
        ("0 0 0 ? * 1/2", ["2024-02-29", "2024-03-02", "2024-03-03", "2024-03-05"]),
        ("0 0 0 1/10 * ?", ["2024-03-01", "2024-03-11", "2024-03-21", "2024-03-31"]),
        ("0 0 0 ? * mon/2", ["2024-03-04", "2024-03-11", "2024-03-18", "2024-03-25"]),
        ("0 0 0 ? * 6#3,MON", ["2024-03-18", "2024-04-15", "2024-05-20", "2024-06-17"]),
        ("\t0 0  0 1, * ? * and more\n", ["2024-03-01", "2024-04-01", "2024-05-01", "2024-06-01"]),
        // As in Quartz, months without the day are skipped.
        ("0 0 0 L-30 * ?", ["2024-03-01", "2024-05-01", "2024-07-01", "2024-08-01"]),
        ("0 0 0 L-29W * ?", ["2024-03-01", "2024-04-01", "2024-05-02", "2024-06-03"]),
    ] {
        let cron = parse(expression);
        let mut at = civil("2024-02-28 23:59:58");
        for fire in fires {
            at = cron.next_after(at).unwrap();
            assert_eq!(at, civil(fire), "{expression}: {fire}");
        }
        assert_eq!(cron.to_string(), expression);
    }
}

#[test]
fn a_schedule_without_any_match_is_recognized() {
    assert!(parse("0 0 0 30 2 ?").never_fires(1970));
    assert!(parse("0 0 0 31 4,6,9,11 ?").never_fires(1970));
    assert!(parse("0 0 0 29 2 ? 2100").never_fires(1970));
    let past = parse("0 0 0 1 * ? 2020-2022");
    assert!(!past.never_fires(2022) && past.never_fires(2023));
    assert_eq!(past.next_after(civil("2024-02-28")), None);
    assert_eq!(past.next_after(i64::MAX), None);
    assert_eq!(past.next_after(i64::MIN), Some(civil("2020-01-01")));
    assert!(!parse("0 0 0 L-30W * ?").never_fires(2024));
}

#[test]
fn the_last_match_is_at_the_end_of_the_last_year() {
    let cron = parse("* * * * * ?");
    assert_eq!(cron.next_after(civil("2225-12-31 23:59:58")), Some(civil("2225-12-31 23:59:59")));
    assert_eq!(cron.next_after(civil("2225-12-31 23:59:59")), None);
    assert_eq!(cron.next_after(-5), Some(0));
}

#[test]
fn an_error_points_at_the_text_and_says_what_is_right() {
    use CronField::*;
    for (text, field, wrong, says) in [
        ("60 * * * * ?", Some(Second), "60", "0 to 59"),
        ("0 7/100 * * * ?", Some(Minute), "100", "at most 59"),
        ("0 0/60 * * * ?", Some(Minute), "60", "at most 59"),
        ("0 5/ * * * ?", Some(Minute), "", "a number must follow '/'"),
        ("0 5-X * * * ?", Some(Minute), "X", "a number must follow '-'"),
        ("0 1,2,5x * * * ?", Some(Minute), "X", "after a number"),
        ("0 *5 * * * ?", Some(Minute), "5", "after '*'"),
        ("0 ? * * * ?", Some(Minute), "?", "write '*'"),
        ("0 , * * * ?", Some(Minute), ",", "no value"),
        ("0 0 24 * * ?", Some(Hour), "24", "0 to 23"),
        ("0 0 */24 * * ?", Some(Hour), "24", "at most 23"),
        ("0 0 MON * * ?", Some(Hour), "MON", "not a number"),
        ("0 0 3W * * ?", Some(Hour), "W", "only for day-of-month"),
        ("0 0 99999999999 * * ?", Some(Hour), "99999999999", "0 to 23"),
        ("0 0 0 0 * ?", Some(DayOfMonth), "0", "1 to 31"),
        ("0 0 0 5-0 * ?", Some(DayOfMonth), "0", "1 to 31"),
        ("0 0 0 L,15 * ?", Some(DayOfMonth), "L", "list"),
        ("0 0 0 15,L-2 * ?", Some(DayOfMonth), "L", "list"),
        ("0 0 0 L-31 * ?", Some(DayOfMonth), "31", "at most 30"),
        ("0 0 0 LW-2 * ?", Some(DayOfMonth), "W", "'L-3W'"),
        ("0 0 0 15L * ?", Some(DayOfMonth), "L", "day-of-week"),
        ("0 0 9 W * ?", Some(DayOfMonth), "W", "1 to 31"),
        ("0 0 0 1 13 ?", Some(Month), "13", "1 to 12 or JAN to DEC"),
        ("0 0 0 1 JAN-3 ?", Some(Month), "3", "end with one"),
        ("0 0 0 1 Jax ?", Some(Month), "JAX", "JAN to DEC"),
        ("0 0 0 ? * 0", Some(DayOfWeek), "0", "SUN to SAT"),
        ("0 0 0 ? * 8", Some(DayOfWeek), "8", "1 is Sunday"),
        ("0 0 0 ? * MON#6", Some(DayOfWeek), "6", "1 to 5"),
        ("0 0 0 ? * 6#", Some(DayOfWeek), "", "1 to 5"),
        ("0 0 0 ? * 6#1,2#3", Some(DayOfWeek), "#", "only one '#'"),
        ("0 0 0 ? * 6L,2", Some(DayOfWeek), "L", "list"),
        ("0 0 0 ? * L-3", Some(DayOfWeek), "L-3", "'FRIL'"),
        ("0 0 0 ? * ?,MON", Some(DayOfWeek), "?", "whole field"),
        ("0 0 0 ? * MO", Some(DayOfWeek), "MO", "SUN to SAT"),
        ("0 0 0 ? * ?", Some(DayOfWeek), "?", "must say the day"),
        ("0 0 0 13 * FRI", Some(DayOfWeek), "FRI", "one of them must be '?'"),
        ("* * * * * *", Some(DayOfWeek), "*", "one of them must be '?'"),
        ("0 0 0 1 1 ? 2024-2022", Some(Year), "2024-2022", "2022-2024"),
        ("0 0 0 1 1 ? 1969", Some(Year), "1969", "1970 to 2225"),
        ("0 0 0 1 é ?", Some(Month), "é", "unexpected"),
        ("0 0 9 * *", None, "0 0 9 * *", "second missing"),
        ("*", None, "*", "1 field,"),
        (" @daily ", None, "@DAILY", "'0 0 0 * * ?'"),
        ("  ", None, "  ", "blank"),
        ("", None, "", "blank"),
    ] {
        let error = error(text);
        assert_eq!(error.field, field, "{text}: {error}");
        assert_eq!(text[error.span.clone()].to_ascii_uppercase(), wrong, "{text}: {error}");
        assert!(error.reason.as_str().contains(says), "{text}: {error}");
        assert!(error.to_string().contains(&format!("'{text}'")), "{error}");
    }
}

#[test]
fn the_error_points_at_the_item_of_the_list_and_not_at_an_equal_one_before() {
    assert_eq!(error("0 0 24 24 * ?").span, 4..6);
    assert_eq!(error("0 0 0 1,32,32 * ?").span, 8..10);
}

#[test]
fn the_caret_line_stands_under_the_fault() {
    assert_eq!(error("0 0 24 * * ?").caret(), "0 0 24 * * ?\n    ^^ hour: 24 is out of range, allowed is 0 to 23");
    let wide = error("0\t0 0 1 é ?").caret();
    assert!(wide.contains("\n        ^ month"), "{wide}");
    assert!(error("0 5/ * * * ?").caret().contains("\n    ^ minute"));
}

#[test]
fn dates_and_days_convert_both_ways() {
    assert_eq!(epoch_day(1970, 1, 1), 0);
    assert_eq!(epoch_day(2024, 2, 29), 19_782);
    let mut expected = (1896, 12, 31);
    for day in epoch_day(1897, 1, 1)..epoch_day(2305, 1, 1) {
        let (year, month, day_of_month) = civil_date(day);
        assert_eq!(epoch_day(year, month, day_of_month), day);
        let next_month = if expected.1 == 12 { (expected.0 + 1, 1, 1) } else { (expected.0, expected.1 + 1, 1) };
        let same_month = (expected.0, expected.1, expected.2 + 1);
        expected = if (year, month, day_of_month) == same_month { same_month } else { next_month };
        assert_eq!((year, month, day_of_month), expected);
    }
    assert_eq!(expected, (2304, 12, 31));
}

/// A list of values, and a text with that meaning, made without the parser.
fn random_field(random: &mut Random, min: u32, max: u32) -> (String, Vec<u32>) {
    let size = max - min + 1;
    let mut texts = Vec::new();
    let mut values = Vec::new();
    for _ in 0..=random.below(3) {
        let from = min + random.below(size);
        let step = 1 + random.below(size - 1);
        match random.below(6) {
            0 => {
                texts.push(format!("*/{step}"));
                values.extend((0..size).filter(|i| i.is_multiple_of(step)).map(|i| min + i));
            }
            1 => {
                texts.push(format!("{from}/{step}"));
                values.extend((from..=max).filter(|v| (v - from).is_multiple_of(step)));
            }
            2 | 3 => {
                let length = random.below(size);
                let to = min + (from - min + length) % size;
                texts.push(format!("{from}-{to}/{step}"));
                values.extend((0..=length).filter(|i| i.is_multiple_of(step)).map(|i| min + (from - min + i) % size));
            }
            _ => {
                texts.push(from.to_string());
                values.push(from);
            }
        }
    }
    (texts.join(","), values)
}

/// Whether a date matches the text of a day rule. Found by walking through its month.
fn day_matches(rule: (&str, u32, u32), days: &[u32], (year, month, day): (i64, u32, u32)) -> bool {
    let weekday = |day: u32| (epoch_day(year, month, day) + 4).rem_euclid(7) as u32 + 1;
    let length = (28..=31).rev().find(|d| civil_date(epoch_day(year, month, *d)) == (year, month, *d)).unwrap();
    let nearest = |wanted: u32| {
        let is_weekday = |d: &u32| (1..=length).contains(d) && (2..=6).contains(&weekday(*d));
        (1..=length).contains(&wanted).then(|| {
            // Saturday prefers the Friday before, Sunday the Monday after.
            let order = if weekday(wanted) == 7 { [0, -1, 1, 2, -2] } else { [0, 1, -1, -2, 2] };
            order.iter().filter_map(|by| wanted.checked_add_signed(*by)).find(is_weekday).unwrap()
        })
    };
    match rule {
        ("month", ..) => days.contains(&day),
        ("week", ..) => days.contains(&weekday(day)),
        ("L", before, _) => day + before == length,
        ("LW", before, _) => length.checked_sub(before).and_then(nearest) == Some(day),
        ("W", wanted, _) => nearest(wanted) == Some(day),
        ("last", wanted, _) => weekday(day) == wanted && day + 7 > length,
        ("#", wanted, nth) => {
            weekday(day) == wanted && (1..=day).filter(|d| weekday(*d) == wanted).count() as u32 == nth
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn generated_expressions_fire_exactly_at_the_seconds_that_match() {
    let mut random = Random(20_241_103);
    let mut fires = 0;
    for _ in 0..400 {
        let (second, seconds) = random_field(&mut random, 0, 59);
        let (minute, minutes) = random_field(&mut random, 0, 59);
        let (hour, hours) = random_field(&mut random, 0, 23);
        let (month, months) = random_field(&mut random, 1, 12);
        let kind = random.pick(&["month", "week", "L", "LW", "W", "last", "#"]);
        let (of_month, days_of_month) = random_field(&mut random, 1, 31);
        let (of_week, days_of_week) = random_field(&mut random, 1, 7);
        let (before, day, weekday, nth) =
            (random.below(31), 1 + random.below(31), 1 + random.below(7), 1 + random.below(5));
        let (days, rule, listed) = match kind {
            "month" => (format!("{of_month} {month} ?"), (kind, 0, 0), days_of_month),
            "week" => (format!("? {month} {of_week}"), (kind, 0, 0), days_of_week),
            "L" => (format!("L-{before} {month} ?"), (kind, before, 0), vec![]),
            "LW" => (format!("L-{before}W {month} ?"), (kind, before, 0), vec![]),
            "W" => (format!("{day}W {month} ?"), (kind, day, 0), vec![]),
            "last" => (format!("? {month} {weekday}L"), (kind, weekday, 0), vec![]),
            _ => (format!("? {month} {weekday}#{nth}"), (kind, weekday, nth), vec![]),
        };
        let text = format!("{second} {minute} {hour} {days}");
        let cron = parse(&text);
        let day_is_on = |day: i64| {
            let date = civil_date(day);
            months.contains(&date.1) && day_matches(rule, &listed, date)
        };

        // Walks three years day by day, then one day second by second.
        let first_day = epoch_day(2023 + i64::from(random.below(40)), 1 + random.below(12), 1);
        let matching: Vec<i64> = (first_day..first_day + 1100).filter(|day| day_is_on(*day)).collect();
        let mut found = Vec::new();
        let mut at = first_day * 86_400 - 1;
        while let Some(fire) = cron.next_after(at).filter(|fire| *fire < (first_day + 1100) * 86_400) {
            found.push(fire / 86_400);
            at = fire / 86_400 * 86_400 + 86_399;
        }
        assert_eq!(found, matching, "{text}");

        let Some(day) = matching.first() else { continue };
        let of_day = |t: &i64| {
            let t = *t as u32;
            hours.contains(&(t / 3600)) && minutes.contains(&(t / 60 % 60)) && seconds.contains(&(t % 60))
        };
        let mut at = day * 86_400 - 1;
        for expected in (0..86_400).filter(of_day) {
            at = cron.next_after(at).unwrap();
            assert_eq!(at, day * 86_400 + expected, "{text}");
            fires += 1;
        }
        assert!(cron.next_after(at).is_none_or(|next| next >= (day + 1) * 86_400), "{text}");
    }
    assert!(fires > 50_000, "the generator must produce expressions that fire, {fires}");
}
