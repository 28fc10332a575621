//! Finds what became of a past fire.

use elasticjob::ident::JobName;
use elasticjob::operations::{PastError, PastFire};
use elasticjob::schedule::TimeZone;

use super::history::time;
use crate::api::Problem;
use crate::here::Here;
use crate::texts;

/// The fire of a job at a time, or the first one up to a minute later. The time is RFC 3339, or a local time of the zone.
pub(crate) async fn past(here: &Here, job: &JobName, at: &str, zone: TimeZone) -> Result<PastFire, Problem> {
    let missing = || Problem::bad_request(texts::field_time_missing("at"));
    let at = time("at", at, zone)?.ok_or_else(missing)?;
    let reader = here.registry.trace_reader().ok_or_else(Problem::not_traced)?;
    here.views().past_fire(reader, job, at).await.map_err(|error| match error {
        PastError::Operation(error) => error.into(),
        PastError::Traces(error) => error.into(),
        error => Problem::traces_unreadable(error.to_string()),
    })
}
