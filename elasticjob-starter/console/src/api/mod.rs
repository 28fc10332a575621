//! The REST API below `/api/v1`. Times are RFC 3339 in UTC with milliseconds, durations are milliseconds.

pub(crate) mod access;
mod accounts;
mod actions;
mod alarms;
pub(crate) mod base_path;
pub(crate) mod body;
mod code;
mod configuration;
mod configurations;
mod fires;
mod graph;
mod history;
mod idempotent;
pub(crate) mod jobs;
pub(crate) mod named;
mod nodes;
mod openapi;
mod overview;
mod past;
mod problem;
mod registries;
pub(crate) mod run_log;
mod schedule;
mod schedules;
mod servers;
mod tagged;
#[cfg(test)]
mod tests;
mod timeline;

use crate::access::{Permission, ReasonRule, Role};
use crate::router::Routes;
use crate::{live, live_log};

pub(crate) use actions::scheduled;
pub(crate) use code::Code;
pub(crate) use idempotent::Answers;
pub(crate) use openapi::document;
pub(crate) use problem::Problem;
pub use problem::unread_traces;

/// Whether a path, below the base path, belongs to the API.
pub(crate) fn is_api(path: &str) -> bool {
    path.starts_with("/api/")
}

/// Adds the routes of the API.
pub(crate) fn declare(routes: Routes) -> Routes {
    let [viewer, operator, editor, admin] = Role::ALL.map(Permission::Has);
    let free = ReasonRule::Free;
    routes
        .get("/api/v1/openapi.json", Permission::Public, openapi::show)
        .get("/api/v1/me", Permission::Known, registries::me)
        .get("/api/v1/registries", Permission::Known, registries::list)
        .get("/api/v1/registries/{registry}", viewer, registries::one)
        .post("/api/v1/registries/{registry}/checks", admin, free, registries::check)
        .get("/api/v1/data-sources", Permission::Known, registries::data_sources)
        .post("/api/v1/data-sources/{registry}/checks", admin, free, registries::check_traces)
        .post("/api/v1/schedules/previews", Permission::Known, free, schedules::preview)
        .get("/api/v1/registries/{registry}/events", viewer, live::events)
        .get("/api/v1/registries/{registry}/overview", viewer, overview::show)
        .get("/api/v1/registries/{registry}/jobs", viewer, jobs::list)
        .get("/api/v1/registries/{registry}/jobs/{job}", viewer, jobs::one)
        .get("/api/v1/registries/{registry}/jobs/{job}/items", viewer, jobs::items)
        .get("/api/v1/registries/{registry}/jobs/{job}/items/{item}", viewer, jobs::item)
        .get("/api/v1/registries/{registry}/jobs/{job}/findings", viewer, jobs::why)
        .get("/api/v1/registries/{registry}/jobs/{job}/past", viewer, past::show)
        .get("/api/v1/registries/{registry}/jobs/{job}/schedule", viewer, schedule::show)
        .get("/api/v1/registries/{registry}/jobs/{job}/fires", viewer, fires::fires)
        .get("/api/v1/registries/{registry}/jobs/{job}/fires/{fire}", viewer, fires::fire)
        .get("/api/v1/registries/{registry}/jobs/{job}/executions/{run}/log", viewer, run_log::log)
        .get("/api/v1/registries/{registry}/jobs/{job}/executions/{run}/log/events", viewer, live_log::events)
        .get("/api/v1/registries/{registry}/jobs/{job}/configuration", viewer, configuration::get)
        .put(
            "/api/v1/registries/{registry}/jobs/{job}/configuration",
            editor,
            ReasonRule::InQueryUnlessDry,
            configuration::put,
        )
        .patch(
            "/api/v1/registries/{registry}/jobs/{job}/configuration",
            editor,
            ReasonRule::InQueryUnlessDry,
            configuration::patch,
        )
        .get("/api/v1/registries/{registry}/jobs/{job}/configuration/versions", viewer, configuration::history)
        .get(
            "/api/v1/registries/{registry}/jobs/{job}/configuration/versions/{version}",
            viewer,
            configuration::version,
        )
        .post(
            "/api/v1/registries/{registry}/jobs/{job}/configuration/versions/{version}/restorations",
            editor,
            ReasonRule::InQueryUnlessDry,
            configuration::restore,
        )
        .get("/api/v1/registries/{registry}/configurations", viewer, configurations::export)
        .get("/api/v1/registries/{registry}/comparison", viewer, configurations::compare)
        .post("/api/v1/registries/{registry}/jobs/{job}/triggers", operator, free, actions::trigger)
        .post(
            "/api/v1/registries/{registry}/jobs/{job}/servers/{server}/triggers",
            operator,
            free,
            actions::trigger_on_server,
        )
        .post("/api/v1/registries/{registry}/servers/{server}/triggers", operator, free, actions::trigger_server)
        .post("/api/v1/registries/{registry}/jobs/{job}/fires/{fire}/reruns", operator, free, actions::rerun)
        .post(
            "/api/v1/registries/{registry}/jobs/{job}/cancellations",
            operator,
            ReasonRule::InBody,
            actions::cancel_job,
        )
        .post(
            "/api/v1/registries/{registry}/jobs/{job}/items/{item}/cancellations",
            operator,
            ReasonRule::InBody,
            actions::cancel_item,
        )
        .put("/api/v1/registries/{registry}/jobs/{job}/state", operator, ReasonRule::TO_SWITCH_OFF, actions::switch_job)
        .put(
            "/api/v1/registries/{registry}/jobs/{job}/items/{item}/state",
            operator,
            ReasonRule::TO_SWITCH_OFF,
            actions::switch_item,
        )
        .put(
            "/api/v1/registries/{registry}/servers/{server}/state",
            operator,
            ReasonRule::TO_SWITCH_OFF,
            actions::switch_server,
        )
        .put(
            "/api/v1/registries/{registry}/jobs/{job}/servers/{server}/state",
            operator,
            ReasonRule::TO_SWITCH_OFF,
            actions::switch_server_of_job,
        )
        .post(
            "/api/v1/registries/{registry}/operations",
            Permission::HasForSome(Role::Operator),
            ReasonRule::TO_DISABLE,
            actions::bulk,
        )
        .post("/api/v1/registries/{registry}/jobs/{job}/shutdowns", admin, ReasonRule::InBody, actions::shut_down_job)
        .post(
            "/api/v1/registries/{registry}/servers/{server}/shutdowns",
            admin,
            ReasonRule::InBody,
            actions::shut_down_server,
        )
        .post(
            "/api/v1/registries/{registry}/jobs/{job}/servers/{server}/shutdowns",
            admin,
            ReasonRule::InBody,
            actions::shut_down_server_of_job,
        )
        .delete("/api/v1/registries/{registry}/jobs/{job}", admin, ReasonRule::InQuery, actions::remove_job)
        .delete("/api/v1/registries/{registry}/servers/{server}", admin, ReasonRule::InQuery, actions::remove_server)
        .delete(
            "/api/v1/registries/{registry}/jobs/{job}/servers/{server}",
            admin,
            ReasonRule::InQuery,
            actions::remove_server_of_job,
        )
        .get("/api/v1/registries/{registry}/instances", viewer, servers::instances)
        .get("/api/v1/registries/{registry}/jobs/{job}/instances", viewer, servers::instances_of_job)
        .get("/api/v1/registries/{registry}/servers", viewer, servers::list)
        .get("/api/v1/registries/{registry}/servers/{server}", viewer, servers::one)
        .get("/api/v1/registries/{registry}/alarms", viewer, alarms::list)
        .put(
            "/api/v1/registries/{registry}/alarms/{alarm}/acknowledgement",
            Permission::HasForSome(Role::Operator),
            free,
            alarms::acknowledge,
        )
        .get("/api/v1/registries/{registry}/nodes", admin, nodes::show)
        .get("/api/v1/registries/{registry}/jobs/{job}/dump", admin, nodes::dump)
        .get("/api/v1/registries/{registry}/timeline", viewer, timeline::show)
        .get("/api/v1/registries/{registry}/graph", viewer, graph::show)
        .get("/api/v1/registries/{registry}/jobs/{job}/graph", viewer, graph::of_job)
        .get("/api/v1/registries/{registry}/executions", viewer, history::executions)
        .get("/api/v1/registries/{registry}/executions/{run}", viewer, history::execution)
        .get("/api/v1/registries/{registry}/states", viewer, history::states)
        .get("/api/v1/registries/{registry}/decisions", viewer, history::decisions)
        .get("/api/v1/registries/{registry}/audit", viewer, history::audit)
        .get("/api/v1/access", admin, access::show)
        .post("/api/v1/me/password", Permission::Known, free, accounts::set_own_password)
        .get("/api/v1/users", admin, accounts::users)
        .post("/api/v1/users", admin, free, accounts::add_user)
        .put("/api/v1/users/{name}", admin, free, accounts::change_user)
        .delete("/api/v1/users/{name}", admin, free, accounts::remove_user)
        .post("/api/v1/users/{name}/password", admin, free, accounts::set_password)
        .get("/api/v1/tokens", admin, accounts::tokens)
        .post("/api/v1/tokens", admin, free, accounts::add_token)
        .delete("/api/v1/tokens/{name}", admin, free, accounts::remove_token)
        .get("/api/v1/sessions", admin, accounts::sessions)
        .delete("/api/v1/sessions/{name}", admin, free, accounts::end_session)
}
