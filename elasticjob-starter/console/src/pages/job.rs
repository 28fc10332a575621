//! A job: how it stands now, and what can be done to it.

use askama::Template;
use axum::Form;
use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::Response;
use elasticjob::config::Dependency;
use elasticjob::ident::{InstanceId, JobName, ShardingItem};
use elasticjob::operations::{
    Finding, Force, JobSnapshot, OperationError, ServerStatus, ShardInfo, ShardState, Target,
};
use i18n_embed_fl::fl;

use super::actions::{Action, Ended};
use super::findings::{self, Line};
use super::form::{self, Fields};
use super::job_items::{ItemsQuery, Shown};
use super::outcome::{Said, Tone};
use super::query::Query;
use super::shard_map::{ShardMap, class_of};
use super::time::Clock;
use super::{Layout, disabled, error, page};
use crate::access::Role;
use crate::api::Problem;
use crate::here::Here;
use crate::service::disabled::{Disablings, What, disablings_of, of_parts};
use crate::service::part::{Part, first, on_a_page};
use crate::text::t;
use crate::texts;

/// What the pages of one job have in common: the head, and the list of its pages.
pub(super) struct Head {
    pub(super) job: JobName,
    /// The address of the first page of the job.
    pub(super) path: String,
    /// The page that is shown.
    pub(super) tab: &'static str,
}

impl Head {
    pub(super) fn of(here: &Here, job: &JobName, tab: &'static str) -> Self {
        let path = format!("{}{}", here.app.options.base_path, path_of(here, job));
        Self { job: job.clone(), path, tab }
    }
}

/// The path of a job, below the base path.
pub(super) fn path_of(here: &Here, job: &JobName) -> String {
    format!("/r/{}/jobs/{}", here.registry.name(), super::segment(job.as_str()))
}

#[derive(Template)]
#[template(path = "job.html")]
struct JobPage {
    layout: Layout,
    said: Option<Said>,
    head: Head,
    clock: Clock,
    snapshot: JobSnapshot,
    query: ItemsQuery,
    map: ShardMap,
    shards: Shown<Shard>,
    /// Whether any item runs.
    runs: bool,
    /// What is wrong with the whole job.
    findings: Vec<Line>,
    servers: Part<Server>,
    may_operate: bool,
    may_administer: bool,
}

/// An item, with the time of its state.
struct Shard {
    info: ShardInfo,
    /// Who disabled it.
    disabled: Option<String>,
    since: Option<i64>,
    class: &'static str,
}

struct Server {
    address: String,
    /// `None` where the server was removed while its instances are online.
    status: Option<ServerStatus>,
    changed: Option<i64>,
    /// Who disabled it.
    disabled: Option<String>,
    instances: Vec<(InstanceId, Option<i64>)>,
}

/// How many instances of a server are shown: the page of the server has them all.
const INSTANCES: usize = 20;

impl Server {
    /// The instances that are shown, and how many are not.
    fn shown(&self) -> (Vec<&(InstanceId, Option<i64>)>, usize) {
        first(&self.instances, INSTANCES)
    }
}

impl JobPage {
    fn is_leader(&self, instance: &InstanceId) -> bool {
        self.snapshot.leader.as_ref() == Some(instance)
    }

    fn next_fire(&self) -> Option<i64> {
        self.snapshot.next_fire(self.clock.now)
    }

    /// The jobs that it runs after, where it has no schedule.
    fn after(&self) -> Option<String> {
        after(self.snapshot.usable()?.depends_on())
    }

    fn cron(&self) -> Option<String> {
        Some(self.snapshot.usable()?.schedule()?.cron().to_string())
    }
}

/// The jobs that a job runs after, as a text; `None` where there is none.
pub(super) fn after(depends_on: &[Dependency]) -> Option<String> {
    let jobs: Vec<String> = depends_on.iter().map(ToString::to_string).collect();
    (!jobs.is_empty()).then(|| jobs.join(", "))
}

fn shard(here: &Here, snapshot: &JobSnapshot, disablings: &Disablings, info: ShardInfo) -> Shard {
    let nodes = snapshot.items.get(&info.item);
    let since = nodes.and_then(|nodes| match info.status {
        ShardState::Disabled => nodes.disabled_since,
        ShardState::Running => nodes.running.as_ref().map(|mark| mark.since),
        _ => nodes.owned_since,
    });
    let class = class_of(&info.status);
    let by = || disablings.by(&snapshot.job, &What::Item(info.item), since);
    let disabled = (info.status == ShardState::Disabled).then(by).and_then(|by| disabled::told(&here.text, by));
    Shard { info, disabled, since, class }
}

fn servers(here: &Here, snapshot: &JobSnapshot, disablings: &Disablings) -> Vec<Server> {
    let disabled = |address: &str| {
        let by = disablings.by(&snapshot.job, &What::Server(address.to_owned()), snapshot.server_changed(address));
        disabled::told(&here.text, by)
    };
    let mut servers: Vec<Server> = snapshot
        .servers()
        .map(|(address, status)| Server {
            address: address.to_owned(),
            status: Some(status),
            changed: snapshot.server_changed(address),
            disabled: (status == ServerStatus::Disabled).then(|| disabled(address)).flatten(),
            instances: Vec::new(),
        })
        .collect();
    for (instance, address) in snapshot.instances() {
        let since = snapshot.online_since(instance);
        let one = (instance.clone(), since);
        match servers.iter_mut().find(|server| server.address == address) {
            Some(server) => server.instances.push(one),
            None => servers.push(Server {
                address: address.to_owned(),
                status: None,
                changed: None,
                disabled: None,
                instances: vec![one],
            }),
        }
    }
    servers
}

/// The job that a path names.
pub(super) fn named(here: &Here, name: &str) -> Result<JobName, Box<Response>> {
    JobName::new(name).map_err(|wrong| Box::new(error::problem(here, &Problem::bad_request(wrong.message().clone()))))
}

/// The snapshot of the job that a path names, or the page that says why there is none.
pub(super) async fn snapshot(here: &Here, name: &str) -> Result<JobSnapshot, Box<Response>> {
    let job = named(here, name)?;
    here.registry.catalogue().snapshot(&job).await.map_err(|wrong| Box::new(error::problem(here, &wrong.into())))
}

pub(crate) async fn show(
    here: Here,
    headers: HeaderMap,
    Path((_, name)): Path<(String, String)>,
    Query(query): Query<ItemsQuery>,
) -> Response {
    let layout = Layout::of(&here).live(&here);
    let snapshot = match snapshot(&here, &name).await {
        Ok(snapshot) => snapshot,
        Err(page) => return *page,
    };
    let clock = Clock::of(snapshot.usable().and_then(|it| it.schedule()));
    let job = snapshot.job.clone();
    let all: Vec<Finding> = snapshot.findings(clock.now);
    let items = snapshot.shards(clock.now);
    let disablings = disablings_of(&here, of_parts(&snapshot)).await;
    let servers = servers(&here, &snapshot, &disablings);
    let servers = match on_a_page(servers, |server| server.address.clone(), &query.server) {
        Ok(part) => part,
        Err(problem) => return error::problem(&here, &problem),
    };
    let runs = items.iter().any(|item| item.status == ShardState::Running);
    let shown = page(&JobPage {
        layout,
        said: Said::of(&here.app, &headers),
        head: Head::of(&here, &job, "now"),
        clock,
        map: ShardMap::of(&snapshot, &items),
        shards: query.shown(items).map(|info| shard(&here, &snapshot, &disablings, info)),
        query,
        runs,
        findings: findings::lines(&here, &job, &all, &clock),
        servers,
        may_operate: here.may(Role::Operator, &job),
        may_administer: here.may(Role::Admin, &job),
        snapshot,
    });
    Said::forget(&here.app, shown)
}

/// Tells how an action on a job ended, on the page of that job.
fn told(here: &Here, job: &JobName, done: &str, ended: Result<Ended, OperationError>) -> Response {
    said(here, done, ended).at(&here.app, &path_of(here, job))
}

fn said(here: &Here, done: &str, ended: Result<Ended, OperationError>) -> Said {
    match ended {
        Ok(ended) => ended.said(&here.text, done),
        Err(error) => failed(here, &error),
    }
}

/// A lost answer does not say that nothing was done.
pub(super) fn failed(here: &Here, error: &OperationError) -> Said {
    failed_by(here, &Problem::from(error.clone()))
}

/// The same of a problem.
pub(super) fn failed_by(here: &Here, problem: &Problem) -> Said {
    let told = problem.clone().while_away(&here.registry).told(&here.text);
    match problem.is_unknown() {
        true => Said::failed(format!("{} {told}", fl!(here.text.loader(), "outcome-unknown"))),
        false => Said::failed(told),
    }
}

/// The action of the buttons that cancel runs: it is about runs alone, so it is no [`Action`] on servers.
const CANCEL: &str = "cancel";

/// Triggers, enables or disables a job, or one of its servers; or cancels the runs of the job.
pub(crate) async fn act(here: Here, Path((_, name)): Path<(String, String)>, Form(fields): Fields) -> Response {
    let job = match named(&here, &name) {
        Ok(job) => job,
        Err(page) => return *page,
    };
    if form::one(&fields, "action") == CANCEL {
        return cancel(&here, &job, None, &fields).await.at(&here.app, &path_of(&here, &job));
    }
    let Some(action) = Action::of(form::one(&fields, "action")) else {
        return error::problem(&here, &Problem::bad_request(texts::no_action()));
    };
    let target = target(&job, &fields);
    let ended = action.on(&here.operations(&form::reason(&fields)), &target).await;
    said(&here, &action.done(&here.text), ended).at(&here.app, &asked_from(&here, &job, &fields, ""))
}

/// The page that an action was asked from: the one that explains, or the first page of the job with this query.
fn asked_from(here: &Here, job: &JobName, fields: &[(String, String)], query: &str) -> String {
    match form::one(fields, "back") {
        "why" => format!("{}/why", path_of(here, job)),
        _ => format!("{}{query}", path_of(here, job)),
    }
}

fn target(job: &JobName, fields: &[(String, String)]) -> Target {
    match form::one(fields, "server") {
        "" => Target::Job(job.clone()),
        server => Target::ServerOfJob(job.clone(), server.to_owned()),
    }
}

async fn cancel(here: &Here, job: &JobName, item: Option<ShardingItem>, fields: &[(String, String)]) -> Said {
    let reason = form::reason(fields);
    let ended = here.operations(&reason).cancel(job, item, &here.cancel_request(&reason)).await;
    let done = fl!(here.text.loader(), "done-cancelled");
    said(here, &done, ended.map(Ended::from))
}

/// Enables or disables an item, or cancels its run.
pub(crate) async fn act_on_item(here: Here, Path((_, name)): Path<(String, String)>, Form(fields): Fields) -> Response {
    let job = match named(&here, &name) {
        Ok(job) => job,
        Err(page) => return *page,
    };
    let (action, item) = (form::one(&fields, "action"), form::one(&fields, "item").parse::<ShardingItem>());
    let same_items = asked_from(&here, &job, &fields, &ItemsQuery::of_form(&fields).address());
    if let (CANCEL, Ok(item)) = (action, &item) {
        return cancel(&here, &job, Some(*item), &fields).await.at(&here.app, &same_items);
    }
    let (Some(action), Ok(item)) = (Action::of(action), item) else {
        return error::problem(&here, &Problem::bad_request(texts::no_action_or_item()));
    };
    let operations = here.operations(&form::reason(&fields));
    let ended = match action {
        Action::Enable => operations.enable_item(&job, item).await,
        Action::Disable => operations.disable_item(&job, item).await,
        _ => return error::problem(&here, &Problem::bad_request(texts::action_of_item())),
    };
    said(&here, &action.done(&here.text), ended.map(Ended::from)).at(&here.app, &same_items)
}

/// Makes instances leave.
pub(crate) async fn shut_down(here: Here, Path((_, name)): Path<(String, String)>, Form(fields): Fields) -> Response {
    end(here, &name, &fields, Action::ShutDown).await
}

/// Removes servers that are offline.
pub(crate) async fn remove_servers(
    here: Here,
    Path((_, name)): Path<(String, String)>,
    Form(fields): Fields,
) -> Response {
    end(here, &name, &fields, Action::RemoveServers).await
}

async fn end(here: Here, name: &str, fields: &[(String, String)], action: Action) -> Response {
    let job = match named(&here, name) {
        Ok(job) => job,
        Err(page) => return *page,
    };
    let ended = action.on(&here.operations(&form::reason(fields)), &target(&job, fields)).await;
    told(&here, &job, &action.done(&here.text), ended)
}

/// Removes the job.
pub(crate) async fn remove(here: Here, Path((_, name)): Path<(String, String)>, Form(fields): Fields) -> Response {
    let job = match named(&here, &name) {
        Ok(job) => job,
        Err(page) => return *page,
    };
    let force = if form::one(&fields, "force").is_empty() { Force::No } else { Force::Yes };
    match here.operations(&form::reason(&fields)).remove_job(&job, force).await {
        Ok(_) => Said::done(fl!(here.text.loader(), "done-job-removed", job = job.as_str()))
            .at(&here.app, &format!("/r/{}/jobs", here.registry.name())),
        Err(error) => failed(&here, &error).at(&here.app, &path_of(&here, &job)),
    }
}
