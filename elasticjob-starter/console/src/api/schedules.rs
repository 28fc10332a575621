//! Previews the fires of an expression.

use axum::Json;
use elasticjob::schedule::{ClockChange, Schedule};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Problem;
use super::body::Body;
use crate::here::Who;
use crate::schedule_words;
use crate::service::now;
use crate::service::time::Time;
use crate::texts;

/// The longest expression that is read.
const LONGEST: usize = 256;

/// The most fires that are computed.
const MOST: usize = 50;

/// An expression.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Expression {
    cron: String,
    /// That of the host of the console where none is given.
    time_zone: Option<String>,
    /// The number of fires, from 1 to 50; 5 unless it is said.
    count: Option<usize>,
    /// The fires after this time, as RFC 3339 has it; now unless it is said.
    from: Option<String>,
}

/// Its fires.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Fires {
    /// The meaning of the expression, in the language of the header Accept-Language; `null` where it has no short words.
    words: Option<String>,
    fires: Vec<ComingFire>,
    /// Whether there are no others.
    ends: bool,
}

/// One fire.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ComingFire {
    #[schema(value_type = String)]
    at: Time,
    /// In the zone of the expression.
    local: String,
    /// `repeated`: the local time comes twice, and it fires at the later one; `skipped`: a fire before it falls into the
    /// time that clocks skip.
    clock_change: Option<&'static str>,
}

/// The coming fires of an expression
#[utoipa::path(post, path = "/api/v1/schedules/previews", tag = "schedules", request_body = Expression,
    responses((status = 200, body = Fires), (status = "default", body = Problem)))]
pub(crate) async fn preview(who: Who, Body(wanted): Body<Expression>) -> Result<Json<Fires>, Problem> {
    if wanted.cron.chars().count() > LONGEST {
        return Err(Problem::bad_request(texts::expression_too_long(LONGEST)));
    }
    let count = wanted.count.unwrap_or(5);
    if !(1..=MOST).contains(&count) {
        return Err(Problem::bad_request(format!("count is from 1 to {MOST}")));
    }
    let from = wanted.from.as_deref().map(chrono::DateTime::parse_from_rfc3339).transpose();
    let from = from.map_err(|wrong| Problem::bad_request(format!("from is not a time as RFC 3339 has it: {wrong}")))?;
    let schedule = Schedule::parse(&wanted.cron, wanted.time_zone.as_deref());
    let schedule = schedule.map_err(|wrong| Problem::wrong_schedule(&wrong))?;
    let fires = coming(&schedule, from.map_or_else(now, |from| from.timestamp_millis()), count);
    Ok(Json(Fires { words: schedule_words::of(&who.text, &wanted.cron), ends: fires.len() < count, fires }))
}

/// The fires of a schedule after a time.
pub(super) fn coming(schedule: &Schedule, mut after: i64, count: usize) -> Vec<ComingFire> {
    let next = std::iter::from_fn(|| {
        let fire = schedule.next_fire_after(after)?;
        after = fire.at;
        let clock_change = fire.clock_change.map(|change| match change {
            ClockChange::Skipped => "skipped",
            ClockChange::Repeated => "repeated",
        });
        Some(ComingFire { at: Time(fire.at), local: schedule.format_rfc3339(fire.at), clock_change })
    });
    next.take(count).collect()
}
