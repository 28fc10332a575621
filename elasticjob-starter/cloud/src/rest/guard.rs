//! Keeps callers out of what they may not do.

use std::collections::HashMap;
use std::net::SocketAddr;

use axum::Json;
use axum::extract::{ConnectInfo, FromRequestParts, RawPathParams, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use elasticjob_console::{Caller, NotKnown, Role};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Api;
use super::answer::Refusal;

/// What the request shows: the header of ElasticJob-Cloud, or the usual one.
fn shown(headers: &HeaderMap) -> Option<&str> {
    if let Some(token) = headers.get("accessToken") {
        return token.to_str().ok();
    }
    let (scheme, token) = headers.get("authorization")?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Whether the request names a loopback address as its host.
fn is_named_loopback(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get("host").and_then(|host| host.to_str().ok()) else { return false };
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Lets a caller pass who has the role, for the job that the path names or for all.
pub(super) async fn guard(
    State((api, role)): State<(Api, Option<Role>)>,
    params: RawPathParams,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(role) = role else { return next.run(request).await };
    // A page of the console on this port calls in the name of its reader. Nothing that a client sends becomes an extension.
    let of_page = request.extensions().get::<Caller>().cloned();
    let caller = match of_page.map_or_else(|| api.access.caller(shown(request.headers())), Ok) {
        Ok(caller) => caller,
        Err(error) => return Refusal::new(StatusCode::UNAUTHORIZED, error.to_string()).into_response(),
    };
    // A caller that need not log in is on this host. A page whose name leads to this host by a trick of its name server
    // is not.
    if caller.is_anonymous() && !is_named_loopback(request.headers()) {
        return Refusal::new(
            StatusCode::UNAUTHORIZED,
            "Unauthorized: without a login use http://127.0.0.1 or http://localhost",
        )
        .into_response();
    }
    let job = params.iter().find(|(name, _)| *name == "job").map(|(_, value)| value.to_owned());
    let visitor = Visitor { api, caller };
    // The body of a request may name the job: its handler asks again, for that job.
    let is_let_in = match job {
        Some(job) => visitor.may(role, &job),
        None => visitor.may_somewhere(role),
    };
    if !is_let_in {
        return visitor.kept_out(role).into_response();
    }
    request.extensions_mut().insert(visitor);
    next.run(request).await
}

/// A caller who was let in.
#[derive(Clone)]
pub(super) struct Visitor {
    pub(super) api: Api,
    caller: Caller,
}

impl Visitor {
    pub(super) fn may(&self, role: Role, job: &str) -> bool {
        self.caller.may(role, &self.api.registry, Some(job))
    }

    /// Whether the caller has the role for all jobs, as applications belong to no job.
    pub(super) fn needs_for_all(&self, role: Role) -> Result<(), Refusal> {
        match self.caller.may(role, &self.api.registry, None) {
            true => Ok(()),
            false => Err(self.kept_out(role)),
        }
    }

    pub(super) fn needs(&self, role: Role, job: &str) -> Result<(), Refusal> {
        if self.may(role, job) { Ok(()) } else { Err(self.kept_out(role)) }
    }

    /// Whether the caller may look at anything; what needs more is asked with the name of the job.
    fn may_somewhere(&self, role: Role) -> bool {
        let wanted = if role == Role::Viewer { role } else { Role::Viewer };
        self.caller.may(wanted, &self.api.registry, None)
    }

    fn kept_out(&self, role: Role) -> Refusal {
        match self.caller.is_anonymous() {
            true => Refusal::new(
                StatusCode::UNAUTHORIZED,
                "Unauthorized: POST name and password to /api/login, and send the header accessToken",
            ),
            false => Refusal::new(StatusCode::FORBIDDEN, format!("the role {role} is needed for it")),
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Visitor {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        let visitor = parts.extensions.get::<Self>().cloned();
        visitor.ok_or_else(|| Refusal::new(StatusCode::UNAUTHORIZED, "Unauthorized"))
    }
}

/// The body of a login.
#[derive(Deserialize)]
pub(super) struct Login {
    username: String,
    password: String,
}

pub(super) async fn log_in(
    State(api): State<Api>,
    address: Option<axum::Extension<ConnectInfo<SocketAddr>>>,
    body: String,
) -> Result<Json<Value>, Refusal> {
    let login: Login = serde_json::from_str(&body)
        .map_err(|error| Refusal::bad(format!("give {{\"username\": ..., \"password\": ...}}: {error}")))?;
    let from = address.map(|axum::Extension(ConnectInfo(address))| address.ip());
    match api.access.log_in(&login.username, login.password, from).await {
        Ok(token) => Ok(Json(json!({ "accessToken": token }))),
        Err(error) => {
            let status = match error {
                NotKnown::Slowed(_) => StatusCode::TOO_MANY_REQUESTS,
                NotKnown::NoSession(_) => StatusCode::INTERNAL_SERVER_ERROR,
                _ => StatusCode::UNAUTHORIZED,
            };
            Err(Refusal::new(status, error.to_string()))
        }
    }
}

/// The parameters after the `?`.
pub(super) type Parameters = HashMap<String, String>;
