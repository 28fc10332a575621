//! The route of the overview.

use std::collections::BTreeMap;

use axum::Json;
use elasticjob::operations::alarms::Concern;
use serde::Serialize;
use utoipa::ToSchema;

use super::Problem;
use super::history::OperatorAction;
use crate::here::Here;
use crate::service::changes::{Change, Changes, Reach, Source};
use crate::service::disabled::{disablings_of, of_list};
use crate::service::job_row::JobRow;
use crate::service::overview::{MOST, Overview};
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
    /// The jobs that fire next: the first 10. `GET .../jobs?sort=next-fire` has them all.
    next: Vec<JobRow>,
    /// The number of further jobs that fire.
    more_next: usize,
    /// The last changes, the last one first: what operators did in the last seven days, and configurations that were written.
    changes: Vec<RecentChange>,
    /// Whether the actions of operators could be read for it. Where not, `changes` has configurations alone.
    actions_read: bool,
    /// Whether all of them were read that `changes` may have. Where not, there were too many: older ones may be missing.
    all_actions_read: bool,
    /// Since when the registry center is lost; everything is as it was then. `null` while it is connected.
    #[schema(value_type = Option<String>)]
    lost_since: Option<Time>,
}

/// A change of a job.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RecentChange {
    /// The job; `*` for an action on a server in all jobs.
    job: String,
    #[schema(value_type = String, format = DateTime)]
    time: Time,
    /// The action of an operator that made it; `null` for a configuration that was written and of which no action was read.
    action: Option<OperatorAction>,
    /// Why `action` is `null`: `not-recorded` where no action is recorded, as a program wrote the configuration, or another console;
    /// `unread` where the actions of that time were not read, or may not be recorded yet; `older` where the configuration was written
    /// more than seven days ago, of which no actions are read. `null` where there is an action.
    no_action: Option<&'static str>,
}

impl From<Change> for RecentChange {
    fn from(it: Change) -> Self {
        let (action, no_action) = match it.source {
            Source::Action(record) => (Some(OperatorAction::from(*record)), None),
            Source::NotRecorded => (None, Some("not-recorded")),
            Source::Unread => (None, Some("unread")),
            Source::Older => (None, Some("older")),
        };
        Self { job: it.job, time: Time(it.at), action, no_action }
    }
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
        disablings_of(&here, of_list(listed.flat_map(|jobs| jobs.iter().take(MOST)).map(|job| &**job))).await;
    let rows =
        |jobs: &[std::sync::Arc<_>]| jobs.iter().take(MOST).map(|job| JobRow::of(&here, &disablings, job)).collect();
    let changes = Changes::of(&here, &overview.configured).await;
    Ok(Json(OverviewView {
        total: overview.total,
        well: overview.well(),
        running: overview.running,
        concerns: Concern::ALL.iter().map(|concern| (concern.code(), overview.count(concern))).collect(),
        jobs: overview.concerns.iter().map(|(concern, jobs)| (concern.code(), rows(jobs))).collect(),
        now: rows(&overview.now),
        next: rows(&overview.next),
        more_next: overview.more_next,
        actions_read: changes.reach != Reach::Nothing,
        all_actions_read: changes.reach == Reach::All,
        changes: changes.list.into_iter().map(RecentChange::from).collect(),
        lost_since,
    }))
}
