//! The scheduler of carried jobs beside the console, called through its own REST API: what pages show and do is what
//! programs get from it.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::FromRequestParts;
use axum::http::header::{HOST, HeaderValue};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, Request, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use elasticjob::config::Message;
use serde::de::DeserializeOwned;
use serde_json::json;
use tower::ServiceExt;

use crate::access::Caller;
use crate::app::App;
use crate::here::Here;
use crate::pages;
use crate::text::Text;
use crate::{texts, translated};

/// The longest answer that a page reads, in bytes.
const LONGEST: usize = 64 * 1024 * 1024;

/// The REST API of a scheduler on the port of the console.
#[derive(Debug, Clone)]
pub(crate) struct Rest {
    /// The registry center that its registrations are in.
    registry: Arc<str>,
    router: Router,
}

impl Rest {
    pub(crate) fn new(registry: &str, router: Router) -> Self {
        Self { registry: registry.into(), router }
    }

    pub(crate) fn router(&self) -> &Router {
        &self.router
    }

    /// Whether an address that no route has belongs to the REST API of a scheduler on this port: to the one of the console belongs
    /// what is below `/api/v1`, or below its base path.
    pub(crate) fn has(app: &App, request: &Request<Body>) -> bool {
        let is_of_console = request.uri().path().starts_with("/api/v1/") || !app.options.base_path.is_empty();
        !is_of_console && request.extensions().get::<Self>().is_some()
    }

    /// Says so in the form of the errors of that API.
    pub(crate) fn no_such_route() -> Response {
        let message = "there is no such route: /api/openapi.json has all of them";
        (StatusCode::NOT_FOUND, Json(json!({ "message": message, "code": "cloud-no-such-address" }))).into_response()
    }

    /// The scheduler of a registry center, where the request came to a console beside it.
    pub(crate) fn of<'a>(parts: &'a Parts, registry: &str) -> Option<&'a Self> {
        parts.extensions.get::<Self>().filter(|rest| *rest.registry == *registry)
    }
}

/// The scheduler of the registry center of the path, called in the name of the caller of the request.
#[derive(Debug, Clone)]
pub(crate) struct Cloud {
    pub(crate) here: Here,
    router: Router,
    /// The host that the request named: the API lets visitors in by the names of this host alone.
    host: Option<HeaderValue>,
}

impl FromRequestParts<App> for Cloud {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let here = Here::from_request_parts(parts, app).await?;
        match Rest::of(parts, here.registry.name()) {
            Some(rest) => Ok(Self { router: rest.router.clone(), host: parts.headers.get(HOST).cloned(), here }),
            None => Err(pages::error::no_scheduler(&here)),
        }
    }
}

/// The API did not do what was asked.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) refused: Refused,
}

/// The reason why a REST API did not do what was asked, among the extensions of its answer: pages on the same port say it in the
/// language of their reader. The body has it in English alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    pub(crate) message: Message,
    /// The fields of a registration that are wrong.
    pub(crate) problems: Vec<WrongField>,
}

/// A field of a registration, with what is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WrongField {
    pub(crate) field: String,
    pub(crate) reason: Message,
}

impl Refused {
    /// A refusal, with the fields that are wrong and why.
    pub fn new(message: Message, fields: impl IntoIterator<Item = (String, Message)>) -> Self {
        let problems = fields.into_iter().map(|(field, reason)| WrongField { field, reason }).collect();
        Self { message, problems }
    }

    /// The reason.
    pub fn message(&self) -> &Message {
        &self.message
    }

    /// The fields that are wrong, and why.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &Message)> {
        self.problems.iter().map(|wrong| (wrong.field.as_str(), &wrong.reason))
    }
}

impl From<Message> for Refused {
    fn from(message: Message) -> Self {
        Self { message, problems: Vec::new() }
    }
}

impl Refusal {
    /// An answer that makes no sense.
    pub(crate) fn unreadable(path: &str, error: &serde_json::Error) -> Self {
        let refused = texts::answer_unreadable(path, error.to_string()).into();
        Self { status: StatusCode::BAD_GATEWAY, refused }
    }

    /// The reason in the language of a reader.
    pub(crate) fn shown(&self, text: &Text) -> String {
        translated::shown(text, &self.refused.message)
    }
}

impl Cloud {
    /// Reads something.
    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Refusal> {
        let text = self.text(Method::GET, path, String::new()).await?;
        serde_json::from_str(&text).map_err(|error| Refusal::unreadable(path, &error))
    }

    /// Does something.
    pub(crate) async fn send(&self, method: Method, path: &str, body: String) -> Result<(), Refusal> {
        self.text(method, path, body).await.map(drop)
    }

    /// Calls the API; returns the body of an answer that is a success.
    async fn text(&self, method: Method, path: &str, body: String) -> Result<String, Refusal> {
        self.call(method, path, body).await.map(|(_, text)| text)
    }

    /// The same with the headers.
    pub(crate) async fn call(&self, method: Method, path: &str, body: String) -> Result<(HeaderMap, String), Refusal> {
        let failed = |error: String| Refusal {
            status: StatusCode::BAD_GATEWAY,
            refused: texts::call_failed(path, error).into(),
        };
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .extension(Caller::of(&self.here.identity, self.here.origin.clone()));
        if let Some(host) = &self.host {
            request = request.header(HOST, host);
        }
        let request = request.body(Body::from(body)).map_err(|error| failed(error.to_string()))?;
        let answer = match self.router.clone().oneshot(request).await {
            Ok(answer) => answer,
            Err(never) => match never {},
        };
        let (parts, body) = answer.into_parts();
        let (status, body) = (parts.status, to_bytes(body, LONGEST).await);
        let text = String::from_utf8_lossy(&body.map_err(|error| failed(error.to_string()))?).into_owned();
        if status.is_success() {
            return Ok((parts.headers, text));
        }
        // An answer of another router than that of the scheduler.
        let refused = parts.extensions.get::<Refused>().cloned().unwrap_or_else(|| Message::from(text).into());
        Err(Refusal { status, refused })
    }
}
