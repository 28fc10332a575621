//! The pages, one file each. They work without script.

pub(crate) mod access;
mod actions;
pub(crate) mod alarms;
mod api_reference;
pub(crate) mod chart;
#[cfg(test)]
mod chinese_tests;
pub(crate) mod cloud;
#[cfg(feature = "oidc")]
pub(crate) mod company_login;
pub(crate) mod comparison;
pub(crate) mod configuration;
pub(crate) mod configuration_edit;
pub(crate) mod configuration_history;
mod decisions;
mod disabled;
pub(crate) mod error;
mod findings;
pub(crate) mod fire;
mod fires;
pub(crate) mod form;
pub(crate) mod graph;
pub(crate) mod help;
pub(crate) mod history;
pub(crate) mod job;
mod job_items;
#[cfg(test)]
mod job_tests;
pub(crate) mod jobs;
#[cfg(test)]
mod jobs_tests;
mod late;
mod layout;
pub(crate) mod login;
mod marked;
pub(crate) mod nodes;
mod outcome;
pub(crate) mod overview;
pub(crate) mod password;
pub(crate) mod problems;
mod query;
pub(crate) mod reason;
pub(crate) mod run_log;
pub(crate) mod runs;
#[cfg(test)]
mod runs_tests;
pub(crate) mod schedule;
pub(crate) mod servers;
mod setting_about;
pub(crate) mod settings;
mod shard_map;
pub(crate) mod start;
pub(crate) mod time;
pub(crate) mod timeline;
pub(crate) mod why;
pub(crate) mod wrong_host;

use askama::Template;
use axum::http::StatusCode;
use axum::http::header::{HeaderValue, RETRY_AFTER};
use axum::response::{Html, IntoResponse, Response};
use elasticjob::__private::log::{apart, error};

use crate::access::{Permission, ReasonRule, Role};
use crate::api::Problem;
use crate::router::Routes;
use crate::{live, live_log};

pub(crate) use late::late;
pub(crate) use layout::Layout;
pub(crate) use marked::parts_of;

/// Adds the routes of the pages.
pub(crate) fn declare(routes: Routes) -> Routes {
    let [viewer, operator, editor, admin] = Role::ALL.map(Permission::Has);
    let free = ReasonRule::Free;
    #[cfg(feature = "oidc")]
    let routes = routes.get("/login/oidc", Permission::Public, company_login::begin).get(
        "/login/oidc/callback",
        Permission::Public,
        company_login::finish,
    );
    cloud::declare(routes)
        .get("/login", Permission::Public, login::show)
        .post("/login", Permission::Public, free, login::log_in)
        .post("/logout", Permission::Public, free, login::log_out)
        .post("/language", Permission::Public, free, login::choose_language)
        .post("/theme", Permission::Public, free, login::choose_theme)
        .get("/password", Permission::Known, password::show)
        .post("/password", Permission::Known, free, password::change)
        .get("/help", Permission::Known, help::show)
        .get("/help/problems", Permission::Known, problems::show)
        .get("/help/api", Permission::Known, api_reference::show)
        .get("/", Permission::Known, start::show)
        .get("/r/{registry}", viewer, overview::show)
        .get("/r/{registry}/events", viewer, live::events)
        .get("/r/{registry}/jobs", viewer, jobs::show)
        .post("/r/{registry}/jobs", Permission::HasForSome(Role::Operator), ReasonRule::TO_DISABLE, jobs::act)
        .get("/r/{registry}/jobs/{job}", viewer, job::show)
        .post("/r/{registry}/jobs/{job}", operator, ReasonRule::TO_DISABLE_OR_CANCEL, job::act)
        .post("/r/{registry}/jobs/{job}/items", operator, ReasonRule::TO_DISABLE_OR_CANCEL, job::act_on_item)
        .post("/r/{registry}/jobs/{job}/shutdown", admin, ReasonRule::InBody, job::shut_down)
        .post("/r/{registry}/jobs/{job}/removal", admin, ReasonRule::InBody, job::remove)
        .post("/r/{registry}/jobs/{job}/servers/removal", admin, ReasonRule::InBody, job::remove_servers)
        .get("/r/{registry}/jobs/{job}/why", viewer, why::show)
        .get("/r/{registry}/jobs/{job}/runs", viewer, runs::show)
        .get("/r/{registry}/jobs/{job}/runs/{fire}", viewer, fire::show)
        .post("/r/{registry}/jobs/{job}/runs/{fire}", operator, free, fire::run_again)
        .get("/r/{registry}/jobs/{job}/log/{run}", viewer, run_log::show)
        .get("/r/{registry}/jobs/{job}/log/{run}/events", viewer, live_log::events)
        .get("/r/{registry}/jobs/{job}/schedule", viewer, schedule::show)
        .get("/r/{registry}/jobs/{job}/graph", viewer, graph::of_job)
        .get("/r/{registry}/jobs/{job}/configuration", viewer, configuration::show)
        .get("/r/{registry}/jobs/{job}/configuration/edit", editor, configuration_edit::show)
        .post("/r/{registry}/jobs/{job}/configuration/edit", editor, ReasonRule::TO_SAVE, configuration_edit::change)
        .get("/r/{registry}/jobs/{job}/configuration/history", viewer, configuration_history::show)
        .get("/r/{registry}/configurations", viewer, configuration::export)
        .get("/r/{registry}/comparison", viewer, comparison::show)
        .get("/r/{registry}/timeline", viewer, timeline::show)
        .get("/r/{registry}/graph", viewer, graph::show)
        .get("/r/{registry}/history/executions", viewer, history::executions)
        .get("/r/{registry}/history/states", viewer, history::states)
        .get("/r/{registry}/history/decisions", viewer, history::decisions)
        .get("/r/{registry}/history/audit", viewer, history::audit)
        .get("/r/{registry}/alarms", viewer, alarms::show)
        .post("/r/{registry}/alarms", Permission::HasForSome(Role::Operator), free, alarms::acknowledge)
        .get("/r/{registry}/nodes", admin, nodes::show)
        .get("/r/{registry}/jobs/{job}/dump", admin, nodes::dump)
        .get("/access", admin, access::show)
        .get("/settings", admin, settings::registries::show)
        .post("/settings/checks", admin, free, settings::registries::check)
        .get("/settings/users", admin, settings::users::show)
        .post("/settings/users", admin, free, settings::users::add)
        .post("/settings/users/change", admin, free, settings::users::change)
        .get("/settings/tokens", admin, settings::tokens::show)
        .post("/settings/tokens", admin, free, settings::tokens::add)
        .post("/settings/tokens/removal", admin, free, settings::tokens::remove)
        .get("/settings/sessions", admin, settings::sessions::show)
        .post("/settings/sessions/end", admin, free, settings::sessions::end)
        .get("/r/{registry}/servers", viewer, servers::list)
        .get("/r/{registry}/servers/{server}", viewer, servers::show)
        .post("/r/{registry}/servers/{server}", operator, ReasonRule::TO_DISABLE, servers::act)
        .post("/r/{registry}/servers/{server}/shutdown", admin, ReasonRule::InBody, servers::shut_down)
        .post("/r/{registry}/servers/{server}/removal", admin, ReasonRule::InBody, servers::remove)
}

/// A name as a part of a path. Every character that a proxy might read in its own way is encoded.
pub(crate) fn segment(name: &str) -> String {
    percent_encoding::utf8_percent_encode(name, percent_encoding::NON_ALPHANUMERIC).to_string()
}

/// The answer with a page.
pub(crate) fn page(template: &impl Template) -> Response {
    with_status(StatusCode::OK, template)
}

/// The answer with a page and a status.
pub(crate) fn with_status(status: StatusCode, template: &impl Template) -> Response {
    match template.render() {
        Ok(text) => (status, Html(text)).into_response(),
        Err(error) => {
            apart(move || error!("a page of the console cannot be written: {error}"));
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// A page that shows a problem in its place. Browsers and programs hear when they may ask again.
pub(crate) fn with_problem(problem: Option<&Problem>, template: &impl Template) -> Response {
    let mut response = with_status(problem.map_or(StatusCode::OK, Problem::status), template);
    if problem.is_some_and(Problem::may_pass) {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

#[cfg(test)]
mod tests;
