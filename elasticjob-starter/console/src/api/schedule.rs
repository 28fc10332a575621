//! `/registries/{registry}/jobs/{job}/schedule`: what the schedule of a job had, and what it will have.

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

use super::Problem;
use super::fires::FireView;
use super::named::OfJob;
use super::schedules::{ComingFire, coming};
use crate::pages::time::Clock;
use crate::service::fires::{Became, Expected, FireId, expected};
use crate::service::job::look;
use crate::service::time::Time;

/// How many fires are answered of the past, and how many of the future.
const COUNT: usize = 20;

/// The schedule of a job.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ScheduleView {
    job: String,
    /// `null` for a job without a schedule.
    cron: Option<String>,
    time_zone: Option<String>,
    /// Since when it is known what should have been: the configuration was written last.
    #[schema(value_type = Option<String>, format = DateTime)]
    planned_since: Option<Time>,
    /// Whether what became of fires is known from traces; else only the last run of each item is known.
    traced: bool,
    /// The last 20 fires of the schedule, the newest first.
    past: Vec<ExpectedView>,
    /// The next 20 fires.
    coming: Vec<ComingFire>,
}

/// A fire of the schedule, with what became of it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExpectedView {
    /// Its name in addresses.
    fire: String,
    #[schema(value_type = String, format = DateTime)]
    scheduled_at: Time,
    /// RAN, NO_RUN, DUE (no run so far, for less than a minute) or NOT_KNOWN.
    state: &'static str,
    /// The run of the fire.
    ran: Option<FireView>,
    /// The kinds of the decisions about a fire without a run.
    decisions: Vec<String>,
}

impl From<Expected> for ExpectedView {
    fn from(expected: Expected) -> Self {
        let state = expected.became.as_str();
        let (ran, decisions) = match expected.became {
            Became::Ran(fire) => (Some(FireView::from(&fire)), Vec::new()),
            Became::NoRun(kinds) => (None, kinds),
            Became::Due | Became::NotKnown => (None, Vec::new()),
        };
        let fire = FireId::Scheduled(expected.at).to_string();
        Self { fire, scheduled_at: Time(expected.at), state, ran, decisions }
    }
}

/// The schedule of a job: expected against actual
///
/// The last 20 fires that it had since the configuration was written, with what became of each, and the next 20. Why a fire did
/// not run says `/past?at=`.
#[utoipa::path(get, path = "/api/v1/registries/{registry}/jobs/{job}/schedule", tag = "schedules",
    responses((status = 200, body = ScheduleView), (status = "default", body = Problem)))]
pub(crate) async fn show(of: OfJob) -> Result<Json<ScheduleView>, Problem> {
    let (snapshot, _) = look(&of.here, &of.job).await?;
    let schedule = snapshot.usable().and_then(|configuration| configuration.schedule());
    let clock = Clock::of(schedule);
    let past = expected(&of.here, &snapshot, &clock, COUNT).await?;
    Ok(Json(ScheduleView {
        job: of.job.to_string(),
        cron: schedule.map(|schedule| schedule.cron().to_string()),
        time_zone: schedule.map(|schedule| schedule.time_zone().to_string()),
        planned_since: schedule.and(snapshot.configured_since()).map(Time),
        traced: of.here.registry.trace_reader().is_some(),
        past: past.into_iter().map(ExpectedView::from).collect(),
        coming: schedule.map(|schedule| coming(schedule, clock.now, COUNT)).unwrap_or_default(),
    }))
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;
    use elasticjob::config::JobSettings;
    use elasticjob::registry::memory::MemoryRegistry;
    use serde_json::Value;

    use crate::testing::{call, console_of, cookie_of, request, start_job};

    #[tokio::test]
    async fn a_job_has_its_schedule_also_where_nothing_is_traced() {
        let memory = MemoryRegistry::new();
        let _job = start_job(&memory, "settle", &JobSettings::default()).await;
        let console = console_of(&memory);
        let viewer = cookie_of(&console, "viewer").await;
        let path = "/api/v1/registries/default/jobs/settle/schedule";
        let answer = call(&console, request("GET", path, Some(&viewer))).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
        let schedule: Value = serde_json::from_str(&answer.body).expect("it is JSON");
        assert_eq!((&schedule["cron"], &schedule["timeZone"]), (&"0 0 0 1 1 ?".into(), &"UTC".into()));
        assert_eq!((&schedule["traced"], schedule["past"].as_array().map(Vec::len)), (&false.into(), Some(0)));
        assert_eq!(schedule["coming"].as_array().map(Vec::len), Some(20), "{schedule}");
        assert!(schedule["plannedSince"].is_string() && schedule["coming"][0]["at"].is_string(), "{schedule}");
        let unknown = call(&console, request("GET", &path.replace("settle", "other"), Some(&viewer))).await;
        assert_eq!(unknown.status, StatusCode::NOT_FOUND);
    }
}
