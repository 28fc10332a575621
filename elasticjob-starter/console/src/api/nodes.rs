//! The nodes of the registry center, and dumps of jobs.

use axum::Json;
use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use elasticjob::operations::Node;
use elasticjob::operations::dump::Addresses;
use serde::Serialize;
use utoipa::ToSchema;

use super::Problem;
use super::jobs::parameters;
use super::named::OfJob;
use crate::here::Here;
use crate::service::nodes::{self, NodeQuery};
use crate::service::time::Time;

/// A node.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NodeView {
    path: String,
    /// Secrets are masked and control characters escaped; at most 65,536 characters.
    data: String,
    /// The length of the data as they are.
    bytes: usize,
    /// The number of times that the data were set since it was created.
    version: i32,
    #[schema(value_type = String)]
    created: Time,
    #[schema(value_type = String)]
    changed: Time,
    /// The session that it ends with; `null` for a node that stays.
    session: Option<String>,
}

impl From<Node> for NodeView {
    fn from(node: Node) -> Self {
        Self {
            path: node.path,
            data: node.data,
            bytes: node.bytes,
            version: node.version,
            created: Time(node.created),
            changed: Time(node.changed),
            session: node.session.map(|session| session.to_string()),
        }
    }
}

/// A node with a page of its children, in the order of their names.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Level {
    node: NodeView,
    children: Vec<NodeView>,
    /// The number of its children.
    total: usize,
    /// The value of `after` for the next page.
    next: Option<String>,
}

/// A node of the registry center with its children
#[utoipa::path(get, path = "/api/v1/registries/{registry}/nodes", tag = "registries", params(NodeQuery),
    responses((status = 200, body = Level), (status = "default", body = Problem)))]
pub(crate) async fn show(here: Here, query: Result<Query<NodeQuery>, QueryRejection>) -> Result<Json<Level>, Problem> {
    let level = nodes::level(&here, &parameters(query)?).await?;
    let children = level.children.into_iter().map(NodeView::from).collect();
    Ok(Json(Level { node: level.node.into(), children, total: level.total, next: level.next }))
}

/// All nodes of a job as text, with secrets masked
///
/// A line `path | data` for each node, as the dump port of ElasticJob writes it.
#[utoipa::path(get, path = "/api/v1/registries/{registry}/jobs/{job}/dump", tag = "jobs",
    responses((status = 200, body = String, content_type = "text/plain"), (status = "default", body = Problem)))]
pub(crate) async fn dump(of: OfJob) -> Result<Response, Problem> {
    let text = of.here.operations("").dump(&of.job, Addresses::Shown).await?;
    Ok(([(CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}
