//! Keeps callers out of what they may not do.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

use axum::Json;
use axum::extract::{ConnectInfo, FromRequestParts, RawPathParams, Request, State};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use elasticjob_console::{Caller, NotKnown, Role};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Api;
use super::answer::Refusal;
use crate::scheduler::Registrations;
use crate::texts;

/// What the request shows: the header of ElasticJob-Cloud, or the usual one.
fn shown(headers: &HeaderMap) -> Option<&str> {
    if let Some(token) = headers.get("accessToken") {
        return token.to_str().ok();
    }
    let (scheme, token) = headers.get("authorization")?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The address that the connection comes from.
fn peer(extensions: &Extensions) -> Option<IpAddr> {
    extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(address)| address.ip())
}

/// The address of the client, behind a trusted proxy as well.
fn client(api: &Api, extensions: &Extensions, headers: &HeaderMap) -> Option<IpAddr> {
    peer(extensions).map(|peer| api.access.client(peer, headers))
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
    let (headers, extensions) = (request.headers(), request.extensions());
    let of_client = || api.access.caller(shown(headers), client(&api, extensions, headers), extensions, headers);
    let caller = match of_page.map_or_else(of_client, Ok) {
        Ok(caller) => caller,
        Err(error) => return Refusal::new(StatusCode::UNAUTHORIZED, error.message()).into_response(),
    };
    // A page of a foreign name that leads to this host by a trick of its name server shows nothing either.
    let peer = peer(request.extensions());
    if caller.is_anonymous() && !api.access.is_named_right(request.headers(), request.uri(), peer) {
        return Refusal::new(StatusCode::UNAUTHORIZED, texts::unauthorized_host()).into_response();
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
    pub(super) caller: Caller,
}

impl Visitor {
    pub(super) fn may(&self, role: Role, job: &str) -> bool {
        self.caller.may(role, &self.api.registry, Some(job))
    }

    /// The patterns of the names of all jobs that the caller sees.
    pub(super) fn seen_jobs(&self) -> Vec<String> {
        self.caller.seen_jobs(&self.api.registry)
    }

    /// Whether the caller has the role for all jobs, as applications belong to no job.
    pub(super) fn needs_for_all(&self, role: Role) -> Result<(), Refusal> {
        match self.caller.may(role, &self.api.registry, None) {
            true => Ok(()),
            false => Err(self.kept_out(role)),
        }
    }

    /// Whether the caller has the role for an application: by its name, as for a job, or for a job of it.
    pub(super) fn may_with_app(&self, role: Role, app: &str, all: &Registrations) -> bool {
        let of_app = || all.jobs.values().filter(|job| job.app_name == app);
        self.may(role, app) || of_app().any(|job| self.may(role, job.job_name.as_str()))
    }

    /// The same, where the caller is to be told.
    pub(super) fn needs_with_app(&self, role: Role, app: &str, all: &Registrations) -> Result<(), Refusal> {
        if self.may_with_app(role, app, all) { Ok(()) } else { Err(self.kept_out(role)) }
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
            true => Refusal::new(StatusCode::UNAUTHORIZED, texts::unauthorized()),
            false => Refusal::new(StatusCode::FORBIDDEN, texts::role_needed(role.as_str())),
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Visitor {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        let visitor = parts.extensions.get::<Self>().cloned();
        visitor.ok_or_else(|| Refusal::new(StatusCode::UNAUTHORIZED, texts::unauthorized()))
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
    extensions: Extensions,
    headers: HeaderMap,
    body: String,
) -> Result<Json<Value>, Refusal> {
    let login: Login =
        serde_json::from_str(&body).map_err(|error| Refusal::bad(texts::login_body(error.to_string())))?;
    let from = client(&api, &extensions, &headers);
    match api.access.log_in(&login.username, login.password, from).await {
        Ok(token) => Ok(Json(json!({ "accessToken": token }))),
        Err(error) => {
            let status = match error {
                NotKnown::Slowed(_) => StatusCode::TOO_MANY_REQUESTS,
                NotKnown::NoSession(_) => StatusCode::INTERNAL_SERVER_ERROR,
                _ => StatusCode::UNAUTHORIZED,
            };
            Err(Refusal::new(status, error.message()))
        }
    }
}

/// The parameters after the `?`.
pub(super) type Parameters = HashMap<String, String>;
