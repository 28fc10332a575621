//! The registry centers, and the caller.

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

use super::Problem;
use super::accounts::{GrantView, views};
use crate::access::Kind;
use crate::here::{Here, Who};
use crate::registries::Registry;
use crate::service::connections::Check;
use crate::service::time::Time;

/// A registry center.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RegistryView {
    name: String,
    /// CONNECTED, CONNECTING, SUSPENDED or CLOSED.
    session: &'static str,
    /// Since when; at the earliest the start of the console.
    #[schema(value_type = Option<String>, format = DateTime)]
    since: Option<Time>,
    /// Why it was not reached since the console started; `null` once it was.
    problem: Option<String>,
    /// Whether runs and decisions can be read.
    traced: bool,
    /// Whether the storage of the traces answered the last read of the console; `null` without traces, and before the first read.
    traces_answer: Option<bool>,
    /// Since when that is so, as far as reads tell.
    #[schema(value_type = Option<String>, format = DateTime)]
    traces_since: Option<Time>,
}

impl RegistryView {
    fn of(registry: &Registry) -> Self {
        Self {
            name: registry.name().to_owned(),
            session: registry.session_state(),
            since: registry.session_since().map(Time),
            problem: registry.problem().map(|why| why.to_string()),
            traced: registry.trace_reader().is_some(),
            traces_answer: registry.trace_health().map(|health| health.answers),
            traces_since: registry.trace_health().map(|health| Time(health.since)),
        }
    }
}

/// The registry centers that the caller may see
#[utoipa::path(get, path = "/api/v1/registries", tag = "registries",
    responses((status = 200, body = Vec<RegistryView>), (status = "default", body = Problem)))]
pub(crate) async fn list(who: Who) -> Json<Vec<RegistryView>> {
    let seen = who.app.registries.values().filter(|registry| who.identity.sees_registry(registry.name()));
    Json(seen.map(|registry| RegistryView::of(registry)).collect())
}

/// A registry center
#[utoipa::path(get, path = "/api/v1/registries/{registry}", tag = "registries",
    responses((status = 200, body = RegistryView), (status = "default", body = Problem)))]
pub(crate) async fn one(here: Here) -> Json<RegistryView> {
    Json(RegistryView::of(&here.registry))
}

/// The caller of the request.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Caller {
    name: String,
    anonymous: bool,
    /// user, company, program or anonymous. An account of a company comes by OpenID Connect or by a proxy.
    kind: &'static str,
    grants: Vec<GrantView>,
    read_only: bool,
    /// Whether the console insists on reasons: see `x-reason` of each operation.
    require_reason: bool,
}

/// The caller
#[utoipa::path(get, path = "/api/v1/me", tag = "registries",
    responses((status = 200, body = Caller), (status = "default", body = Problem)))]
pub(crate) async fn me(who: Who) -> Json<Caller> {
    Json(Caller {
        name: who.identity.name().to_owned(),
        anonymous: who.identity.is_anonymous(),
        kind: match who.identity.kind() {
            Kind::User => "user",
            Kind::Company => "company",
            Kind::Program => "program",
            Kind::Anonymous => "anonymous",
        },
        grants: views(who.identity.grants()),
        read_only: who.app.options.read_only,
        require_reason: who.app.options.require_reason,
    })
}

/// A database of traces.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DataSource {
    /// The registry center whose jobs are traced there.
    registry: String,
    /// The database, without a password, where the settings name it.
    database: Option<String>,
}

/// The databases of traces of the registry centers that the caller may see
#[utoipa::path(get, path = "/api/v1/data-sources", tag = "registries",
    responses((status = 200, body = Vec<DataSource>), (status = "default", body = Problem)))]
pub(crate) async fn data_sources(who: Who) -> Json<Vec<DataSource>> {
    let is_administrator = who.identity.is_administrator();
    let seen = who.app.registries.values().filter(|registry| who.identity.sees_registry(registry.name()));
    let view = |registry: &Registry| DataSource {
        registry: registry.name().to_owned(),
        database: registry.traces_shown().filter(|_| is_administrator).map(str::to_owned),
    };
    Json(seen.filter(|registry| registry.trace_reader().is_some()).map(|registry| view(registry)).collect())
}

/// The result of a test of a connection.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CheckView {
    answers: bool,
    took_ms: i64,
    /// The problem that the test found.
    problem: Option<String>,
}

impl From<Check> for CheckView {
    fn from(it: Check) -> Self {
        Self {
            answers: it.problem.is_none(),
            took_ms: it.took_ms,
            problem: it.problem.map(|problem| problem.to_string()),
        }
    }
}

/// Ask a registry center whether it answers
///
/// Over the connection that the console has: no address comes from the request.
#[utoipa::path(post, path = "/api/v1/registries/{registry}/checks", tag = "registries",
    responses((status = 200, body = CheckView), (status = "default", body = Problem)))]
pub(crate) async fn check(here: Here) -> Json<CheckView> {
    Json(here.registry.check().await.into())
}

/// Ask a database of traces whether it answers
///
/// Over the connection that the console has: no address comes from the request.
#[utoipa::path(post, path = "/api/v1/data-sources/{registry}/checks", tag = "registries",
    responses((status = 200, body = CheckView), (status = "default", body = Problem)))]
pub(crate) async fn check_traces(here: Here) -> Result<Json<CheckView>, Problem> {
    here.registry.check_traces().await.map(|check| Json(check.into())).ok_or_else(Problem::not_traced)
}
