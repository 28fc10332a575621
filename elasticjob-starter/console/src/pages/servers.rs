//! The servers, and one server with its jobs.

use std::collections::BTreeSet;

use askama::Template;
use axum::Form;
use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::Response;
use elasticjob::ident::{InstanceId, ShardingItem};
use elasticjob::operations::{
    InstanceBrief, ItemSnapshot, JobOfServer, JobSnapshot, ServerBrief, ServerStatus, Target,
};
use i18n_embed_fl::fl;
use serde::Deserialize;

use super::actions::Action;
use super::form::{self, Fields};
use super::job::failed;
use super::outcome::{Said, Tone};
use super::query::Query;
use super::time::Clock;
use super::{Layout, disabled, error, page};
use crate::access::Role;
use crate::api::Problem;
use crate::here::Here;
use crate::service::configuration::ranges;
use crate::service::disabled::{What, disablings_of};
use crate::service::part::{Part, PartQuery, first, on_a_page};
use crate::text::t;
use crate::texts;

/// How many jobs of a server are on a page.
const JOBS: usize = 50;

/// How many instances of a server the list of servers has: the page of the server has them all.
const INSTANCES: usize = 5;

/// Which jobs of a server are shown.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ServerQuery {
    /// A part of the name.
    q: String,
    /// The job after which the page begins; empty for the first page.
    cursor: String,
    /// The instance after which the list of instances begins; empty for the begin of the list.
    instance: String,
}

impl ServerQuery {
    /// The parameters of the page that follows.
    fn after(&self, cursor: &str) -> String {
        self.address(&self.instance, cursor)
    }

    /// The parameters of the next part of the list of instances.
    fn after_instance(&self, instance: &str) -> String {
        self.address(instance, &self.cursor)
    }

    fn address(&self, instance: &str, cursor: &str) -> String {
        let fields = [("q", self.q.as_str()), ("cursor", cursor), ("instance", instance)];
        let fields = fields.into_iter().filter(|(_, value)| !value.is_empty());
        form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
    }
}

#[derive(Template)]
#[template(path = "servers.html")]
struct ServersPage {
    layout: Layout,
    part: Part<ServerBrief>,
}

impl ServersPage {
    /// The instances of a server that are shown, and how many are not.
    fn instances<'a>(&self, server: &'a ServerBrief) -> (Vec<&'a InstanceId>, usize) {
        first(&server.instances, INSTANCES)
    }
}

#[derive(Template)]
#[template(path = "server.html")]
struct ServerPage {
    layout: Layout,
    said: Option<Said>,
    server: String,
    /// Those that are online there.
    instances: Part<InstanceBrief>,
    /// The query of the next part of its instances.
    next_instances: Option<String>,
    /// Whether it has a job that the reader may see.
    is_known: bool,
    query: ServerQuery,
    jobs: Vec<Row>,
    /// How many jobs the search leaves.
    total: usize,
    /// The query of the next page.
    next: Option<String>,
    may_operate: bool,
    may_administer: bool,
}

/// A job of the server.
struct Row {
    one: JobOfServer,
    /// Since when it has its status there.
    since: Option<i64>,
    /// Who disabled it there.
    disabled: Option<String>,
    clock: Clock,
    /// What each instance there has.
    parts: Vec<OfInstance>,
}

/// The items of a job that an instance has.
struct OfInstance {
    instance: InstanceId,
    owned: BTreeSet<ShardingItem>,
    running: BTreeSet<ShardingItem>,
}

impl Row {
    async fn of(here: &Here, server: &str, one: JobOfServer) -> Self {
        // A job that was removed meanwhile has no snapshot.
        let snapshot = here.views().snapshot(&one.job).await.ok();
        let schedule = snapshot.as_ref().and_then(|snapshot| snapshot.usable()?.schedule());
        Self {
            since: snapshot.as_ref().and_then(|snapshot| snapshot.server_changed(server)),
            disabled: None,
            clock: Clock::of(schedule),
            parts: snapshot.iter().flat_map(|snapshot| OfInstance::all(snapshot, server)).collect(),
            one,
        }
    }
}

impl OfInstance {
    fn all(snapshot: &JobSnapshot, server: &str) -> Vec<Self> {
        let there = snapshot.instances().filter(|(_, address)| *address == server);
        let part = |instance: &InstanceId| {
            let has = |is_meant: &dyn Fn(&ItemSnapshot) -> bool| {
                snapshot.items.iter().filter(|(_, nodes)| is_meant(nodes)).map(|(item, _)| *item).collect()
            };
            let runs = |nodes: &ItemSnapshot| {
                let runner = nodes.running.as_ref().and_then(|mark| mark.instance.as_ref());
                runner == Some(instance) && snapshot.is_run_alive(nodes)
            };
            Self {
                owned: has(&|nodes| nodes.owner.as_ref() == Some(instance)),
                running: has(&runs),
                instance: instance.clone(),
            }
        };
        there.map(|(instance, _)| part(instance)).collect()
    }
}

impl ServerPage {
    /// What an instance has of a job.
    fn items(&self, part: &OfInstance) -> String {
        let loader = self.layout.text.loader();
        let owned = match part.owned.is_empty() {
            true => fl!(loader, "server-owns-none"),
            false => fl!(loader, "server-owns", items = ranges(&part.owned)),
        };
        let running = (!part.running.is_empty()).then(|| fl!(loader, "server-runs", items = ranges(&part.running)));
        std::iter::once(owned).chain(running).collect::<Vec<_>>().join(&fl!(loader, "list-comma"))
    }
}

fn path_of(here: &Here, server: &str) -> String {
    format!("/r/{}/servers/{}", here.registry.name(), super::segment(server))
}

pub(crate) async fn list(here: Here, Query(query): Query<PartQuery>) -> Response {
    let layout = Layout::of(&here).live(&here);
    let servers = here.registry.catalogue().servers(|job| here.sees(job)).await.map_err(Problem::from);
    match servers.and_then(|servers| query.on_a_page(servers, |brief| brief.server.clone())) {
        Ok(part) => page(&ServersPage { layout, part }),
        Err(problem) => error::problem(&here, &problem),
    }
}

pub(crate) async fn show(
    here: Here,
    headers: HeaderMap,
    Path((_, server)): Path<(String, String)>,
    Query(query): Query<ServerQuery>,
) -> Response {
    let layout = Layout::of(&here).live(&here);
    let mut jobs = match here.registry.catalogue().jobs_of_server(&server).await {
        Ok(jobs) => jobs,
        Err(wrong) => return error::problem(&here, &wrong.into()),
    };
    jobs.retain(|one| here.sees(&one.job));
    let mut instances = match here.registry.catalogue().instances(|job| here.sees(job)).await {
        Ok(instances) => instances,
        Err(wrong) => return error::problem(&here, &wrong.into()),
    };
    instances.retain(|instance| instance.server == server);
    let id = |brief: &InstanceBrief| brief.instance.to_string();
    let instances = match on_a_page(instances, id, &query.instance) {
        Ok(part) => part,
        Err(problem) => return error::problem(&here, &problem),
    };
    let next_instances = instances.next.as_deref().map(|last| query.after_instance(last));
    let (is_known, wanted) = (!jobs.is_empty(), query.q.to_lowercase());
    jobs.retain(|one| one.job.as_str().to_lowercase().contains(&wanted));
    let total = jobs.len();
    jobs.retain(|one| query.cursor.is_empty() || one.job.as_str() > query.cursor.as_str());
    let next = jobs.get(JOBS - 1).filter(|_| jobs.len() > JOBS).map(|last| query.after(last.job.as_str()));
    let mut rows = Vec::new();
    for one in jobs.into_iter().take(JOBS) {
        let mut row = Row::of(&here, &server, one).await;
        // What the page says of an instance is on the part of the list that has it.
        row.parts.retain(|part| instances.elements.iter().any(|shown| shown.instance == part.instance));
        rows.push(row);
    }
    say_who_disabled(&here, &server, &mut rows).await;
    let everywhere = |role| here.identity.has_everywhere(role, here.registry.name());
    let shown = page(&ServerPage {
        layout,
        said: Said::of(&here.app, &headers),
        server,
        instances,
        next_instances,
        is_known,
        query,
        jobs: rows,
        total,
        next,
        may_operate: everywhere(Role::Operator),
        may_administer: everywhere(Role::Admin),
    });
    Said::forget(&here.app, shown)
}

/// Fills in who disabled the server for the jobs of a page.
async fn say_who_disabled(here: &Here, server: &str, rows: &mut [Row]) {
    let is_disabled = |row: &Row| row.one.status == ServerStatus::Disabled;
    let of_page = rows.iter().filter(|row| is_disabled(row));
    let disablings =
        disablings_of(here, of_page.filter_map(|row| Some((row.one.job.clone(), row.since?))).collect()).await;
    let what = What::Server(server.to_owned());
    for row in rows.iter_mut().filter(|row| is_disabled(row)) {
        let by = disablings.by(&row.one.job, &what, row.since);
        row.disabled = disabled::told(&here.text, by);
    }
}

/// Triggers, enables or disables all jobs of a server.
pub(crate) async fn act(here: Here, Path((_, server)): Path<(String, String)>, Form(fields): Fields) -> Response {
    match Action::of(form::one(&fields, "action")) {
        Some(action) => done(here, server, &fields, action).await,
        None => error::problem(&here, &Problem::bad_request(texts::no_action())),
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
        Ok(ended) => ended.said(&here.text, &action.done(&here.text)),
        Err(error) => failed(&here, &error),
    };
    said.at(&here.app, &path)
}

#[cfg(test)]
mod tests {
    use elasticjob::config::JobSettings;
    use elasticjob::registry::memory::MemoryRegistry;
    use elasticjob::registry::{CreateMode, RegistryCenter, Transaction};

    use crate::service::configuration::ranges;
    use crate::testing::{call, console_of, cookie_of, request, start_job};

    #[test]
    fn items_are_written_as_ranges() {
        assert_eq!(ranges(&[0, 1, 2, 3, 7, 9, 10].into()), "0-3, 7, 9-10");
    }

    #[tokio::test]
    async fn a_server_shows_its_instances_and_the_items_that_each_has() {
        let memory = MemoryRegistry::new();
        let _job = start_job(&memory, "settle", &JobSettings::default()).await;
        let console = console_of(&memory);
        let cookie = cookie_of(&console, "admin").await;
        let servers = call(&console, request("GET", "/api/v1/registries/default/instances", Some(&cookie))).await;
        let servers: serde_json::Value = serde_json::from_str(&servers.body).expect("JSON");
        let (server, instance) = (servers[0]["server"].as_str(), servers[0]["instance"].as_str());
        let (server, instance) = (server.expect("an address"), instance.expect("an id"));
        let path = format!("/r/default/servers/{server}");
        let limit = std::time::Duration::from_secs(20);
        let shown = tokio::time::timeout(limit, async {
            loop {
                let page = call(&console, request("GET", &path, Some(&cookie))).await.body;
                if page.contains("has 0-1") {
                    return page;
                }
                tokio::task::yield_now().await;
            }
        });
        let page = shown.await.expect("the items are assigned");
        assert!(page.contains(instance) && page.contains("name=\"reason\""), "{page}");
    }

    #[tokio::test]
    async fn the_jobs_of_a_server_come_page_by_page_and_are_found_by_name() {
        let memory = MemoryRegistry::new();
        let center = memory.connect();
        for number in 0..120 {
            let mut nodes = Transaction::new();
            for (node, data) in
                [("", ""), ("/config", "shardingTotalCount: 1\n"), ("/servers", ""), ("/servers/10.0.0.7", "ENABLED")]
            {
                nodes.create(format!("/job-{number:03}{node}"), data, CreateMode::Persistent);
            }
            center.commit(nodes).await.expect("they are written");
        }
        let console = console_of(&memory);
        let cookie = cookie_of(&console, "viewer").await;
        let page = async |query: &str| {
            let page = call(&console, request("GET", &format!("/r/default/servers/10.0.0.7{query}"), Some(&cookie)))
                .await
                .body;
            let rows = page.split("<th scope=\"row\"><a href=\"/r/default/jobs/").skip(1);
            let jobs: Vec<String> = rows.filter_map(|row| Some(row.split('"').next()?.replace("%2D", "-"))).collect();
            let next = page.split("rel=\"next\" href=\"").nth(1).and_then(|rest| rest.split('"').next());
            (jobs, next.map(ToOwned::to_owned), page)
        };
        let (jobs, next, shown) = page("").await;
        assert_eq!((jobs.len(), &*jobs[0], &*jobs[49]), (50, "job-000", "job-049"), "{shown}");
        assert!(shown.contains("120 jobs of the server"), "{shown}");
        let (jobs, next, _) = page(&next.expect("a page follows")).await;
        assert_eq!((jobs.len(), &*jobs[0]), (50, "job-050"));
        let (jobs, next, _) = page(&next.expect("a page follows")).await;
        assert_eq!((jobs.len(), &*jobs[19], next), (20, "job-119", None));
        let (jobs, next, _) = page("?q=JOB-00").await;
        assert_eq!((jobs.len(), next), (10, None));
        let (jobs, _, none) = page("?q=nothing").await;
        assert!(jobs.is_empty() && none.contains("No job is here"), "{none}");
    }
}
