//! The fields of a cron expression: their names, limits and three-letter names.

use std::fmt;

use crate::message::Message;
use crate::texts;

pub(super) const FIRST_YEAR: u32 = 1970;
pub(super) const LAST_YEAR: u32 = FIRST_YEAR + 255;
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

    pub(super) fn min(self) -> u32 {
        match self {
            Self::Second | Self::Minute | Self::Hour => 0,
            Self::DayOfMonth | Self::Month | Self::DayOfWeek => 1,
            Self::Year => FIRST_YEAR,
        }
    }

    pub(super) fn max(self) -> u32 {
        match self {
            Self::Second | Self::Minute => 59,
            Self::Hour => 23,
            Self::DayOfMonth => 31,
            Self::Month => 12,
            Self::DayOfWeek => 7,
            Self::Year => LAST_YEAR,
        }
    }

    pub(super) fn names(self) -> &'static [&'static str] {
        match self {
            Self::Month => MONTH_NAMES,
            Self::DayOfWeek => DAY_NAMES,
            _ => &[],
        }
    }

    pub(super) fn is_day(self) -> bool {
        matches!(self, Self::DayOfMonth | Self::DayOfWeek)
    }

    /// The values that the field allows, for messages.
    pub(super) fn allowed(self) -> Message {
        match self {
            Self::Month => texts::cron_allowed_month(),
            Self::DayOfWeek => texts::cron_allowed_day(),
            _ => texts::cron_allowed(self.min(), self.max()),
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
