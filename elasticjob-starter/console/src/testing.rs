//! A console for tests, and calls of it without a network.

pub(crate) mod stuck;
pub(crate) mod traced;
pub(crate) mod unread;

use std::sync::Arc;

use argon2::password_hash::PasswordHasher;
use argon2::{Algorithm, Argon2, Params, Version};
use axum::body::{Body, to_bytes};
use axum::http::header::{CONTENT_TYPE, COOKIE, HOST, SET_COOKIE};
use axum::http::{HeaderMap, Request, StatusCode};
use elasticjob::api::{ItemHandler, ItemWork};
use elasticjob::config::{JobConfiguration, JobSettings};
use elasticjob::ident::JobName;
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::runtime::{JobEnvironment, ScheduleJobBootstrap};
use tower::ServiceExt;

use crate::access::{Grant, PasswordHash, Role, User};
use crate::{Console, ConsoleOptions, Registry};

pub(crate) const PASSWORD: &str = "correct horse battery";

pub(crate) fn console(options: ConsoleOptions) -> Console {
    let center = Arc::new(MemoryRegistry::new().connect());
    Console::new(options, [Registry::new("default", center)]).expect("the options are right")
}

/// A hash of [`PASSWORD`] that costs as little as one may: tests log in some thousand times.
pub(crate) fn hash() -> PasswordHash {
    let least =
        Params::new(Params::MIN_M_COST, Params::MIN_T_COST, Params::MIN_P_COST, None).expect("they are allowed");
    let cheap = Argon2::new(Algorithm::Argon2id, Version::V0x13, least);
    let hash = cheap.hash_password(PASSWORD.as_bytes()).expect("it is long enough");
    hash.to_string().parse().expect("it is a hash")
}

/// A console with a user for each role, named after it, and one without a role.
pub(crate) fn with_users() -> ConsoleOptions {
    let hash = hash();
    let mut users: Vec<User> =
        Role::ALL.into_iter().map(|role| User::new(role.as_str(), hash.clone(), [Grant::everywhere(role)])).collect();
    users.push(User::new("nothing", hash, []));
    ConsoleOptions { users, ..ConsoleOptions::default() }
}

pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

pub(crate) async fn call(console: &Console, request: Request<Body>) -> Answer {
    let response = console.router().oneshot(request).await.expect("a router answers");
    let (parts, body) = response.into_parts();
    // A stream has no end.
    let is_stream = parts.headers.get(CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream");
    let body = if is_stream { Body::empty() } else { body };
    let body = to_bytes(body, 1 << 20).await.expect("the body is short");
    Answer { status: parts.status, headers: parts.headers, body: String::from_utf8_lossy(&body).into_owned() }
}

pub(crate) fn request(method: &str, path: &str, cookie: Option<&str>) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(path).header(HOST, "console.example");
    if let Some(cookie) = cookie {
        request = request.header(COOKIE, cookie);
    }
    request.body(Body::empty()).expect("it is a request")
}

pub(crate) fn login(name: &str, password: &str, next: &str) -> Request<Body> {
    let form = form_urlencoded::Serializer::new(String::new())
        .extend_pairs([("name", name), ("password", password), ("next", next)])
        .finish();
    Request::builder()
        .method("POST")
        .uri("/login")
        .header(HOST, "console.example")
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(Body::from(form))
        .expect("it is a request")
}

/// Logs in, and returns the cookie.
pub(crate) async fn cookie_of(console: &Console, name: &str) -> String {
    let answer = call(console, login(name, PASSWORD, "/")).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    let cookie = answer.headers[SET_COOKIE].to_str().expect("it is a text");
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"), "{cookie}");
    cookie.split(';').next().unwrap_or_default().to_owned()
}

/// Settings of a job, of which some are set.
pub(crate) fn job_settings(set: impl FnOnce(&mut JobSettings)) -> JobSettings {
    let mut settings = JobSettings::default();
    set(&mut settings);
    settings
}

/// A job that fires only at the turn of the year, with an instance that runs it.
pub(crate) async fn start_job(memory: &MemoryRegistry, name: &str, settings: &JobSettings) -> ScheduleJobBootstrap {
    let handler = ItemHandler::new(|_| ItemWork::Async(Box::pin(async { Ok(()) })));
    start_job_with(memory, name, settings, handler).await
}

/// The same, with what it does.
pub(crate) async fn start_job_with(
    memory: &MemoryRegistry,
    name: &str,
    settings: &JobSettings,
    handler: ItemHandler,
) -> ScheduleJobBootstrap {
    let mut base = JobSettings::default();
    base.cron = settings.depends_on.is_none().then(|| "0 0 0 1 1 ?".to_owned());
    base.time_zone = settings.depends_on.is_none().then(|| "UTC".to_owned());
    base.sharding_total_count = Some(2);
    let name = JobName::new(name).expect("a name");
    let configuration = JobConfiguration::from_settings(name, &settings.clone().over(base)).expect("it is right");
    let environment = JobEnvironment::builder().build().expect("an environment");
    let mut job = ScheduleJobBootstrap::new(&environment, Arc::new(memory.connect()), configuration, handler)
        .expect("it is right");
    job.schedule().await.expect("it starts");
    job
}

/// A console of a registry with users for each role.
pub(crate) fn console_of(memory: &MemoryRegistry) -> Console {
    Console::new(with_users(), [Registry::new("default", Arc::new(memory.connect()))]).expect("the options are right")
}

/// A request with a body of JSON.
pub(crate) fn json(method: &str, path: &str, cookie: &str, body: &serde_json::Value) -> Request<Body> {
    let mut request = request(method, path, Some(cookie));
    request.headers_mut().insert(CONTENT_TYPE, "application/json".parse().expect("a value"));
    *request.body_mut() = Body::from(body.to_string());
    request
}

/// A form of a page that is sent.
pub(crate) fn form(path: &str, cookie: &str, fields: &[(&str, &str)]) -> Request<Body> {
    let mut request = request("POST", path, Some(cookie));
    request.headers_mut().insert(CONTENT_TYPE, "application/x-www-form-urlencoded".parse().expect("a value"));
    *request.body_mut() = Body::from(form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish());
    request
}
