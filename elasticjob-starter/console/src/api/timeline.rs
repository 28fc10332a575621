//! `/registries/{registry}/timeline`.

use axum::Json;
use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use serde::Serialize;
use utoipa::ToSchema;

use super::Problem;
use super::fires::{FireView, GapView};
use super::jobs::parameters;
use crate::here::Here;
use crate::service::now;
use crate::service::time::Time;
use crate::service::timeline::{self, Folded, Row, Timeline, TimelineQuery};

/// The fires of jobs in the same time.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TimelineView {
    #[schema(value_type = String, format = DateTime)]
    from: Time,
    #[schema(value_type = String, format = DateTime)]
    until: Time,
    /// Whether `fires` are those that were traced. Else they are of the last run of each item alone, as the registry center has
    /// it, and `unknown` has the fires of the schedule before them.
    traced: bool,
    /// In the order of their names.
    jobs: Vec<TimelineJob>,
    /// The number of jobs that the filter leaves.
    total: usize,
    /// The cursor of the next page.
    next: Option<String>,
}

/// A job of the timeline.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TimelineJob {
    job: String,
    /// The newest first.
    fires: Vec<FireView>,
    /// Whether it had more runs of items than are read for a timeline; then the older ones of the time are in `folded`.
    more: bool,
    /// Runs of items that began before those of `fires`, counted by parts of the time; the oldest first.
    folded: Vec<FoldedView>,
    /// Fires that should have been and have no run.
    missing: Vec<GapView>,
    /// Fires of the schedule of which it is not known whether they ran: nothing was traced.
    unknown: Option<GapView>,
    /// Fires that are yet to come, at most 60.
    #[schema(value_type = Vec<String>)]
    coming: Vec<Time>,
}

/// Runs of items that began in a part of the time.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FoldedView {
    #[schema(value_type = String, format = DateTime)]
    from: Time,
    #[schema(value_type = String, format = DateTime)]
    until: Time,
    runs: u64,
    failed: u64,
    /// Without an end: they run, or their process was killed.
    no_end: u64,
    /// Whether there are more than are counted.
    more: bool,
}

impl From<Folded> for FoldedView {
    fn from(part: Folded) -> Self {
        let (runs, failed, no_end) = (part.runs.runs, part.runs.failed, part.runs.no_end);
        Self { from: Time(part.from), until: Time(part.until), runs, failed, no_end, more: part.is_cut }
    }
}

impl From<&Row> for TimelineJob {
    fn from(row: &Row) -> Self {
        Self {
            job: row.job.to_string(),
            fires: row.known.fires.iter().map(FireView::from).collect(),
            more: !row.known.folded.is_empty(),
            folded: row.known.folded.iter().copied().map(FoldedView::from).collect(),
            missing: row.known.gaps.iter().cloned().map(GapView::from).collect(),
            unknown: row.known.unsure.clone().map(GapView::from),
            coming: row.coming.iter().copied().map(Time).collect(),
        }
    }
}

/// The runs of jobs over a time
///
/// Of the jobs that the caller may see, with the fires that should have been and those to come. Where no database of traces is
/// read, it says what the registry center knows.
#[utoipa::path(get, path = "/api/v1/registries/{registry}/timeline", tag = "history", params(TimelineQuery),
    responses((status = 200, body = TimelineView), (status = "default", body = Problem)))]
pub(crate) async fn show(
    here: Here,
    query: Result<Query<TimelineQuery>, QueryRejection>,
) -> Result<Json<TimelineView>, Problem> {
    let found = timeline::timeline(&here, &parameters(query)?, now()).await?;
    let Timeline { shown, is_traced: traced, total, next } = found;
    let jobs = shown.jobs.iter().map(TimelineJob::from).collect();
    Ok(Json(TimelineView { from: Time(shown.from), until: Time(shown.until), traced, jobs, total, next }))
}
