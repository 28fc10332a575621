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

/// A parameter with its value.
type Pair = (String, String);

/// The configurations of jobs as a file, as application.yaml takes them
///
/// A setting with a secret is a comment with the secret masked. Carried jobs are left out: their registrations decide.
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
pub(crate) struct ComparisonView {
    /// The other registry center.
    with: String,
    jobs: Vec<ComparedView>,
    /// How many jobs of this part are the same.
    same: usize,
    /// How many jobs both have together.
    total: usize,
    /// The cursor of the next part.
    next: Option<String>,
}

/// A job that is not the same in both.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ComparedView {
    job: String,
    /// only-here, only-there, differs, or unusable where one of the configurations cannot be used.
    state: &'static str,
    differences: Vec<DifferenceView>,
    /// Why a configuration cannot be used.
    problem: Option<String>,
}

/// A setting in which a job differs.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DifferenceView {
    /// A property as props.KEY.
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
            Beside::Unusable(why) => ("unusable", Vec::new(), Some(why.into())),
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
    Ok(Json(ComparisonView { with: found.with, jobs, same: found.same, total: found.total, next: found.next }))
}
