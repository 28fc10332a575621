//! Times as ElasticJob-Cloud writes them: `yyyy-MM-dd HH:mm:ss`, here in UTC; RFC 3339 is read as well.

use chrono::{DateTime, Duration, NaiveDateTime, SecondsFormat, Utc};

use super::answer::Refusal;
use super::guard::Parameters;
use crate::texts;

/// The form of times in parameters.
const FORM: &str = "%Y-%m-%d %H:%M:%S";

/// A time in a parameter.
pub(super) fn time(parameters: &Parameters, name: &str) -> Result<Option<DateTime<Utc>>, Refusal> {
    let Some(text) = parameters.get(name).filter(|text| !text.is_empty()) else { return Ok(None) };
    let of_form = || NaiveDateTime::parse_from_str(text, FORM).ok().map(|time| time.and_utc());
    let of_rfc = || DateTime::parse_from_rfc3339(text).ok().map(|time| time.to_utc());
    of_form().or_else(of_rfc).map(Some).ok_or_else(|| Refusal::bad(texts::no_time(name, text)))
}

/// The beginning of a span that has a name.
pub(super) fn since(name: &str, now: DateTime<Utc>) -> Result<Option<DateTime<Utc>>, Refusal> {
    let span = match name {
        "online" => return Ok(None),
        "lastWeek" => Duration::days(7),
        "last24hours" => Duration::hours(24),
        "lastHour" => Duration::hours(1),
        "lastMinute" => Duration::minutes(1),
        other => return Err(Refusal::not_found(texts::no_such_span(other))),
    };
    Ok(Some(now - span))
}

/// A time in an answer.
pub(super) fn written(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}
