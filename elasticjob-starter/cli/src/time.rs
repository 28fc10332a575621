//! Times for readers.

use std::time::{SystemTime, UNIX_EPOCH};

use elasticjob::operations::JobSnapshot;
use elasticjob::schedule::{TimeZone, format_rfc3339};

/// Now, in milliseconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// The zone in which the times of a job are written: the zone of its schedule, else the zone of this process.
pub(crate) fn zone_of(job: &JobSnapshot) -> TimeZone {
    let of_schedule = job.usable().and_then(|configuration| Some(configuration.schedule()?.time_zone()));
    of_schedule.unwrap_or_else(|| TimeZone::local().unwrap_or(TimeZone::UTC))
}

/// A time in a zone; `-` where there is none.
pub(crate) fn or_dash(at: Option<i64>, zone: TimeZone) -> String {
    at.map_or_else(|| "-".to_owned(), |at| format_rfc3339(at, zone))
}
