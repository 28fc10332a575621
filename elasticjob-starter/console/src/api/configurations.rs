//! The configurations of many jobs.

use axum::Json;
use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;

use super::Problem;
use super::jobs::parameters;
use crate::here::Here;
use crate::service::configurations::compared::{Beside, CompareQuery, Compared, compared};
use crate::service::configurations::exported::exported;
use crate::service::time::Time;

/// A parameter with its value.
type Pair = (String, String);

/// The configurations of jobs as a file, as application.yaml takes them
///
/// A setting with a secret is a comment with the secret masked, and one with its default is left out. Carried jobs are left out: their
/// registrations decide.
#[utoipa::path(get, path = "/api/v1/registries/{registry}/configurations", tag = "configuration",
    params(
        ("job" = Option<Vec<String>>, Query, description = "The jobs; without it those that the other parameters leave"),
        ("q" = Option<String>, Query, description = "A part of the name or of the description"),
        ("status" = Option<String>, Query, description = "The state, as in the list of jobs"),
        ("concern" = Option<String>, Query, description = "A concern, as in the list of jobs"),
        ("running" = Option<String>, Query, description = "`true` for the jobs that run now")),
    responses((status = 200, body = String, content_type = "application/yaml"), (status = "default", body = Problem)))]
pub(crate) async fn export(here: Here, query: Result<Query<Vec<Pair>>, QueryRejection>) -> Result<Response, Problem> {
    exported(&here, &parameters(query)?).await
}

/// The jobs of two registry centers that are not the same in both.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ComparisonView {
    /// The other registry center.
    with: String,
    jobs: Vec<ComparedView>,
    /// The number of jobs of this part that are the same.
    same: usize,
    /// The number of jobs that both have together.
    total: usize,
    /// The cursor of the next part.
    next: Option<String>,
    /// Since when this registry center is lost; what it has is from then. `null` while it is connected.
    #[schema(value_type = Option<String>)]
    lost_since: Option<Time>,
    /// Since when the other registry center is lost.
    #[schema(value_type = Option<String>)]
    with_lost_since: Option<Time>,
}

/// A job that is not the same in both.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ComparedView {
    job: String,
    /// only-here, only-there, differs, or unusable where one of the configurations cannot be used.
    state: &'static str,
    differences: Vec<DifferenceView>,
    /// The reasons why it is unusable; `null` where it is not.
    problem: Option<UnusableView>,
}

/// The reasons why configurations of a job cannot be used.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UnusableView {
    /// `null` where the one here can be used.
    here: Option<String>,
    there: Option<String>,
}

/// A setting in which a job differs.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DifferenceView {
    /// A property as props.KEY. For the code elastic-job-class, elastic-job-type, or both with `or` between them where the registry
    /// center does not say which it is.
    setting: String,
    /// With secrets masked; `null` where it is not set.
    here: Option<String>,
    there: Option<String>,
}

impl From<Compared> for ComparedView {
    fn from(it: Compared) -> Self {
        let (state, differences, problem) = match it.beside {
            Beside::OnlyHere => ("only-here", Vec::new(), None),
            Beside::OnlyThere => ("only-there", Vec::new(), None),
            Beside::Differs(differences) => ("differs", differences, None),
            Beside::Unusable { here, there } => {
                let problem = UnusableView { here: here.map(String::from), there: there.map(String::from) };
                ("unusable", Vec::new(), Some(problem))
            }
        };
        let differences = differences.into_iter();
        let differences = differences.map(|it| DifferenceView { setting: it.setting, here: it.here, there: it.there });
        Self { job: it.job.to_string(), state, differences: differences.collect(), problem }
    }
}

/// The configurations beside those of another registry center
///
/// Of the jobs that the caller may see there and here, 200 at a time.
#[utoipa::path(get, path = "/api/v1/registries/{registry}/comparison", tag = "configuration", params(CompareQuery),
    responses((status = 200, body = ComparisonView), (status = "default", body = Problem)))]
pub(crate) async fn compare(
    here: Here,
    query: Result<Query<CompareQuery>, QueryRejection>,
) -> Result<Json<ComparisonView>, Problem> {
    let found = compared(&here, &parameters(query)?).await?;
    let jobs = found.jobs.into_iter().map(ComparedView::from).collect();
    Ok(Json(ComparisonView {
        with: found.with,
        jobs,
        same: found.same,
        total: found.total,
        next: found.next,
        lost_since: found.lost_since.map(Time),
        with_lost_since: found.with_lost_since.map(Time),
    }))
}
