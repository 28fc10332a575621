//! Days of the Gregorian calendar, counted from 1970-01-01.

pub(crate) const SECONDS_PER_DAY: i64 = 86_400;

pub(crate) fn days_in_month(year: i64, month: u32) -> u32 {
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
