//! Values that a database refuses although they only ask for rows that it cannot have: those are found in no row.

use chrono::{DateTime, Utc};

/// A condition that no row fulfils.
pub(super) const NO_ROW: &str = " AND 1 = 0";

/// The longest pattern that SQLite takes, in bytes. No column has a text that long.
const LONGEST_PATTERN: usize = 50_000;

/// The years 1000 and 9999, in seconds since 1970: MySQL has no time before and after, and a day is left for zones.
const EARLIEST: i64 = -30_610_137_600;
const LATEST: i64 = 253_402_128_000;

/// Whether no column has this text: PostgreSQL refuses a zero character, and rows are written without it.
pub(super) fn is_in_no_column(text: &str) -> bool {
    text.contains('\0')
}

/// Whether no column has a text like this pattern.
pub(super) fn fits_no_column(pattern: &str) -> bool {
    is_in_no_column(pattern) || pattern.len() > LONGEST_PATTERN
}

/// The time, or the nearest one that every database can compare with.
pub(super) fn comparable(at: DateTime<Utc>) -> DateTime<Utc> {
    let far = |seconds| DateTime::from_timestamp(seconds, 0).unwrap_or_default();
    at.clamp(far(EARLIEST), far(LATEST))
}

/// The same for a time in microseconds since 1970.
pub(super) fn comparable_micros(time: i64) -> DateTime<Utc> {
    let beyond = if time < 0 { DateTime::<Utc>::MIN_UTC } else { DateTime::<Utc>::MAX_UTC };
    comparable(DateTime::from_timestamp_micros(time).unwrap_or(beyond))
}
