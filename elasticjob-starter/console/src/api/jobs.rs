//! Jobs, their items, and the reasons why they run or do not run.

use axum::Json;
use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use elasticjob::ident::ShardingItem;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::Problem;
use super::named::{Names, OfJob};
use super::tagged::{tagged, with_link};
use crate::here::Here;
use crate::pages::segment;
use crate::service::disabled::{disablings_of, of_item, of_list, of_parts};
use crate::service::job::{FindingView, ItemView, JobView, findings, look};
use crate::service::job_row::JobRow;
use crate::service::jobs::{self, JobQuery};
use crate::service::part::PartQuery;
use crate::service::time::Time;

/// The parameters of a request, or what is wrong with them.
pub(crate) fn parameters<T>(query: Result<Query<T>, QueryRejection>) -> Result<T, Problem> {
    query.map(|Query(query)| query).map_err(|wrong| Problem::bad_request(wrong.body_text()))
}

/// A page of jobs, in the order of their names.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JobPage {
    jobs: Vec<JobRow>,
    /// The number of jobs that the filter leaves.
    total: usize,
    /// The cursor of the next page.
    next: Option<String>,
    /// Since when the registry center is lost; everything is as it was then. `null` while it is connected.
    #[schema(value_type = Option<String>)]
    lost_since: Option<Time>,
}

/// The jobs, in the order of their names or of their next fires
#[utoipa::path(get, path = "/api/v1/registries/{registry}/jobs", tag = "jobs",
    params(JobQuery, ("If-None-Match" = Option<String>, Header, description = "The ETag of the list that the caller has")),
    responses((status = 200, body = JobPage), (status = 304), (status = "default", body = Problem)))]
pub(crate) async fn list(
    here: Here,
    headers: HeaderMap,
    query: Result<Query<JobQuery>, QueryRejection>,
) -> Result<Response, Problem> {
    let found = jobs::list(&here, &parameters(query)?).await?;
    let disablings = disablings_of(&here, of_list(found.jobs.iter().map(|job| &**job))).await;
    let jobs = found.jobs.iter().map(|job| JobRow::of(&here, &disablings, job)).collect();
    let page = JobPage { jobs, total: found.total, next: found.next, lost_since: found.lost_since.map(Time) };
    Ok(tagged(&headers, &page))
}

/// A job
#[utoipa::path(get, path = "/api/v1/registries/{registry}/jobs/{job}", tag = "jobs",
    responses((status = 200, body = JobView), (status = "default", body = Problem)))]
pub(crate) async fn one(of: OfJob) -> Result<Json<JobView>, Problem> {
    let (snapshot, now) = look(&of.here, &of.job).await?;
    let disablings = disablings_of(&of.here, of_parts(&snapshot)).await;
    Ok(Json(JobView::of(&snapshot, &disablings, now)))
}

/// The items of a job
#[utoipa::path(get, path = "/api/v1/registries/{registry}/jobs/{job}/items", tag = "jobs", params(PartQuery),
    responses((status = 200, body = Vec<ItemView>), (status = "default", body = Problem)))]
pub(crate) async fn items(of: OfJob, query: Result<Query<PartQuery>, QueryRejection>) -> Result<Response, Problem> {
    let query = parameters(query)?;
    let (snapshot, now) = look(&of.here, &of.job).await?;
    let part = query.of(snapshot.shards(now), |shard| shard.item)?;
    let disablings = disablings_of(&of.here, of_parts(&snapshot)).await;
    let part = part.map(|shard| ItemView::of(&snapshot, &disablings, shard));
    let link = part.link(&of.here, &format!("jobs/{}/items", segment(of.job.as_str())), query.limit, &[]);
    Ok(with_link(Json(part.elements).into_response(), link))
}

/// An item of a job
#[utoipa::path(get, path = "/api/v1/registries/{registry}/jobs/{job}/items/{item}", tag = "jobs",
    responses((status = 200, body = ItemView), (status = "default", body = Problem)))]
pub(crate) async fn item(
    of: OfJob,
    Names((_, _, item)): Names<(String, String, ShardingItem)>,
) -> Result<Json<ItemView>, Problem> {
    let (snapshot, now) = look(&of.here, &of.job).await?;
    let found = snapshot.shards(now).into_iter().find(|shard| shard.item == item);
    let disablings = disablings_of(&of.here, of_item(&snapshot, item)).await;
    found
        .map(|shard| Json(ItemView::of(&snapshot, &disablings, shard)))
        .ok_or_else(|| Problem::no_such_item(&of.job, item))
}

/// Which findings are asked for.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct FindingQuery {
    /// The findings of this item alone, beside those of the job.
    #[param(value_type = Option<u32>)]
    item: Option<ShardingItem>,
    /// The place after which the part of the list begins, as the header `Link` of the part before has it; empty for the begin of the list.
    cursor: String,
    /// The largest number of findings, from 1 to 1000. Unless it is said, the answer has all. Where more follow, the header `Link` has the
    /// address of the next part.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
}

/// Why a job and its items run, do not run, or did not run
#[utoipa::path(get, path = "/api/v1/registries/{registry}/jobs/{job}/findings", tag = "jobs", params(FindingQuery),
    responses((status = 200, body = Vec<FindingView>), (status = "default", body = Problem)))]
pub(crate) async fn why(of: OfJob, query: Result<Query<FindingQuery>, QueryRejection>) -> Result<Response, Problem> {
    let FindingQuery { item, cursor, limit } = parameters(query)?;
    let (snapshot, now) = look(&of.here, &of.job).await?;
    let findings = findings(&of.here, &snapshot, item, now);
    let part = PartQuery { cursor, limit }.of(findings, |(place, _)| *place)?.map(|(_, finding)| finding);
    let item = item.map(|item| item.to_string());
    let more: Vec<(&str, &str)> = item.iter().map(|item| ("item", item.as_str())).collect();
    let link = part.link(&of.here, &format!("jobs/{}/findings", segment(of.job.as_str())), limit, &more);
    Ok(with_link(Json(part.elements).into_response(), link))
}
