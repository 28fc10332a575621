//! `/registries/{registry}/graph`.

use axum::Json;
use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use elasticjob::ident::JobName;
use elasticjob::operations::{GraphEdge, GraphFire, GraphRun, RunOfJob};
use serde::Serialize;
use utoipa::ToSchema;

use super::Problem;
use super::jobs::parameters;
use super::named::OfJob;
use crate::here::Here;
use crate::service::graph::{GraphQuery, runs};
use crate::service::time::Time;

/// The jobs that run after others, and those others, as they stand for a fire.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GraphView {
    /// Jobs of different groups are not connected.
    groups: Vec<GraphGroup>,
}

/// Jobs that are connected by dependencies.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GraphGroup {
    /// The scheduled time of the fire that is shown; `null` where no job has had one yet.
    #[schema(value_type = Option<String>, format = DateTime)]
    at: Option<Time>,
    /// The fires that the registry center knows, the newest first, 16 at most.
    #[schema(value_type = Vec<String>)]
    fires: Vec<Time>,
    jobs: Vec<GraphJobView>,
    /// Jobs that wait for each other, so that none of them ever runs: each after the one before it.
    cycles: Vec<Vec<String>>,
}

/// A job, and how it stands for the fire.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GraphJobView {
    job: String,
    /// Whether the registry center has a configuration of it that can be read. Nothing is said of a job that the caller
    /// may not see: it is there as a name, as another job runs after it.
    exists: bool,
    /// Whether the caller may see the job.
    visible: bool,
    cron: Option<String>,
    depends_on: Vec<GraphEdgeView>,
    fire: Option<GraphFireView>,
}

/// That a job runs after another one.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GraphEdgeView {
    job: String,
    /// succeeded, failed or ended.
    when: &'static str,
    /// all or same: of the items with the same number.
    items: &'static str,
}

/// The state of a job for a fire.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GraphFireView {
    /// NOT_BEGUN, DUE, RUNNING, SUCCEEDED, FAILED, SKIPPED, PAST (it is over, and not known any more how) or NO_FIRE (the job
    /// has none at this time).
    state: &'static str,
    /// Why it, or items of it, are skipped; empty otherwise.
    why: String,
    #[schema(value_type = Option<String>, format = DateTime)]
    began_at: Option<Time>,
    #[schema(value_type = Option<String>, format = DateTime)]
    ended_at: Option<Time>,
    /// The number of items of the job, without those that an operator disabled.
    items: usize,
    /// The number of them that have ended for this fire.
    items_ended: usize,
    /// When an operator ran the fire again, the last time that the registry center knows of: all else is said of that re-run.
    #[schema(value_type = Option<String>, format = DateTime)]
    rerun_at: Option<Time>,
}

impl From<GraphFire> for GraphFireView {
    fn from(fire: GraphFire) -> Self {
        Self {
            state: fire.state.as_str(),
            began_at: fire.began.map(Time),
            ended_at: fire.ended.map(Time),
            items: fire.items,
            items_ended: fire.items_ended,
            why: fire.why,
            rerun_at: fire.rerun.map(|rerun| Time(rerun.asked)),
        }
    }
}

impl GraphJobView {
    fn of(here: &Here, RunOfJob { job, fire, .. }: RunOfJob) -> Self {
        let edge = |GraphEdge { job, when, items, .. }: GraphEdge| GraphEdgeView {
            job: job.to_string(),
            when: when.as_str(),
            items: items.as_str(),
        };
        Self {
            visible: here.sees(&job.job),
            job: job.job.to_string(),
            exists: job.exists,
            cron: job.cron,
            depends_on: job.depends_on.into_iter().map(edge).collect(),
            fire: fire.map(GraphFireView::from),
        }
    }
}

impl GraphGroup {
    fn of(here: &Here, GraphRun { at, fires, jobs, cycles, .. }: GraphRun) -> Self {
        Self {
            at: at.map(Time),
            fires: fires.into_iter().map(Time).collect(),
            jobs: jobs.into_iter().map(|job| GraphJobView::of(here, job)).collect(),
            cycles: cycles.iter().map(|cycle| cycle.iter().map(JobName::to_string).collect()).collect(),
        }
    }
}

async fn view(here: &Here, of: Option<&JobName>, query: &GraphQuery) -> Result<Json<GraphView>, Problem> {
    let groups =
        runs(here, of, query, usize::MAX).await?.runs.into_iter().map(|run| GraphGroup::of(here, run)).collect();
    Ok(Json(GraphView { groups }))
}

/// The jobs and the jobs after which they run, with their state for a fire
///
/// Of the jobs that the caller may see.
#[utoipa::path(get, path = "/api/v1/registries/{registry}/graph", tag = "jobs", params(GraphQuery),
    responses((status = 200, body = GraphView), (status = "default", body = Problem)))]
pub(crate) async fn show(
    here: Here,
    query: Result<Query<GraphQuery>, QueryRejection>,
) -> Result<Json<GraphView>, Problem> {
    view(&here, None, &parameters(query)?).await
}

/// The jobs that a job is connected with by dependencies, and how they stand for a fire
#[utoipa::path(get, path = "/api/v1/registries/{registry}/jobs/{job}/graph", tag = "jobs", params(GraphQuery),
    responses((status = 200, body = GraphView), (status = "default", body = Problem)))]
pub(crate) async fn of_job(
    of: OfJob,
    query: Result<Query<GraphQuery>, QueryRejection>,
) -> Result<Json<GraphView>, Problem> {
    view(&of.here, Some(&of.job), &parameters(query)?).await
}
