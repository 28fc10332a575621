//! The carried jobs, one of them, and the logs of their items.

use askama::Template;
use axum::Form;
use axum::extract::{Path, Query};
use axum::http::{HeaderMap, Method};
use axum::response::Response;
use elasticjob::ident::JobName;
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

/// The type of jobs whose processes schedule by themselves.
const DAEMON: &str = "DAEMON";

/// A job in the list.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Job {
    job_name: JobName,
    app_name: String,
    job_execution_type: String,
    cron: Option<String>,
    #[serde(default)]
    depends_on: Vec<String>,
    sharding_total_count: u32,
    cpu_count: f64,
    #[serde(rename = "memoryMB")]
    memory_mb: f64,
    description: Option<String>,
}

struct Row {
    job: Job,
    is_enabled: bool,
    /// Its schedule in words.
    words: Option<String>,
    /// The jobs that it runs after.
    after: Option<String>,
}

#[derive(Template)]
#[template(path = "cloud_jobs.html")]
struct JobsPage {
    layout: Layout,
    said: Option<Said>,
    rows: Vec<Row>,
    may_register: bool,
}

#[derive(Template)]
#[template(path = "cloud_job.html")]
struct JobPage {
    layout: Layout,
    said: Option<Said>,
    name: JobName,
    app: String,
    is_enabled: bool,
    is_app_enabled: bool,
    /// The registration, by field.
    facts: Vec<(String, String)>,
    may_operate: bool,
    may_administer: bool,
}

#[derive(Template)]
#[template(path = "cloud_log.html")]
struct LogPage {
    layout: Layout,
    name: String,
    query: LogQuery,
    /// Whether processes have the logs, and not items.
    is_daemon: bool,
    /// What was written, or why there is nothing.
    log: Result<Log, String>,
}

/// What was written, as far as it is shown.
struct Log {
    text: String,
    /// How many bytes are shown of a log that is longer.
    cut: Option<u64>,
}

impl Log {
    /// The header by which an answer says that it has the end of a log alone. Its first line says the same, in English.
    const CUT: &str = "elasticjob-log-cut";

    fn of((headers, text): (HeaderMap, String)) -> Self {
        let cut = headers.get(Self::CUT).and_then(|cut| cut.to_str().ok()?.parse().ok());
        let of_log = text.split_once('\n').filter(|_| cut.is_some()).map(|(_, log)| log.to_owned());
        Self { text: of_log.unwrap_or(text), cut }
    }
}

/// Which log is shown.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct LogQuery {
    item: u32,
    /// Of a DAEMON job.
    process: u32,
    launch: String,
}

async fn rows(cloud: &Cloud, layout: &Layout) -> Result<Vec<Row>, Refusal> {
    let jobs: Vec<Job> = cloud.get("/api/job/jobs").await?;
    let disabled = Disabled::read(cloud).await?;
    let row = |job: Job| Row {
        is_enabled: !disabled.jobs.iter().any(|name| *name == job.job_name.as_str())
            && !disabled.apps.contains(&job.app_name),
        words: job.cron.as_deref().and_then(|cron| layout.words(cron)),
        after: (!job.depends_on.is_empty()).then(|| job.depends_on.join(", ")),
        job,
    };
    Ok(jobs.into_iter().map(row).collect())
}

pub(crate) async fn list(cloud: Cloud, headers: HeaderMap) -> Response {
    let layout = Layout::of(&cloud.here);
    let rows = match rows(&cloud, &layout).await {
        Ok(rows) => rows,
        Err(refusal) => return error::refused(&cloud.here, &refusal),
    };
    let registers = crate::access::Permission::HasForSome(Role::Admin);
    let may_register = cloud.here.identity.may(registers, Some(cloud.here.registry.name()), None);
    let shown = page(&JobsPage { layout, said: Said::of(&cloud.here.app, &headers), rows, may_register });
    Said::forget(&cloud.here.app, shown)
}

async fn one(cloud: &Cloud, name: &str, said: Option<Said>) -> Result<JobPage, Refusal> {
    let path = format!("/api/job/jobs/{}", segment(name));
    let all: Map<String, Value> = cloud.get(&path).await?;
    let job = serde_json::from_value(Value::Object(all.clone()));
    let job: Job = job.map_err(|error| Refusal::unreadable(&path, &error))?;
    let disabled = Disabled::read(cloud).await?;
    Ok(JobPage {
        layout: Layout::of(&cloud.here),
        said,
        is_enabled: !disabled.jobs.iter().any(|one| one == name),
        is_app_enabled: !disabled.apps.contains(&job.app_name),
        facts: all.iter().map(|(field, value)| (field.clone(), fields::written(value))).collect(),
        may_operate: cloud.here.may(Role::Operator, &job.job_name),
        may_administer: cloud.here.may(Role::Admin, &job.job_name),
        app: job.app_name,
        name: job.job_name,
    })
}

pub(crate) async fn show(cloud: Cloud, headers: HeaderMap, Path((_, name)): Path<(String, String)>) -> Response {
    match one(&cloud, &name, Said::of(&cloud.here.app, &headers)).await {
        Ok(shown) => Said::forget(&cloud.here.app, page(&shown)),
        Err(refusal) => error::refused(&cloud.here, &refusal),
    }
}

/// Triggers, enables or disables a job.
pub(crate) async fn act(cloud: Cloud, Path((_, name)): Path<(String, String)>, Form(sent): Fields) -> Response {
    let (loader, encoded) = (cloud.here.text.loader(), segment(&name));
    let (path, body, done) = match form::one(&sent, "action") {
        "trigger" => ("/api/job/trigger".to_owned(), name, fl!(loader, "done-triggered")),
        "enable" => (format!("/api/job/{encoded}/enable"), String::new(), fl!(loader, "done-enabled")),
        "disable" => (format!("/api/job/{encoded}/disable"), String::new(), fl!(loader, "done-disabled")),
        _ => return no_action(&cloud),
    };
    let sent = cloud.send(Method::POST, &path, body).await;
    ended(&cloud, sent, done, &format!("/cloud/jobs/{encoded}"))
}

/// Removes a job.
pub(crate) async fn remove(cloud: Cloud, Path((_, name)): Path<(String, String)>) -> Response {
    let sent = cloud.send(Method::DELETE, &format!("/api/job/{}/deregister", segment(&name)), String::new()).await;
    let done = fl!(cloud.here.text.loader(), "cloud-done-removed", name = name.as_str());
    let back = if sent.is_ok() { "/cloud/jobs".to_owned() } else { format!("/cloud/jobs/{}", segment(&name)) };
    ended(&cloud, sent, done, &back)
}

/// What an item wrote, or a process of a DAEMON job.
pub(crate) async fn log(
    cloud: Cloud,
    Path((_, name)): Path<(String, String)>,
    Query(query): Query<LogQuery>,
) -> Response {
    let job: Result<Job, Refusal> = cloud.get(&format!("/api/job/jobs/{}", segment(&name))).await;
    let job = match job {
        Ok(job) => job,
        Err(refusal) => return error::refused(&cloud.here, &refusal),
    };
    let is_daemon = job.job_execution_type == DAEMON;
    let wanted = match (is_daemon, query.launch.as_str()) {
        (true, _) => format!("process={}", query.process),
        (false, "") => format!("item={}", query.item),
        (false, launch) => format!("item={}&launch={}", query.item, segment(launch)),
    };
    let path = format!("/api/job/{}/log?{wanted}", segment(&name));
    let log = cloud.call(Method::GET, &path, String::new()).await.map(Log::of);
    let log = log.map_err(|refusal| refusal.shown(&cloud.here.text));
    page(&LogPage { layout: Layout::of(&cloud.here), name, query, is_daemon, log })
}
