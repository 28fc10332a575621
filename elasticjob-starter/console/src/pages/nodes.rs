//! The nodes of the registry center, one level at a time, and dumps of jobs.

use askama::Template;
use axum::extract::Path;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use elasticjob::ident::JobName;
use elasticjob::operations::dump::Addresses;
use elasticjob::operations::{Node, NodeLevel};

use super::job::named;
use super::query::Query;
use super::time::Clock;
use super::{Layout, error, page};
use crate::here::Here;
use crate::service::nodes::{self, NodeQuery};
use crate::text::t;

/// How many characters of the data of a child are shown.
const SHORT: usize = 80;

#[derive(Template)]
#[template(path = "nodes.html")]
struct NodesPage {
    layout: Layout,
    clock: Clock,
    level: NodeLevel,
    /// The nodes above it: name and address.
    above: Vec<(String, String)>,
    /// The address of the next page.
    next: Option<String>,
    /// The job that the node is of.
    job: Option<JobName>,
}

impl NodesPage {
    fn link(&self, path: &str) -> String {
        link(&self.layout, &[("path", path)])
    }

    /// The begin of the data of a child.
    fn short(&self, data: &str) -> String {
        let line = data.lines().next().unwrap_or_default();
        match data.chars().count() > SHORT || line.len() < data.trim_end().len() {
            true => line.chars().take(SHORT).chain(['…']).collect(),
            false => line.to_owned(),
        }
    }

    /// The last part of the path, with what is not visible escaped.
    fn name(&self, node: &Node) -> String {
        node.shown_path().rsplit('/').next().unwrap_or_default().to_owned()
    }
}

fn link(layout: &Layout, query: &[(&str, &str)]) -> String {
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish();
    let query = if query.is_empty() { query } else { format!("?{query}") };
    layout.here(&format!("/nodes{query}"))
}

pub(crate) async fn show(here: Here, Query(query): Query<NodeQuery>) -> Response {
    let level = match nodes::level(&here, &query).await {
        Ok(level) => level,
        Err(problem) => return error::problem(&here, &problem),
    };
    let layout = Layout::of(&here);
    let path = level.node.path.clone();
    let ends = path.match_indices('/').map(|(at, _)| at).filter(|at| *at > 0);
    let mut above: Vec<(String, String)> = ends
        .map(|end| {
            (path[..end].rsplit('/').next().unwrap_or_default().to_owned(), link(&layout, &[("path", &path[..end])]))
        })
        .collect();
    if path != "/" {
        above.insert(0, ("/".to_owned(), link(&layout, &[])));
    }
    let next = level.next.as_ref().map(|after| link(&layout, &[("path", &path), ("after", after)]));
    let job = path.split('/').nth(1).and_then(|name| JobName::new(name).ok());
    page(&NodesPage { layout, clock: Clock::in_zone(None), level, above, next, job })
}

/// All nodes of a job as text.
pub(crate) async fn dump(here: Here, Path((_, name)): Path<(String, String)>) -> Response {
    let job = match named(&here, &name) {
        Ok(job) => job,
        Err(page) => return *page,
    };
    match here.operations("").dump(&job, Addresses::Shown).await {
        Ok(text) => ([(CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response(),
        Err(wrong) => error::problem(&here, &wrong.into()),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;
    use elasticjob::config::JobSettings;
    use elasticjob::registry::memory::MemoryRegistry;
    use elasticjob::registry::{CreateMode, RegistryCenter, Transaction};

    use crate::testing::{call, console_of, cookie_of, request, start_job};

    const NODES: &str = "/api/v1/registries/default/nodes";

    #[tokio::test]
    async fn an_administrator_walks_through_the_nodes_and_nobody_sees_a_secret() {
        let memory = MemoryRegistry::new();
        let _job = start_job(&memory, "settle <b>", &JobSettings::default()).await;
        let mut transaction = Transaction::new();
        let data = "password=hunter2 \u{1b}[2K";
        transaction.create("/settle <b>/note", data, CreateMode::Persistent);
        memory.connect().commit(transaction).await.expect("it is created");
        let console = console_of(&memory);
        let admin = cookie_of(&console, "admin").await;
        let get = async |path: &str| call(&console, request("GET", path, Some(&admin))).await;
        let top = get("/r/default/nodes").await;
        assert!(top.status == StatusCode::OK && top.body.contains("nodes?path=%2Fsettle+%3Cb%3E"), "{}", top.body);
        assert!(top.body.contains("settle &#60;b&#62;") && !top.body.contains("settle <b>"), "{}", top.body);
        let page = get("/r/default/nodes?path=%2Fsettle+%3Cb%3E%2Fnote").await;
        assert!(page.body.contains("password=*** \\u{1b}[2K") && !page.body.contains("hunter2"), "{}", page.body);
        let page = get("/r/default/nodes?path=%2Fsettle+%3Cb%3E%2Fconfig").await;
        assert!(page.body.contains("shardingTotalCount: 2"), "{}", page.body);
        assert!(page.body.contains("/jobs/settle%20%3Cb%3E/dump"), "{}", page.body);
        let level = get(&format!("{NODES}?path=%2Fsettle+%3Cb%3E&limit=1")).await;
        let level: serde_json::Value = serde_json::from_str(&level.body).expect("JSON");
        assert_eq!((&level["node"]["path"], &level["next"]), (&"/settle <b>".into(), &"config".into()), "{level}");
        assert!(!level.to_string().contains("hunter2"), "{level}");
        let instances = get(&format!("{NODES}?path=%2Fsettle+%3Cb%3E%2Finstances")).await;
        let instances: serde_json::Value = serde_json::from_str(&instances.body).expect("JSON");
        assert!(instances["children"][0]["session"].is_string(), "an instance ends with its session: {instances}");
        for path in ["/r/default/jobs/settle%20%3Cb%3E/dump", "/api/v1/registries/default/jobs/settle%20%3Cb%3E/dump"] {
            let dump = get(path).await;
            assert_eq!(dump.headers["content-type"], "text/plain; charset=utf-8");
            assert!(dump.body.contains("/settle <b>/config | ") && !dump.body.contains("hunter2"), "{}", dump.body);
        }
        for (path, status) in [
            (format!("{NODES}?path=/nothing"), StatusCode::NOT_FOUND),
            (format!("{NODES}?path=nothing"), StatusCode::BAD_REQUEST),
            (format!("{NODES}?limit=201"), StatusCode::BAD_REQUEST),
            ("/r/default/nodes?path=/../x".to_owned(), StatusCode::BAD_REQUEST),
            ("/r/default/jobs/nothing/dump".to_owned(), StatusCode::NOT_FOUND),
        ] {
            assert_eq!(get(&path).await.status, status, "{path}");
        }
    }
}
