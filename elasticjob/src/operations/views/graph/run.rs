//! Jobs that are connected, as they stand for one fire.

use std::collections::BTreeSet;

use serde::Serialize;

use super::GraphJob;
use super::cycles::cycles;
use super::fire::{GraphFire, Stands};
use crate::ident::JobName;

/// How many fires a run names.
const NAMED: usize = 16;

/// Jobs that are connected by dependencies, and how each of them stands for one fire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GraphRun {
    /// The scheduled time of the fire in milliseconds since 1970; `None` where no job has had one yet.
    pub at: Option<i64>,
    /// The scheduled times of the fires that the registry center knows, the newest first, 16 at most.
    pub fires: Vec<i64>,
    /// The jobs, by name.
    pub jobs: Vec<RunOfJob>,
    /// Jobs that wait for each other, as in [`JobGraph`](super::JobGraph).
    pub cycles: Vec<Vec<JobName>>,
}

/// The first groups of jobs that are connected, each for one fire.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GraphRuns {
    /// The groups, in the order of their first jobs.
    pub runs: Vec<GraphRun>,
    /// The number of groups, with those that are left out.
    pub total: usize,
}

/// A job, and how it stands for the fire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RunOfJob {
    /// The job.
    #[serde(flatten)]
    pub job: GraphJob,
    /// Its fire. `None` where none of the jobs has had one, and where the job does not exist or is not seen.
    pub fire: Option<GraphFire>,
}

impl GraphRun {
    /// The run at this time, or the latest one.
    pub(super) fn of(jobs: Vec<GraphJob>, at: Option<i64>, stands: &Stands) -> Self {
        let known: BTreeSet<i64> = jobs.iter().flat_map(|one| stands.fires(&one.job)).collect();
        let fires: Vec<i64> = known.into_iter().rev().take(NAMED).collect();
        let at = at.or(fires.first().copied());
        let cycles = cycles(&jobs);
        let of_job = |job: GraphJob| RunOfJob { fire: at.and_then(|at| stands.fire(&job.job, at)), job };
        Self { at, fires, jobs: jobs.into_iter().map(of_job).collect(), cycles }
    }
}
