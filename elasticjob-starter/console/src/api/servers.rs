//! Servers.

use axum::Json;
use elasticjob::operations::{JobOfServer, ServerBrief};
use serde::Serialize;
use utoipa::ToSchema;

use super::Problem;
use super::named::Names;
use crate::here::Here;

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

impl From<JobOfServer> for ServerJob {
    fn from(one: JobOfServer) -> Self {
        Self { job: one.job.to_string(), status: one.status.as_str(), instance_count: one.instance_count }
    }
}

/// The servers
#[utoipa::path(get, path = "/api/v1/registries/{registry}/servers", tag = "servers",
    responses((status = 200, body = Vec<Server>), (status = "default", body = Problem)))]
pub(crate) async fn list(here: Here) -> Result<Json<Vec<Server>>, Problem> {
    let mut servers = here.views().servers().await?;
    servers.iter_mut().for_each(|server| server.jobs.retain(|job| here.sees(job)));
    servers.retain(|server| !server.jobs.is_empty());
    Ok(Json(servers.into_iter().map(Server::from).collect()))
}

/// The jobs of a server
#[utoipa::path(get, path = "/api/v1/registries/{registry}/servers/{server}", tag = "servers",
    responses((status = 200, body = Vec<ServerJob>), (status = "default", body = Problem)))]
pub(crate) async fn one(
    here: Here,
    Names((_, server)): Names<(String, String)>,
) -> Result<Json<Vec<ServerJob>>, Problem> {
    let jobs = here.views().jobs_of_server(&server).await?;
    let seen: Vec<ServerJob> = jobs.into_iter().filter(|one| here.sees(&one.job)).map(ServerJob::from).collect();
    match seen.is_empty() {
        true => Err(Problem::no_such_server(&server)),
        false => Ok(Json(seen)),
    }
}
