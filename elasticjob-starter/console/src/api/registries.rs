//! The registry centers, and the caller.

use axum::Json;
use elasticjob::registry::SessionState;
use serde::Serialize;
use utoipa::ToSchema;

use super::Problem;
use crate::here::Who;

/// A registry center.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RegistryView {
    name: String,
    /// CONNECTED, CONNECTING, SUSPENDED or CLOSED.
    session: &'static str,
    /// Whether runs and decisions can be read.
    traced: bool,
}

/// The registry centers that the caller may see
#[utoipa::path(get, path = "/api/v1/registries", tag = "registries",
    responses((status = 200, body = Vec<RegistryView>), (status = "default", body = Problem)))]
pub(crate) async fn list(who: Who) -> Json<Vec<RegistryView>> {
    let seen = who.app.registries.values().filter(|registry| who.identity.sees_registry(registry.name()));
    let view = |registry: &crate::Registry| RegistryView {
        name: registry.name().to_owned(),
        session: match *registry.center().session().borrow() {
            SessionState::Connected { .. } => "CONNECTED",
            SessionState::Connecting => "CONNECTING",
            SessionState::Suspended { .. } => "SUSPENDED",
            SessionState::Closed => "CLOSED",
        },
        traced: registry.trace_reader().is_some(),
    };
    Json(seen.map(|registry| view(registry)).collect())
}

/// Who calls.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Caller {
    name: String,
    anonymous: bool,
    read_only: bool,
}

/// The caller
#[utoipa::path(get, path = "/api/v1/me", tag = "registries",
    responses((status = 200, body = Caller), (status = "default", body = Problem)))]
pub(crate) async fn me(who: Who) -> Json<Caller> {
    Json(Caller {
        name: who.identity.name().to_owned(),
        anonymous: who.identity.is_anonymous(),
        read_only: who.app.options.read_only,
    })
}
