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
use crate::service::timeline::{self, Row, Timeline, TimelineQuery};

/// The fires of jobs in the same time.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TimelineView {
    #[schema(value_type = String, format = DateTime)]
    from: Time,
    #[schema(value_type = String, format = DateTime)]
    until: Time,
    /// In the order of their names.
    jobs: Vec<TimelineJob>,
    /// How many jobs the filter leaves.
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
    /// Whether it had more runs of items than are read for a timeline; then the older fires of the time are left out.
    more: bool,
    /// Fires that should have been and have no run.
    missing: Vec<GapView>,
    /// Fires that are yet to come, at most 60.
    #[schema(value_type = Vec<String>)]
    coming: Vec<Time>,
}

impl From<Row> for TimelineJob {
    fn from(row: Row) -> Self {
        Self {
            job: row.job.to_string(),
            fires: row.fires.iter().map(FireView::from).collect(),
            more: row.is_cut,
            missing: row.gaps.into_iter().map(GapView::from).collect(),
            coming: row.coming.into_iter().map(Time).collect(),
        }
    }
}

/// What ran when
///
/// Of the jobs that the caller may see, with the fires that should have been and those to come.
#[utoipa::path(get, path = "/api/v1/registries/{registry}/timeline", tag = "history", params(TimelineQuery),
    responses((status = 200, body = TimelineView), (status = "default", body = Problem)))]
pub(crate) async fn show(
    here: Here,
    query: Result<Query<TimelineQuery>, QueryRejection>,
) -> Result<Json<TimelineView>, Problem> {
    let Timeline { from, until, rows, total, next, .. } = timeline::timeline(&here, &parameters(query)?, now()).await?;
    let jobs = rows.into_iter().map(TimelineJob::from).collect();
    Ok(Json(TimelineView { from: Time(from), until: Time(until), jobs, total, next }))
}
