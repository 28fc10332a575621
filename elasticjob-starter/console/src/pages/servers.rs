//! The servers, and one server with its jobs.

use askama::Template;
use axum::Form;
use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::Response;
use elasticjob::operations::{JobOfServer, ServerBrief, ServerStatus, Target};
use i18n_embed_fl::fl;

use super::actions::Action;
use super::form::{self, Fields};
use super::job::failed;
use super::said::{Said, Tone};
use super::{Layout, error, page};
use crate::access::Role;
use crate::api::Problem;
use crate::here::Here;
use crate::text::t;

#[derive(Template)]
#[template(path = "servers.html")]
struct ServersPage {
    layout: Layout,
    servers: Vec<ServerBrief>,
}

#[derive(Template)]
#[template(path = "server.html")]
struct ServerPage {
    layout: Layout,
    said: Option<Said>,
    server: String,
    jobs: Vec<JobOfServer>,
    may_operate: bool,
    may_administer: bool,
}

fn path_of(here: &Here, server: &str) -> String {
    format!("/r/{}/servers/{}", here.registry.name(), super::segment(server))
}

pub(crate) async fn list(here: Here) -> Response {
    let layout = Layout::of(&here).live(&here);
    match here.registry.catalogue().servers(|job| here.sees(job)).await {
        Ok(servers) => page(&ServersPage { layout, servers }),
        Err(wrong) => error::problem(&here, &wrong.into()),
    }
}

pub(crate) async fn show(here: Here, headers: HeaderMap, Path((_, server)): Path<(String, String)>) -> Response {
    let layout = Layout::of(&here).live(&here);
    let mut jobs = match here.registry.catalogue().jobs_of_server(&server).await {
        Ok(jobs) => jobs,
        Err(wrong) => return error::problem(&here, &wrong.into()),
    };
    jobs.retain(|one| here.sees(&one.job));
    let everywhere = |role| here.identity.has_everywhere(role, here.registry.name());
    let shown = page(&ServerPage {
        layout,
        said: Said::of(&headers),
        server,
        jobs,
        may_operate: everywhere(Role::Operator),
        may_administer: everywhere(Role::Admin),
    });
    Said::forget(&here.app, shown)
}

/// Triggers, enables or disables all jobs of a server.
pub(crate) async fn act(here: Here, Path((_, server)): Path<(String, String)>, Form(fields): Fields) -> Response {
    match Action::of(form::one(&fields, "action")) {
        Some(action) => done(here, server, &fields, action).await,
        None => error::problem(&here, &Problem::bad_request("the form has no action")),
    }
}

/// Makes the instances of a server leave.
pub(crate) async fn shut_down(here: Here, Path((_, server)): Path<(String, String)>, Form(fields): Fields) -> Response {
    done(here, server, &fields, Action::ShutDown).await
}

/// Removes a server that is offline.
pub(crate) async fn remove(here: Here, Path((_, server)): Path<(String, String)>, Form(fields): Fields) -> Response {
    done(here, server, &fields, Action::RemoveServers).await
}

async fn done(here: Here, server: String, fields: &[(String, String)], action: Action) -> Response {
    let path = path_of(&here, &server);
    let said = match action.on(&here.operations(&form::reason(fields)), &Target::Server(server)).await {
        Ok((0, _)) => Said::done(fl!(here.text.loader(), "done-nothing")),
        Ok((changed, _)) => Said::done(format!("{}: {changed}", action.done(&here.text))),
        Err(error) => failed(&here, &error),
    };
    said.at(&here.app, &path)
}
