//! Finds the civil seconds that match an expression.

use super::field::{FIRST_YEAR, LAST_YEAR};
use super::{CronExpression, DayRule};
use crate::calendar::{SECONDS_PER_DAY, civil_date, days_in_month, epoch_day};

impl CronExpression {
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

    /// Whether there is no match from the start of a year on: the day does not exist (`30 2`), or the years are over.
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

    /// The first matching day on or after a date, as days since 1970-01-01. The day of that date may be past the end of
    /// its month.
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
