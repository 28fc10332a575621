//! The Quartz cron dialect: parser and evaluator on civil time.
//!
//! This file depends on nothing but the standard library: the macros crate compiles it a second time, through a
//! symbolic link, to check schedules at compile time. It knows neither time zones nor clocks.
//!
//! Six or seven fields: second, minute, hour, day-of-month, month, day-of-week and, optionally, year. Exactly one of
//! the two day fields is `?`. Accepted as Quartz does: ranges that wrap (`22-3`), a step of zero (`0/0` is `0`), any
//! step after a range, empty list members (`1,,2`), text behind a three-letter name (`MONDAY`, and the step of
//! `MON-FRI/2`, have no effect), list members beside `15W` or `MON#1` (the lowest one counts), fields after the seventh.
//!
//! Refused although Quartz takes it, because part of the text would be dropped or could never fire: other trailing
//! characters (`5x`, `*5`, `1-6L`), `?` in a list, `L-3` and `LW` as day-of-week, zero as end of a range that starts
//! at one, years outside 1970 to 2225 (Quartz ends a hundred years after the current one; this file reads no clock).
//!
//! A day that a month does not have is skipped. Quartz differs for `31W` in a 30-day month and `30W` in a 29-day
//! February: it fires on the month's last day where that is a Friday. For `L-30W` it loops for ever in a 30-day month;
//! here those months are skipped.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

const SECONDS_PER_DAY: i64 = 86_400;
const FIRST_YEAR: u32 = 1970;
const LAST_YEAR: u32 = FIRST_YEAR + 255;
const MONTH_NAMES: &[&str] = &["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const DAY_NAMES: &[&str] = &["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/// One field of a cron expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CronField {
    /// Second, 0 to 59.
    Second,
    /// Minute, 0 to 59.
    Minute,
    /// Hour, 0 to 23.
    Hour,
    /// Day of the month, 1 to 31.
    DayOfMonth,
    /// Month, 1 to 12 or JAN to DEC.
    Month,
    /// Day of the week, 1 to 7 or SUN to SAT.
    DayOfWeek,
    /// Year, 1970 to 2225.
    Year,
}

impl CronField {
    /// The fields in the order in which they are written.
    pub const ALL: [Self; 7] =
        [Self::Second, Self::Minute, Self::Hour, Self::DayOfMonth, Self::Month, Self::DayOfWeek, Self::Year];

    fn min(self) -> u32 {
        match self {
            Self::Second | Self::Minute | Self::Hour => 0,
            Self::DayOfMonth | Self::Month | Self::DayOfWeek => 1,
            Self::Year => FIRST_YEAR,
        }
    }

    fn max(self) -> u32 {
        match self {
            Self::Second | Self::Minute => 59,
            Self::Hour => 23,
            Self::DayOfMonth => 31,
            Self::Month => 12,
            Self::DayOfWeek => 7,
            Self::Year => LAST_YEAR,
        }
    }

    fn names(self) -> &'static [&'static str] {
        match self {
            Self::Month => MONTH_NAMES,
            Self::DayOfWeek => DAY_NAMES,
            _ => &[],
        }
    }

    fn is_day(self) -> bool {
        matches!(self, Self::DayOfMonth | Self::DayOfWeek)
    }

    /// What the field may hold, for messages.
    fn allowed(self) -> &'static str {
        match self {
            Self::Second | Self::Minute => "0 to 59",
            Self::Hour => "0 to 23",
            Self::DayOfMonth => "1 to 31",
            Self::Month => "1 to 12 or JAN to DEC",
            Self::DayOfWeek => "1 to 7 (1 is Sunday) or SUN to SAT",
            Self::Year => "1970 to 2225",
        }
    }
}

impl fmt::Display for CronField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Second => "second",
            Self::Minute => "minute",
            Self::Hour => "hour",
            Self::DayOfMonth => "day-of-month",
            Self::Month => "month",
            Self::DayOfWeek => "day-of-week",
            Self::Year => "year",
        })
    }
}

/// Why a text is not a cron expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CronError {
    /// The text that was parsed.
    pub expression: String,
    /// The field at fault; none when the expression as a whole is.
    pub field: Option<CronField>,
    /// The bytes of the expression at fault.
    pub span: Range<usize>,
    /// What is wrong and what would be right, without the name of the field.
    pub reason: String,
}

impl CronError {
    /// The expression, and under it a caret line with the reason:
    ///
    /// ```text
    /// 0 0 24 * * ?
    ///     ^^ hour: 24 is out of range, allowed is 0 to 23
    /// ```
    pub fn caret(&self) -> String {
        let line: String = self.expression.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let width = |range: Range<usize>| self.expression.get(range).map_or(0, |text| text.chars().count());
        let carets = "^".repeat(width(self.span.clone()).max(1));
        let line = line.trim_end();
        format!("{line}\n{}{carets} {}", " ".repeat(width(0..self.span.start)), Cause(self))
    }
}

impl fmt::Display for CronError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cron expression '{}' is not valid: {}", self.expression, Cause(self))
    }
}

impl std::error::Error for CronError {}

struct Cause<'a>(&'a CronError);

impl fmt::Display for Cause<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(field) = self.0.field {
            write!(f, "{field}: ")?;
        }
        f.write_str(&self.0.reason)
    }
}

/// A parsed cron expression.
///
/// Times are *civil seconds*: seconds from 1970-01-01T00:00:00 to a wall-clock time, counted as if every day had
/// 86,400 seconds and without regard to any time zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CronExpression {
    source: Box<str>,
    seconds: u64,
    minutes: u64,
    years: [u64; 4],
    hours: u32,
    months: u16,
    days: DayRule,
}

/// Which days of a month match. Days of the month are bits 1 to 31, days of the week bits 0 (Sunday) to 6.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DayRule {
    OfMonth(u32),
    Last { days_before: u8 },
    LastWeekday { days_before: u8 },
    NearestWeekday { day: u8 },
    OfWeek(u8),
    LastOfWeek { weekday: u8 },
    NthOfWeek { weekday: u8, nth: u8 },
}

impl FromStr for CronExpression {
    type Err = CronError;

    fn from_str(source: &str) -> Result<Self, CronError> {
        parse(source).map_err(|fault| CronError {
            expression: source.to_owned(),
            field: fault.field,
            span: fault.span,
            reason: fault.reason,
        })
    }
}

impl fmt::Display for CronExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

impl CronExpression {
    /// The text this was parsed from, unchanged.
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// The first match strictly after a civil second; none when the schedule ends.
    pub fn next_after(&self, civil: i64) -> Option<i64> {
        let start = civil.saturating_add(1).max(0);
        let (day, second_of_day) = (start / SECONDS_PER_DAY, (start % SECONDS_PER_DAY) as u32);
        if day > epoch_day(LAST_YEAR.into(), 12, 31) {
            return None;
        }
        let (year, month, day_of_month) = civil_date(day);
        if self.matches_day(year, month, day_of_month)
            && let Some(second) = self.second_of_day_from(second_of_day)
        {
            return Some(day * SECONDS_PER_DAY + i64::from(second));
        }
        let day = self.day_from(year, month, day_of_month + 1)?;
        Some(day * SECONDS_PER_DAY + i64::from(self.second_of_day_from(0)?))
    }

    /// Whether there is no match from the start of a year on: a day that does not exist (`30 2`), or years gone by.
    pub fn never_fires(&self, from_year: i32) -> bool {
        self.next_after(epoch_day(from_year.into(), 1, 1) * SECONDS_PER_DAY - 1).is_none()
    }

    fn second_of_day_from(&self, second_of_day: u32) -> Option<u32> {
        let (hour, minute, second) = (second_of_day / 3600, second_of_day / 60 % 60, second_of_day % 60);
        let first_second = self.seconds.trailing_zeros();
        if self.hours >> hour & 1 == 1 {
            if self.minutes >> minute & 1 == 1
                && let Some(second) = lowest_from(self.seconds, second)
            {
                return Some(hour * 3600 + minute * 60 + second);
            }
            if let Some(minute) = lowest_from(self.minutes, minute + 1) {
                return Some(hour * 3600 + minute * 60 + first_second);
            }
        }
        let hour = lowest_from(self.hours.into(), hour + 1)?;
        Some(hour * 3600 + self.minutes.trailing_zeros() * 60 + first_second)
    }

    fn matches_day(&self, year: i64, month: u32, day: u32) -> bool {
        self.has_year(year) && self.months >> month & 1 == 1 && self.days.in_month(year, month) >> day & 1 == 1
    }

    fn has_year(&self, year: i64) -> bool {
        let index = (year - i64::from(FIRST_YEAR)) as usize;
        self.years[index / 64] >> (index % 64) & 1 == 1
    }

    /// The first matching day, as days since 1970-01-01, from a date on whose day may lie past the end of its month.
    fn day_from(&self, mut year: i64, mut month: u32, mut day: u32) -> Option<i64> {
        while year <= LAST_YEAR.into() {
            if self.has_year(year) {
                while let Some(next) = lowest_from(self.months.into(), month) {
                    if next != month {
                        (month, day) = (next, 1);
                    }
                    if let Some(day) = lowest_from(self.days.in_month(year, month), day) {
                        return Some(epoch_day(year, month, day));
                    }
                    (month, day) = (month + 1, 1);
                }
            }
            (year, month, day) = (year + 1, 1, 1);
        }
        None
    }
}

impl DayRule {
    /// The matching days of one month, as bits 1 to 31.
    fn in_month(self, year: i64, month: u32) -> u64 {
        let length = days_in_month(year, month);
        let existing = (1 << (length + 1)) - 2;
        if let Self::OfMonth(days) = self {
            return u64::from(days) & existing;
        }
        // 1970-01-01 was a Thursday
        let first_weekday = (epoch_day(year, month, 1) + 4).rem_euclid(7) as u32;
        let first_on = |weekday: u8| 1 + (u32::from(weekday) + 7 - first_weekday) % 7;
        let day = match self {
            Self::OfMonth(days) => return u64::from(days) & existing,
            Self::OfWeek(weekdays) => {
                let weekdays = u64::from(weekdays);
                let week = (weekdays | weekdays << 7) >> first_weekday & 0x7f;
                return (week | week << 7 | week << 14 | week << 21 | week << 28) << 1 & existing;
            }
            Self::Last { days_before } => length.saturating_sub(days_before.into()),
            Self::LastWeekday { days_before } => {
                nearest_weekday(length.saturating_sub(days_before.into()), first_weekday, length)
            }
            Self::NearestWeekday { day } => nearest_weekday(day.into(), first_weekday, length),
            Self::LastOfWeek { weekday } => {
                let first = first_on(weekday);
                first + (length - first) / 7 * 7
            }
            Self::NthOfWeek { weekday, nth } => first_on(weekday) + 7 * (u32::from(nth) - 1),
        };
        1 << day & existing
    }
}

/// The weekday nearest to a day without leaving the month; 0 when the month has no such day.
fn nearest_weekday(day: u32, first_weekday: u32, length: u32) -> u32 {
    if day == 0 || day > length {
        return 0;
    }
    match (first_weekday + day - 1) % 7 {
        6 if day == 1 => 3,
        6 => day - 1,
        0 if day == length => day - 2,
        0 => day + 1,
        _ => day,
    }
}

fn lowest_from(bits: u64, from: u32) -> Option<u32> {
    let rest = bits.checked_shr(from)?;
    (rest != 0).then(|| from + rest.trailing_zeros())
}

fn days_in_month(year: i64, month: u32) -> u32 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 to a date of the Gregorian calendar.
pub fn epoch_day(year: i64, month: u32, day: u32) -> i64 {
    // Years are counted from March, so that the leap day is the last day of a year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let before_month = (153 * month + 2) / 5;
    365 * year + leap_days + i64::from(before_month + day) - 719_469
}

/// Year, month and day of the Gregorian calendar, of a day counted from 1970-01-01.
pub fn civil_date(epoch_day: i64) -> (i64, u32, u32) {
    let day = epoch_day + 719_468;
    let (era, day) = (day.div_euclid(146_097), day.rem_euclid(146_097) as u32);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next_year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + i64::from(year + next_year), month, day)
}

struct Fault {
    field: Option<CronField>,
    span: Range<usize>,
    reason: String,
}

/// What one field says: its values, counted from the field's lowest, and how the day fields bend their meaning.
#[derive(Default)]
struct FieldValues {
    bits: [u64; 4],
    mark: Mark,
}

#[derive(Default, Clone, Copy, PartialEq)]
enum Mark {
    #[default]
    None,
    Unspecified,
    Last {
        days_before: u8,
    },
    LastWeekday {
        days_before: u8,
    },
    NearestWeekday,
    LastOfWeek,
    Nth(u8),
}

impl FieldValues {
    fn insert(&mut self, index: u32) {
        self.bits[index as usize / 64] |= 1 << (index % 64);
    }

    fn lowest(&self) -> u8 {
        self.bits[0].trailing_zeros() as u8
    }
}

fn parse(source: &str) -> Result<CronExpression, Fault> {
    let upper = source.to_ascii_uppercase();
    let words: Vec<(usize, &str)> =
        upper.split_ascii_whitespace().map(|word| (word.as_ptr() as usize - upper.as_ptr() as usize, word)).collect();
    check_word_count(source, &words)?;

    let mut fields: [FieldValues; 7] = Default::default();
    for ((field, values), (start, text)) in CronField::ALL.into_iter().zip(&mut fields).zip(&words) {
        *values = FieldParser { field, start: *start, text, values: FieldValues::default() }.parse()?;
    }
    let [seconds, minutes, hours, days_of_month, months, days_of_week, years] = &fields;
    let years = if words.len() < 7 { [u64::MAX; 4] } else { years.bits };
    let days = day_rule(days_of_month, days_of_week).map_err(|reason| {
        let (start, text) = words[5];
        Fault { field: Some(CronField::DayOfWeek), span: start..start + text.len(), reason: reason.to_owned() }
    })?;
    Ok(CronExpression {
        source: source.into(),
        seconds: seconds.bits[0],
        minutes: minutes.bits[0],
        hours: hours.bits[0] as u32,
        months: (months.bits[0] << 1) as u16,
        days,
        years,
    })
}

fn check_word_count(source: &str, words: &[(usize, &str)]) -> Result<(), Fault> {
    let fault = |span, reason| Err(Fault { field: None, span, reason });
    const FORM: &str = "'second minute hour day-of-month month day-of-week [year]'";
    let (Some((start, first)), Some((end, last))) = (words.first(), words.last()) else {
        return fault(0..source.len(), format!("it is blank, needed are the fields {FORM}"));
    };
    let span = *start..end + last.len();
    if first.starts_with('@') {
        let meaning = match *first {
            "@YEARLY" | "@ANNUALLY" => "0 0 0 1 1 ?",
            "@MONTHLY" => "0 0 0 1 * ?",
            "@WEEKLY" => "0 0 0 ? * SUN",
            "@HOURLY" => "0 0 * * * ?",
            _ => "0 0 0 * * ?",
        };
        return fault(span, format!("Quartz has no '@' short forms, write it out as for example '{meaning}'"));
    }
    match words.len() {
        5 => fault(span, format!("it has 5 fields, needed are 6 or 7: {FORM}; is the second missing in front?")),
        n if n < 6 => {
            fault(span, format!("it has {n} field{}, needed are 6 or 7: {FORM}", if n == 1 { "" } else { "s" }))
        }
        _ => Ok(()),
    }
}

fn day_rule(of_month: &FieldValues, of_week: &FieldValues) -> Result<DayRule, &'static str> {
    let weekday = of_week.lowest();
    Ok(match (of_month.mark, of_week.mark) {
        (Mark::Unspecified, Mark::Unspecified) => {
            return Err(
                "'?' stands in day-of-month and day-of-week, but one of them must say the day, for example '*'",
            );
        }
        (Mark::Unspecified, Mark::LastOfWeek) => DayRule::LastOfWeek { weekday },
        (Mark::Unspecified, Mark::Nth(nth)) => DayRule::NthOfWeek { weekday, nth },
        (Mark::Unspecified, _) => DayRule::OfWeek(of_week.bits[0] as u8),
        (Mark::Last { days_before }, Mark::Unspecified) => DayRule::Last { days_before },
        (Mark::LastWeekday { days_before }, Mark::Unspecified) => DayRule::LastWeekday { days_before },
        (Mark::NearestWeekday, Mark::Unspecified) => DayRule::NearestWeekday { day: of_month.lowest() + 1 },
        (_, Mark::Unspecified) => DayRule::OfMonth((of_month.bits[0] << 1) as u32),
        _ => return Err("day-of-month and day-of-week cannot both be given, one of them must be '?'"),
    })
}

/// Parses the list in one field. All positions are relative to the field's text.
struct FieldParser<'a> {
    field: CronField,
    start: usize,
    text: &'a str,
    values: FieldValues,
}

impl<'a> FieldParser<'a> {
    fn parse(mut self) -> Result<FieldValues, Fault> {
        if self.text == "?" {
            if !self.field.is_day() {
                return self
                    .fault(0..1, "'?' is only for day-of-month and day-of-week, write '*' for every value".into());
            }
            self.values.mark = Mark::Unspecified;
            return Ok(self.values);
        }
        if self.text.bytes().all(|b| b == b',') {
            return self.fault(0..self.text.len(), "the list has no value".into());
        }
        if self.field.is_day() && self.text.contains(',') {
            if let Some(at) = self.text.find('L') {
                return self.fault(at..at + 1, "'L' cannot be combined with other days in a list".into());
            }
            if let Some(at) = self.text.rfind('#').filter(|at| self.text.find('#') != Some(*at)) {
                return self.fault(at..at + 1, "a list can hold only one '#'".into());
            }
        }
        let mut at = 0;
        for item in self.text.split(',') {
            if !item.is_empty() {
                self.item(at, item)?;
            }
            at += item.len() + 1;
        }
        Ok(self.values)
    }

    fn item(&mut self, at: usize, item: &'a str) -> Result<(), Fault> {
        let first = item.chars().next().unwrap_or(' ');
        match first {
            '*' | '/' => self.every(at, item),
            '0'..='9' => self.number_item(at, item),
            'L' if self.field.is_day() => self.last(at, item),
            'A'..='Z' => self.name_item(at, item),
            '?' => self.fault(at..at + item.len(), "'?' must be the whole field".into()),
            other => self.unexpected(at, other, ""),
        }
    }

    /// `*`, `*/n` and `/n`.
    fn every(&mut self, at: usize, item: &'a str) -> Result<(), Fault> {
        let rest = item.strip_prefix('*').unwrap_or(item);
        let rest_at = at + item.len() - rest.len();
        let mut step = 1;
        if let Some(text) = rest.strip_prefix('/') {
            step = self.whole_number(rest_at + 1, text, "'/'")?;
            self.check_step(rest_at + 1, text, step)?;
        } else if let Some(other) = rest.chars().next() {
            return self.unexpected(rest_at, other, " after '*'");
        }
        // Quartz takes a step of zero behind `*` as one, though behind a number it leaves the number alone.
        self.insert_range(self.field.min(), self.field.max(), step.max(1));
        Ok(())
    }

    /// `n`, `n/step`, `n-m`, `n-m/step`, and of the days `nW`, `nL` and `n#nth`.
    fn number_item(&mut self, at: usize, item: &'a str) -> Result<(), Fault> {
        let (value, rest_at, rest) = self.value(at, item)?;
        let Some(sign) = rest.chars().next() else {
            self.insert_range(value, value, 1);
            return Ok(());
        };
        let (tail_at, tail) = (rest_at + sign.len_utf8(), &rest[sign.len_utf8()..]);
        match sign {
            '-' => {
                let (end, rest_at, rest) = self.value(tail_at, tail)?;
                if end < value && self.field == CronField::Year {
                    let reason = format!("the range of years ends before it starts, is '{end}-{value}' meant?");
                    return self.fault(at..rest_at, reason);
                }
                let step = match rest.strip_prefix('/') {
                    Some(text) => self.whole_number(rest_at + 1, text, "'/'")?,
                    None => match rest.chars().next() {
                        Some(other) => return self.unexpected(rest_at, other, " after a range"),
                        None => 1,
                    },
                };
                self.insert_range(value, if step == 0 { value } else { end }, step.max(1));
            }
            '/' => {
                let step = self.whole_number(tail_at, tail, "'/'")?;
                self.check_step(tail_at, tail, step)?;
                self.insert_range(value, if step == 0 { value } else { self.field.max() }, step.max(1));
            }
            'W' if self.field == CronField::DayOfMonth && tail.is_empty() => {
                self.insert_range(value, value, 1);
                self.values.mark = Mark::NearestWeekday;
            }
            'L' if self.field == CronField::DayOfWeek && tail.is_empty() => {
                self.insert_range(value, value, 1);
                self.values.mark = Mark::LastOfWeek;
            }
            '#' if self.field == CronField::DayOfWeek => {
                self.insert_range(value, value, 1);
                self.values.mark = self.nth(tail_at, tail)?;
            }
            'W' if tail.is_empty() => {
                return self.fault(rest_at..rest_at + 1, "'W' (nearest weekday) is only for day-of-month".into());
            }
            'L' if tail.is_empty() => {
                let reason = "'L' behind a number is only for day-of-week; in day-of-month 'L' comes first, as 'L-3'";
                return self.fault(rest_at..rest_at + 1, reason.into());
            }
            '#' => return self.fault(rest_at..rest_at + 1, "'#' (nth of the month) is only for day-of-week".into()),
            other => return self.unexpected(rest_at, other, " after a number"),
        }
        Ok(())
    }

    /// `MON`, `MON-FRI`, `MONL` and `MON#2`; other text behind a name has no effect.
    fn name_item(&mut self, at: usize, item: &'a str) -> Result<(), Fault> {
        let value = self.name(at, item)?;
        let rest = &item[3..];
        let mut end = value;
        if let Some(text) = rest.strip_prefix('-') {
            end = self.name(at + 4, text)?;
        } else if self.field == CronField::DayOfWeek {
            if let Some(text) = rest.strip_prefix('#') {
                self.values.mark = self.nth(at + 4, text)?;
            } else if rest.starts_with('L') {
                self.values.mark = Mark::LastOfWeek;
            }
        }
        self.insert_range(value, end, 1);
        Ok(())
    }

    /// `L`, `L-n`, `LW` and `L-nW` as day-of-month, `L` (which is Saturday) as day-of-week.
    fn last(&mut self, at: usize, item: &'a str) -> Result<(), Fault> {
        let rest = &item[1..];
        if self.field == CronField::DayOfWeek {
            if !rest.is_empty() {
                let reason = "'L' alone is Saturday; the last Friday of the month is '6L' or 'FRIL'";
                return self.fault(at..at + item.len(), reason.into());
            }
            self.insert_range(7, 7, 1);
            return Ok(());
        }
        let (rest, weekday) = rest.strip_suffix('W').map_or((rest, false), |rest| (rest, true));
        let mut days_before = 0;
        if let Some(text) = rest.strip_prefix('-') {
            days_before = self.whole_number(at + 2, text, "'L-'")?;
            if days_before > 30 {
                let reason = format!("{days_before} days before the last day is too many, at most 30 are allowed");
                return self.fault(at + 2..at + 2 + text.len(), reason);
            }
        } else if let Some(other) = rest.chars().next() {
            return self.unexpected(at + 1, other, " after 'L', allowed are 'L', 'L-3', 'LW' and 'L-3W'");
        }
        let days_before = days_before as u8;
        self.values.mark = if weekday { Mark::LastWeekday { days_before } } else { Mark::Last { days_before } };
        Ok(())
    }

    fn nth(&self, at: usize, text: &str) -> Result<Mark, Fault> {
        match text.parse::<u8>() {
            Ok(nth @ 1..=5) => Ok(Mark::Nth(nth)),
            _ => self.fault(at..at + text.len(), "a number from 1 to 5 must follow '#', as in 'FRI#3'".into()),
        }
    }

    fn name(&self, at: usize, text: &str) -> Result<u32, Fault> {
        let names = self.field.names();
        if let Some(index) = text.get(..3).and_then(|name| names.iter().position(|known| *known == name)) {
            return Ok(index as u32 + 1);
        }
        let word_length = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
        let word = &text[..word_length];
        let reason = if names.is_empty() {
            format!("'{word}' is not a number, allowed is {}", self.field.allowed())
        } else if word.is_empty() || word.starts_with(|c: char| c.is_ascii_digit()) {
            format!("a range that starts with a name must end with one, allowed is {}", self.field.allowed())
        } else {
            format!("'{word}' is not a name of this field, allowed is {}", self.field.allowed())
        };
        self.fault(at..at + word_length, reason)
    }

    /// A value of this field and what follows it.
    fn value(&self, at: usize, text: &'a str) -> Result<(u32, usize, &'a str), Fault> {
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        if digits == 0 {
            return self
                .fault(at..at + text.len(), format!("a number must follow '-', allowed is {}", self.field.allowed()));
        }
        let value = saturating_number(&text[..digits]);
        if value < self.field.min() || value > self.field.max() {
            let reason = format!("{} is out of range, allowed is {}", &text[..digits], self.field.allowed());
            return self.fault(at..at + digits, reason);
        }
        Ok((value, at + digits, &text[digits..]))
    }

    fn whole_number(&self, at: usize, text: &str, behind: &str) -> Result<u32, Fault> {
        if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
            return self.fault(at..at + text.len(), format!("a number must follow {behind}"));
        }
        Ok(saturating_number(text))
    }

    fn check_step(&self, at: usize, text: &str, step: u32) -> Result<(), Fault> {
        let field = self.field;
        if step > field.max() && field != CronField::Year {
            return self.fault(
                at..at + text.len(),
                format!("the step {text} is too large, at most {} is allowed", field.max()),
            );
        }
        Ok(())
    }

    /// Every `step`-th value from `from` to `to`, over the end of the field and on from its start where `to` is lower.
    fn insert_range(&mut self, from: u32, to: u32, step: u32) {
        let (min, size) = (self.field.min(), self.field.max() - self.field.min() + 1);
        let end = if to < from { to + size } else { to };
        for value in (from..=end).step_by(step as usize) {
            self.values.insert((value - min) % size);
        }
    }

    fn unexpected<T>(&self, at: usize, found: char, place: &str) -> Result<T, Fault> {
        let reason = format!("unexpected '{found}'{place}");
        self.fault(at..at + found.len_utf8(), reason)
    }

    fn fault<T>(&self, span: Range<usize>, reason: String) -> Result<T, Fault> {
        Err(Fault { field: Some(self.field), span: self.start + span.start..self.start + span.end, reason })
    }
}

/// Digits as a number; larger than every limit here where it does not fit.
fn saturating_number(digits: &str) -> u32 {
    digits.parse().unwrap_or(u32::MAX)
}
