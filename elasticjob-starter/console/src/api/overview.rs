//! The route of the overview.

use std::collections::BTreeMap;

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

use super::Problem;
use crate::here::Here;
use crate::service::disabled::{Disablings, of_list};
use crate::service::job_row::JobRow;
use crate::service::overview::{Concern, MOST, Overview};
use crate::service::time::Time;

/// The state of all jobs that the caller may see, with those that need a look.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OverviewView {
    /// The number of jobs.
    total: usize,
    /// The number of jobs that need nothing.
    well: usize,
    /// The number of jobs that run now.
    running: usize,
    /// The numbers of jobs that have each concern: overdue, daemon-ends, crashed, configuration-refused, unassigned, carried-waits, failing, disabled, late. A job
    /// has one, the first that holds.
    concerns: BTreeMap<&'static str, usize>,
    /// The first 20 jobs of each concern.
    jobs: BTreeMap<&'static str, Vec<JobRow>>,
    /// The jobs that run, the oldest run first: the first 20.
    now: Vec<JobRow>,
    /// The jobs that fire next.
    next: Vec<JobRow>,
    /// Since when the registry center is lost; everything is as it was then. `null` while it is connected.
    #[schema(value_type = Option<String>)]
    lost_since: Option<Time>,
}

/// The jobs that need a look, counted
///
/// Fires that should have begun and did not, jobs without an instance, refused configurations, lost runs, failures.
#[utoipa::path(get, path = "/api/v1/registries/{registry}/overview", tag = "jobs",
    responses((status = 200, body = OverviewView), (status = "default", body = Problem)))]
pub(crate) async fn show(here: Here) -> Result<Json<OverviewView>, Problem> {
    let listed = here.registry.catalogue().jobs().await?;
    let lost_since = listed.lost_since.map(Time);
    let overview = Overview::of(&here, listed);
    let listed = overview.concerns.values().chain([&overview.now, &overview.next]);
    let disablings =
        Disablings::of(&here, of_list(listed.flat_map(|jobs| jobs.iter().take(MOST)).map(|job| &**job))).await;
    let rows =
        |jobs: &[std::sync::Arc<_>]| jobs.iter().take(MOST).map(|job| JobRow::of(&here, &disablings, job)).collect();
    Ok(Json(OverviewView {
        total: overview.total,
        well: overview.well(),
        running: overview.running,
        concerns: Concern::ALL.map(|concern| (concern.code(), overview.count(concern))).into(),
        jobs: overview.concerns.iter().map(|(concern, jobs)| (concern.code(), rows(jobs))).collect(),
        now: rows(&overview.now),
        next: rows(&overview.next),
        lost_since,
    }))
}
