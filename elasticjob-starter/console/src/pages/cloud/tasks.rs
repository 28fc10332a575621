//! Tasks that run, that wait and why, and that were lost.

use askama::Template;
use axum::http::{HeaderMap, Method};
use axum::response::Response;
use elasticjob::ident::JobName;
use i18n_embed_fl::fl;
use serde::Deserialize;

use super::super::outcome::{Said, Tone};
use super::super::time::Clock;
use super::super::{Layout, error, page, segment};
use super::ended;
use crate::access::Role;
use crate::cloud::{Cloud, Refusal};
use crate::text::t;

/// The job and the items of a task.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Meta {
    job_name: String,
    sharding_items: Vec<u32>,
}

impl Meta {
    /// The item; a task has one.
    fn item(&self) -> u32 {
        self.sharding_items.first().copied().unwrap_or_default()
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Running {
    meta_info: Meta,
    #[serde(rename = "type")]
    kind: String,
    slave_id: String,
    since: Option<i64>,
    attempt: Option<u32>,
    /// Why the place of the attempt before was lost.
    lost: Option<String>,
    /// Whether its run is over for the job, and its process is being stopped.
    stopping: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Ready {
    job_name: String,
    /// The items that wait.
    pub(crate) items: Vec<Waiting>,
    misfired: bool,
    /// Why the job as a whole does not run here.
    pub(crate) why: Option<String>,
}

/// An item that waits at its carrier.
#[derive(Debug, Deserialize)]
pub(crate) struct Waiting {
    pub(crate) item: u32,
    pub(crate) why: String,
    /// In milliseconds since 1970.
    pub(crate) since: Option<i64>,
    attempt: Option<u32>,
}

impl Waiting {
    /// Which attempt it is, of an item that is run again.
    fn again(&self) -> Option<u32> {
        self.attempt.filter(|attempt| *attempt > 1)
    }
}

impl Ready {
    /// What a job waits for by its scheduler; nothing for a job that is not a carried one.
    pub(crate) async fn of(cloud: &Cloud, job: &JobName) -> Result<Vec<Self>, Refusal> {
        cloud.get(&format!("/api/job/tasks/ready?jobName={}", segment(job.as_str()))).await
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Failover {
    task_info: Meta,
    original_task_id: String,
    why: String,
    /// The attempt that waits; nothing where only another scheduler knows.
    attempt: Option<u32>,
}

#[derive(Template)]
#[template(path = "cloud_tasks.html")]
struct TasksPage {
    layout: Layout,
    clock: Clock,
    said: Option<Said>,
    running: Vec<Running>,
    ready: Vec<Ready>,
    failover: Vec<Failover>,
    may_operate: bool,
}

impl TasksPage {
    async fn of(cloud: &Cloud, said: Option<Said>) -> Result<Self, Refusal> {
        Ok(Self {
            layout: Layout::of(&cloud.here),
            clock: Clock::in_zone(None),
            said,
            running: cloud.get("/api/job/tasks/running").await?,
            ready: cloud.get("/api/job/tasks/ready").await?,
            failover: cloud.get("/api/job/tasks/failover").await?,
            may_operate: cloud.here.identity.has_everywhere(Role::Operator, cloud.here.registry.name()),
        })
    }

    fn job(&self, name: &str) -> String {
        self.layout.here(&format!("/cloud/jobs/{}", segment(name)))
    }
}

pub(crate) async fn show(cloud: Cloud, headers: HeaderMap) -> Response {
    match TasksPage::of(&cloud, Said::of(&cloud.here.app, &headers)).await {
        Ok(shown) => Said::forget(&cloud.here.app, page(&shown)),
        Err(refusal) => error::refused(&cloud.here, &refusal),
    }
}

/// Asks the carrier again for all that is waited for.
pub(crate) async fn reconcile(cloud: Cloud) -> Response {
    let sent = cloud.send(Method::POST, "/api/operate/reconcile/explicit", String::new()).await;
    ended(&cloud, sent, fl!(cloud.here.text.loader(), "cloud-done-reconciled"), "/cloud/tasks")
}
