//! The Quartz cron dialect: parser and evaluator on civil time.
//!
//! It uses no time zones and no clocks.
//!
//! Six or seven fields: second, minute, hour, day-of-month, month, day-of-week and, optionally, year. Exactly one of
//! the two day fields is `?`. Accepted as Quartz does: ranges that wrap (`22-3`), a step of zero (`0/0` is `0`), any
//! step after a range, empty list members (`1,,2`), text behind a three-letter name (`MONDAY`, and the step of
//! `MON-FRI/2`, have no effect), list members beside `15W` or `MON#1` (the lowest one counts), fields after the seventh.
//!
//! Refused, although Quartz accepts it, because Quartz would ignore part of the text, or because that part could never
//! fire: other trailing characters (`5x`, `*5`, `1-6L`), `?` in a list, `L-3` and `LW` as day-of-week, zero as end of a
//! range that starts at one, years outside 1970 to 2225 (Quartz ends a hundred years after the current year; this
//! parser reads no clock).
//!
//! A day that a month does not have is skipped. Quartz differs for `31W` in a 30-day month and `30W` in a 29-day
//! February: it fires on the month's last day where that is a Friday. For `L-30W` it loops for ever in a 30-day month;
//! here those months are skipped.

mod error;
mod evaluate;
mod field;
mod parse;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

pub use error::CronError;
pub use field::CronField;

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

/// The days of a month that match. Days of the month are bits 1 to 31, days of the week bits 0 (Sunday) to 6.
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
        parse::parse(source).map_err(|fault| CronError {
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
}
