//! Local times of a zone.

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use elasticjob::schedule::TimeZone;

/// The instant at which the clocks of a zone show a time.
pub(crate) fn instant_of(local: NaiveDateTime, zone: TimeZone) -> Option<DateTime<Utc>> {
    let local = local.and_utc();
    // The offset of that moment, which near a change of the clocks is not the one that the local time read as UTC has.
    let offset = |at: DateTime<Utc>| TimeDelta::seconds(zone.offset_at(at.timestamp()).into());
    let near = local.checked_sub_signed(offset(local))?;
    local.checked_sub_signed(offset(near))
}
