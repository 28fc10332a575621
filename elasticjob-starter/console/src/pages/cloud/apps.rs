//! The applications, and one with its jobs and launches.

use askama::Template;
use axum::Form;
use axum::extract::Path;
use axum::http::{HeaderMap, Method};
use axum::response::Response;
use i18n_embed_fl::fl;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::super::form::{self, Fields};
use super::super::outcome::{Said, Tone};
use super::super::{Layout, error, page, segment};
use super::{Disabled, ended, fields, no_action};
use crate::access::Role;
use crate::cloud::{Cloud, Refusal};
use crate::text::t;

/// An application in the list.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct App {
    app_name: String,
    #[serde(rename = "appURL")]
    app_url: String,
    bootstrap_script: String,
    cpu_count: f64,
    #[serde(rename = "memoryMB")]
    memory_mb: f64,
}

/// What a list needs of a job.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct JobOfApp {
    job_name: String,
    app_name: String,
}

/// A launch that the carrier knows.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Launch {
    hostname: String,
    job_name: String,
    launch: String,
}

struct Row {
    app: App,
    is_enabled: bool,
    jobs: usize,
}

#[derive(Template)]
#[template(path = "cloud_apps.html")]
struct AppsPage {
    layout: Layout,
    said: Option<Said>,
    rows: Vec<Row>,
    may_administer: bool,
}

#[derive(Template)]
#[template(path = "cloud_app.html")]
struct AppPage {
    layout: Layout,
    said: Option<Said>,
    name: String,
    is_enabled: bool,
    /// The registration, by field.
    facts: Vec<(String, String)>,
    jobs: Vec<(String, bool)>,
    launches: Vec<Launch>,
    may_operate: bool,
    may_administer: bool,
}

fn has(cloud: &Cloud, role: Role) -> bool {
    cloud.here.identity.has_everywhere(role, cloud.here.registry.name())
}

async fn rows(cloud: &Cloud) -> Result<Vec<Row>, Refusal> {
    let apps: Vec<App> = cloud.get("/api/app/list").await?;
    let jobs: Vec<JobOfApp> = cloud.get("/api/job/jobs").await?;
    let disabled = Disabled::read(cloud).await?;
    let row = |app: App| Row {
        is_enabled: !disabled.apps.contains(&app.app_name),
        jobs: jobs.iter().filter(|job| job.app_name == app.app_name).count(),
        app,
    };
    Ok(apps.into_iter().map(row).collect())
}

pub(crate) async fn list(cloud: Cloud, headers: HeaderMap) -> Response {
    let rows = match rows(&cloud).await {
        Ok(rows) => rows,
        Err(refusal) => return error::refused(&cloud.here, &refusal),
    };
    let (layout, said) = (Layout::of(&cloud.here), Said::of(&cloud.here.app, &headers));
    let shown = page(&AppsPage { layout, said, rows, may_administer: has(&cloud, Role::Admin) });
    Said::forget(&cloud.here.app, shown)
}

async fn one(cloud: &Cloud, name: String, said: Option<Said>) -> Result<AppPage, Refusal> {
    let app: Map<String, Value> = cloud.get(&format!("/api/app/{}", segment(&name))).await?;
    let jobs: Vec<JobOfApp> = cloud.get("/api/job/jobs").await?;
    let launches = cloud.get(&format!("/api/operate/sandbox?appName={}", segment(&name))).await?;
    let disabled = Disabled::read(cloud).await?;
    let of_app = jobs.into_iter().filter(|job| job.app_name == name);
    Ok(AppPage {
        layout: Layout::of(&cloud.here),
        said,
        is_enabled: !disabled.apps.contains(&name),
        facts: app.iter().map(|(field, value)| (field.clone(), fields::written(value))).collect(),
        jobs: of_app.map(|job| (job.job_name.clone(), !disabled.jobs.contains(&job.job_name))).collect(),
        launches,
        may_operate: has(cloud, Role::Operator),
        may_administer: has(cloud, Role::Admin),
        name,
    })
}

pub(crate) async fn show(cloud: Cloud, headers: HeaderMap, Path((_, name)): Path<(String, String)>) -> Response {
    match one(&cloud, name, Said::of(&cloud.here.app, &headers)).await {
        Ok(shown) => Said::forget(&cloud.here.app, page(&shown)),
        Err(refusal) => error::refused(&cloud.here, &refusal),
    }
}

/// Enables or disables an application.
pub(crate) async fn act(cloud: Cloud, Path((_, name)): Path<(String, String)>, Form(sent): Fields) -> Response {
    let action = form::one(&sent, "action");
    let done = match action {
        "enable" => fl!(cloud.here.text.loader(), "done-enabled"),
        "disable" => fl!(cloud.here.text.loader(), "done-disabled"),
        _ => return no_action(&cloud),
    };
    let name = segment(&name);
    let sent = cloud.send(Method::POST, &format!("/api/app/{name}/{action}"), String::new()).await;
    ended(&cloud, sent, done, &format!("/cloud/apps/{name}"))
}

/// Removes an application with its jobs.
pub(crate) async fn remove(cloud: Cloud, Path((_, name)): Path<(String, String)>) -> Response {
    let sent = cloud.send(Method::DELETE, &format!("/api/app/{}", segment(&name)), String::new()).await;
    let (done, back) = (fl!(cloud.here.text.loader(), "cloud-done-removed", name = name.as_str()), segment(&name));
    let back = if sent.is_ok() { "/cloud/apps".to_owned() } else { format!("/cloud/apps/{back}") };
    ended(&cloud, sent, done, &back)
}
