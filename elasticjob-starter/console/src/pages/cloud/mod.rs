//! Pages of carried jobs: applications, jobs, what runs and what waits, figures. Each shows what the REST API of the scheduler
//! answers, and each button is a call of it. A console that is not beside a scheduler says so.

pub(crate) mod apps;
pub(crate) mod dashboard;
mod fields;
pub(crate) mod jobs;
mod lines;
pub(crate) mod registration;
pub(crate) mod tasks;

use axum::response::Response;
use serde::Deserialize;

use super::outcome::Said;
use crate::access::{Permission, ReasonRule, Role};
use crate::api::Problem;
use crate::cloud::{Cloud, Refusal};
use crate::router::Routes;
use crate::texts;

/// Adds the routes.
pub(super) fn declare(routes: Routes) -> Routes {
    let [viewer, operator, _, admin] = Role::ALL.map(Permission::Has);
    // The API of the scheduler takes no reasons.
    let free = ReasonRule::Free;
    routes
        .get("/r/{registry}/cloud", viewer, dashboard::show)
        .get("/r/{registry}/cloud/apps", viewer, apps::list)
        .get("/r/{registry}/cloud/apps/{app}", viewer, apps::show)
        .post("/r/{registry}/cloud/apps/{app}", operator, free, apps::act)
        .post("/r/{registry}/cloud/apps/{app}/removal", admin, free, apps::remove)
        .get("/r/{registry}/cloud/apps/{app}/change", admin, registration::change_app)
        .post("/r/{registry}/cloud/apps/{app}/change", admin, free, registration::save_app)
        .get("/r/{registry}/cloud/jobs", viewer, jobs::list)
        .get("/r/{registry}/cloud/jobs/{job}", viewer, jobs::show)
        .post("/r/{registry}/cloud/jobs/{job}", operator, free, jobs::act)
        .post("/r/{registry}/cloud/jobs/{job}/removal", admin, free, jobs::remove)
        .get("/r/{registry}/cloud/jobs/{job}/change", admin, registration::change_job)
        .post("/r/{registry}/cloud/jobs/{job}/change", admin, free, registration::save_job)
        .get("/r/{registry}/cloud/jobs/{job}/log", viewer, jobs::log)
        .get("/r/{registry}/cloud/tasks", viewer, tasks::show)
        .post("/r/{registry}/cloud/tasks", operator, free, tasks::reconcile)
        .get("/r/{registry}/cloud/new-app", admin, registration::new_app)
        .post("/r/{registry}/cloud/new-app", admin, free, registration::add_app)
        .get("/r/{registry}/cloud/new-job", Permission::HasForSome(Role::Admin), registration::new_job)
        .post("/r/{registry}/cloud/new-job", Permission::HasForSome(Role::Admin), free, registration::add_job)
}

/// Which applications and jobs are disabled.
#[derive(Debug, Default, Deserialize)]
struct Disabled {
    apps: Vec<String>,
    jobs: Vec<String>,
}

impl Disabled {
    async fn read(cloud: &Cloud) -> Result<Self, Refusal> {
        cloud.get("/api/operate/disabled").await
    }
}

/// Goes to a page of the registry center, which tells how an action ended.
fn ended(cloud: &Cloud, ended: Result<(), Refusal>, done: String, page: &str) -> Response {
    let said = match ended {
        Ok(()) => Said::done(done),
        Err(refusal) => Said::failed(refusal.shown(&cloud.here.text)),
    };
    said.at(&cloud.here.app, &format!("/r/{}{page}", cloud.here.registry.name()))
}

/// A form without one of the actions of its page.
fn no_action(cloud: &Cloud) -> Response {
    super::error::problem(&cloud.here, &Problem::bad_request(texts::no_action()))
}
