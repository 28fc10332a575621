//! `/registries/{registry}/jobs/{job}/fires`.

use axum::Json;
use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use serde::Serialize;
use utoipa::ToSchema;

use super::Problem;
use super::history::{Decision, Execution};
use super::jobs::parameters;
use super::named::{Names, OfJob};
use crate::pages::time::Clock;
use crate::service::fires::{
    Fire, FireId, FireOutcome, FirePage, FireQuery, Gap, OneFire, Run, Summary, Tally, list, one,
};
use crate::service::job::look;
use crate::service::time::Time;

/// The fires of a job, the newest first, with those that should have been.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FireList {
    fires: Vec<FireView>,
    /// Fires that should have been between these and have no run.
    missing: Vec<GapView>,
    /// Since when it is known what should have been: the configuration was written last. `null` for a one-off job.
    #[schema(value_type = Option<String>, format = DateTime)]
    planned_since: Option<Time>,
    /// The cursor of the next page.
    next: Option<String>,
}

/// A fire.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FireView {
    /// Its name in addresses: the scheduled time, or `began-` with the second in which runs without one began.
    fire: String,
    /// `null` for a fire that was triggered by hand, and where it was not recorded.
    #[schema(value_type = Option<String>, format = DateTime)]
    scheduled_at: Option<Time>,
    #[schema(value_type = Option<String>, format = DateTime)]
    began_at: Option<Time>,
    #[schema(value_type = Option<String>, format = DateTime)]
    ended_at: Option<Time>,
    duration_ms: Option<u64>,
    lateness_ms: Option<i64>,
    /// SUCCEEDED, RECOVERED (at a further run), PARTIAL (others did not run), FAILED, RUNNING or NO_END; `null` for a fire without runs.
    outcome: Option<&'static str>,
    /// The number of its items in each state, by the last run of each.
    items: ItemCounts,
    manual: bool,
    misfire: bool,
    failover: bool,
    /// Whether an item was run more than once.
    retried: bool,
    /// Whether it has more items than are read.
    cut: bool,
}

/// The numbers of items of a fire, by their state.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ItemCounts {
    done: usize,
    failed: usize,
    running: usize,
    no_end: usize,
    /// Items without a run, where it is known how many the fire has: its schedule had it since the configuration was
    /// written last.
    not_run: usize,
}

/// Fires that followed each other and have no run.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GapView {
    #[schema(value_type = String, format = DateTime)]
    first: Time,
    #[schema(value_type = String, format = DateTime)]
    last: Time,
    count: usize,
    /// Whether there were more than are counted; then `last` is the last one that was counted.
    more: bool,
    /// The kinds of decisions about them.
    decisions: Vec<String>,
}

/// A fire with the runs of its items, and the decisions about it and of its time.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FireDetail {
    #[serde(flatten)]
    fire: FireView,
    /// Whether the schedule has it; `null` where the configuration was written later.
    planned: Option<bool>,
    /// By item, then by start.
    runs: Vec<RunOfFire>,
    decisions: Vec<Decision>,
}

/// The run of an item of a fire.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunOfFire {
    #[serde(flatten)]
    execution: Execution,
    /// SUCCEEDED, FAILED, RUNNING, LOST (the item was run again) or NO_END.
    state: &'static str,
}

impl From<&Summary> for FireView {
    fn from(fire: &Summary) -> Self {
        let Tally { done, failed, running, no_end, not_run } = fire.tally;
        Self {
            fire: fire.id.to_string(),
            scheduled_at: fire.id.scheduled().map(Time),
            began_at: fire.began.map(Time),
            ended_at: fire.ended.map(Time),
            duration_ms: fire.took(),
            lateness_ms: fire.lateness(),
            outcome: fire.outcome.map(FireOutcome::as_str),
            items: ItemCounts { done, failed, running, no_end, not_run },
            manual: fire.is_by_hand,
            misfire: fire.is_misfire,
            failover: fire.is_failed_over,
            retried: fire.is_retried,
            cut: fire.is_cut,
        }
    }
}

impl From<&Fire> for FireView {
    fn from(fire: &Fire) -> Self {
        Self::from(&Summary::from(fire))
    }
}

impl From<Gap> for GapView {
    fn from(gap: Gap) -> Self {
        let Gap { first, last, count, is_cut, kinds } = gap;
        Self { first: Time(first), last: Time(last), count, more: is_cut, decisions: kinds }
    }
}

impl From<Run> for RunOfFire {
    fn from(run: Run) -> Self {
        Self { state: run.state.as_str(), execution: run.record.into() }
    }
}

/// The fires of a job
///
/// The newest first: those that ran, put together from the runs of their items, and those that should have been.
#[utoipa::path(get, path = "/api/v1/registries/{registry}/jobs/{job}/fires", tag = "history", params(FireQuery),
    responses((status = 200, body = FireList), (status = "default", body = Problem)))]
pub(crate) async fn fires(
    of: OfJob,
    query: Result<Query<FireQuery>, QueryRejection>,
) -> Result<Json<FireList>, Problem> {
    let query = parameters(query)?;
    let (snapshot, _) = look(&of.here, &of.job).await?;
    let clock = Clock::of(snapshot.usable().and_then(|it| it.schedule()));
    let FirePage { fires, gaps, planned_since, next, .. } = list(&of.here, &snapshot, &query, &clock, 0).await?;
    Ok(Json(FireList {
        fires: fires.iter().map(FireView::from).collect(),
        missing: gaps.into_iter().map(GapView::from).collect(),
        planned_since: planned_since.map(Time),
        next,
    }))
}

/// A fire with the runs of its items
///
/// A fire that has no run is answered as well, without runs, with what was decided about it.
#[utoipa::path(get, path = "/api/v1/registries/{registry}/jobs/{job}/fires/{fire}", tag = "history",
    responses((status = 200, body = FireDetail), (status = "default", body = Problem)))]
pub(crate) async fn fire(
    of: OfJob,
    Names((_, _, fire)): Names<(String, String, String)>,
) -> Result<Json<FireDetail>, Problem> {
    let id: FireId = fire.parse().map_err(Problem::bad_request)?;
    let (snapshot, _) = look(&of.here, &of.job).await?;
    let clock = Clock::of(snapshot.usable().and_then(|it| it.schedule()));
    let OneFire { fire, decisions, is_planned } = one(&of.here, &snapshot, id, &clock).await?;
    Ok(Json(FireDetail {
        fire: FireView::from(&fire),
        planned: is_planned,
        runs: fire.runs.into_iter().map(RunOfFire::from).collect(),
        decisions: decisions.into_iter().map(Decision::from).collect(),
    }))
}
