//! The list of the jobs.

use askama::Template;
use axum::extract::Query;
use axum::response::Response;

use super::{Layout, error, page};
use crate::here::Here;
use crate::service::jobs::{self, JobPage, JobQuery};
use crate::text::t;

#[derive(Template)]
#[template(path = "jobs.html")]
struct JobsPage {
    layout: Layout,
    query: JobQuery,
    found: JobPage,
}

pub(crate) async fn show(here: Here, Query(query): Query<JobQuery>) -> Response {
    match jobs::list(&here, &query).await {
        Ok(found) => page(&JobsPage { layout: Layout::of(&here), query, found }),
        Err(problem) => error::problem(&here, &problem),
    }
}
