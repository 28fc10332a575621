//! Servers.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use elasticjob::operations::{InstanceBrief, JobOfServer, ServerBrief, ServerStatus};
use serde::Serialize;
use utoipa::ToSchema;

use super::Problem;
use super::jobs::parameters;
use super::named::{Names, OfJob};
use super::tagged::{tagged_part, with_link};
use crate::here::Here;
use crate::pages::segment;
use crate::service::disabled::{DisabledBy, What, disablings_of};
use crate::service::job::{InstanceView, look};
use crate::service::part::PartQuery;
use crate::service::time::Time;

/// A server.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Server {
    server: String,
    instances: Vec<String>,
    jobs: Vec<String>,
    /// In how many of them it is disabled.
    disabled_jobs: usize,
}

/// A job of a server.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerJob {
    job: String,
    /// ENABLED or DISABLED.
    status: &'static str,
    /// Who disabled it; `null` where the server is enabled for the job, and where that was not recorded or not read so far.
    disabled_by: Option<DisabledBy>,
    instance_count: usize,
}

impl From<ServerBrief> for Server {
    fn from(brief: ServerBrief) -> Self {
        Self {
            server: brief.server,
            instances: brief.instances.iter().map(ToString::to_string).collect(),
            jobs: brief.jobs.iter().map(ToString::to_string).collect(),
            disabled_jobs: brief.disabled_jobs,
        }
    }
}

impl ServerJob {
    fn of(one: JobOfServer, disabled_by: Option<DisabledBy>) -> Self {
        let (job, status) = (one.job.to_string(), one.status.as_str());
        Self { job, status, disabled_by, instance_count: one.instance_count }
    }
}

/// The servers
#[utoipa::path(get, path = "/api/v1/registries/{registry}/servers", tag = "servers",
    params(PartQuery, ("If-None-Match" = Option<String>, Header, description = "The ETag of the list that the caller has")),
    responses((status = 200, body = Vec<Server>), (status = 304), (status = "default", body = Problem)))]
pub(crate) async fn list(
    here: Here,
    headers: HeaderMap,
    query: Result<Query<PartQuery>, QueryRejection>,
) -> Result<Response, Problem> {
    let query = parameters(query)?;
    let servers = here.registry.catalogue().servers(|job| here.sees(job)).await?;
    let part = query.of(servers, |brief| brief.server.clone())?.map(Server::from);
    Ok(tagged_part(&headers, &part.elements, part.link(&here, "servers", query.limit, &[])))
}

/// An instance that is online.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Instance {
    instance: String,
    server: String,
    /// Since when it is online, in the job where it came first.
    #[schema(value_type = String)]
    since: Time,
    /// The jobs that it runs, as far as the caller may see them.
    jobs: Vec<String>,
}

impl From<InstanceBrief> for Instance {
    fn from(brief: InstanceBrief) -> Self {
        Self {
            instance: brief.instance.to_string(),
            server: brief.server,
            since: Time(brief.since),
            jobs: brief.jobs.iter().map(ToString::to_string).collect(),
        }
    }
}

/// The instances that are online
#[utoipa::path(get, path = "/api/v1/registries/{registry}/instances", tag = "servers",
    params(PartQuery, ("If-None-Match" = Option<String>, Header, description = "The ETag of the list that the caller has")),
    responses((status = 200, body = Vec<Instance>), (status = 304), (status = "default", body = Problem)))]
pub(crate) async fn instances(
    here: Here,
    headers: HeaderMap,
    query: Result<Query<PartQuery>, QueryRejection>,
) -> Result<Response, Problem> {
    let query = parameters(query)?;
    let instances = here.registry.catalogue().instances(|job| here.sees(job)).await?;
    let part = query.of(instances, |brief| brief.instance.to_string())?.map(Instance::from);
    Ok(tagged_part(&headers, &part.elements, part.link(&here, "instances", query.limit, &[])))
}

/// The instances of a job that are online
#[utoipa::path(get, path = "/api/v1/registries/{registry}/jobs/{job}/instances", tag = "servers", params(PartQuery),
    responses((status = 200, body = Vec<InstanceView>), (status = "default", body = Problem)))]
pub(crate) async fn instances_of_job(
    of: OfJob,
    query: Result<Query<PartQuery>, QueryRejection>,
) -> Result<Response, Problem> {
    let query = parameters(query)?;
    let (snapshot, _) = look(&of.here, &of.job).await?;
    let part = query.of(InstanceView::all(&snapshot), |view| view.instance().to_owned())?;
    let link = part.link(&of.here, &format!("jobs/{}/instances", segment(of.job.as_str())), query.limit, &[]);
    Ok(with_link(Json(part.elements).into_response(), link))
}

/// The jobs of a server
#[utoipa::path(get, path = "/api/v1/registries/{registry}/servers/{server}", tag = "servers", params(PartQuery),
    responses((status = 200, body = Vec<ServerJob>), (status = "default", body = Problem)))]
pub(crate) async fn one(
    here: Here,
    Names((_, server)): Names<(String, String)>,
    query: Result<Query<PartQuery>, QueryRejection>,
) -> Result<Response, Problem> {
    let query = parameters(query)?;
    let jobs = here.registry.catalogue().jobs_of_server(&server).await?;
    let seen: Vec<JobOfServer> = jobs.into_iter().filter(|one| here.sees(&one.job)).collect();
    if seen.is_empty() {
        return Err(Problem::no_such_server(&server));
    }
    let part = query.of(seen, |one| one.job.to_string())?;
    let mut since = BTreeMap::new();
    for one in part.elements.iter().filter(|one| one.status == ServerStatus::Disabled) {
        // A job that was removed meanwhile has no snapshot.
        let snapshot = here.views().snapshot(&one.job).await.ok();
        since.extend(snapshot.and_then(|snapshot| snapshot.server_changed(&server)).map(|at| (one.job.clone(), at)));
    }
    let disablings = disablings_of(&here, since.clone().into_iter().collect()).await;
    let what = What::Server(server.clone());
    let part = part.map(|one| {
        let by = since.get(&one.job).map(|since| disablings.by(&one.job, &what, Some(*since)));
        ServerJob::of(one, by.and_then(DisabledBy::of))
    });
    let link = part.link(&here, &format!("servers/{}", segment(&server)), query.limit, &[]);
    Ok(with_link(Json(part.elements).into_response(), link))
}
