//! `/registries/{registry}/jobs`.

use axum::Json;
use axum::extract::Query;

use super::Problem;
use crate::here::Here;
use crate::service::jobs::{self, JobPage, JobQuery};

pub(crate) async fn list(here: Here, Query(query): Query<JobQuery>) -> Result<Json<JobPage>, Problem> {
    Ok(Json(jobs::list(&here, &query).await?))
}
