//! The nodes of a job as text, read from the registry center, in the format of ElasticJob's dump port.
//!
//! The text has a line `path | data` for each node below the node of the job. The lines below a node come right after
//! its line; of nodes with the same parent, later names come first. The configuration and instances, which are YAML,
//! have several lines. In other data control characters are escaped, and no line of data begins with `/`. Secrets are
//! always masked, in the configuration and in other data, such as the errors of runs; Java does not mask them.

mod client;
mod conversation;
mod privacy;
mod service;

use std::collections::BTreeMap;

use super::{OperationError, Operations, read};
use crate::escaped::{Escaped, in_dump};
use crate::ident::JobName;
use crate::registry::layout::JobPath;
use crate::secret::{mask_document, mask_inside};

pub use client::{DumpError, ask};
pub use service::{DumpPort, DumpService};

/// Whether addresses of servers are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Addresses {
    /// The addresses are shown.
    Shown,
    /// The addresses are replaced by `ip1`, `ip2` and so on, in the order in which they first occur, as ElasticJob's
    /// dump port does.
    Hidden,
}

impl Operations {
    /// The nodes of a job as text.
    ///
    /// # Errors
    /// [`OperationError::NoSuchJob`], [`OperationError::Read`].
    pub async fn dump(&self, job: &JobName, addresses: Addresses) -> Result<String, OperationError> {
        match self.nodes(job).await? {
            Some(nodes) => Ok(written(vec![nodes], addresses).await),
            None => Err(self.no_such_job(job).await),
        }
    }

    /// The nodes of a job; `None` where it has none.
    async fn nodes(&self, job: &JobName) -> Result<Option<Nodes>, OperationError> {
        let paths = self.tree(job).await?;
        if paths.is_empty() {
            return Ok(None);
        }
        let data = read::all(paths.iter().map(|path| self.text(path.clone()))).await?;
        let nodes = paths.into_iter().zip(data).filter_map(|(path, data)| Some((path, data?))).collect();
        Ok(Some(Nodes { job: job.clone(), nodes }))
    }
}

/// The nodes of a job and their data.
struct Nodes {
    job: JobName,
    nodes: BTreeMap<String, String>,
}

/// The text of one dump. An address has the same replacement in the whole dump.
async fn written(jobs: Vec<Nodes>, addresses: Addresses) -> String {
    // On another thread: the text of a job of thousands of items is long, and the session with the registry center may
    // live on this thread.
    let text = tokio::task::spawn_blocking(move || {
        let text: String = jobs.iter().map(|Nodes { job, nodes }| render(job, nodes)).collect();
        let servers = jobs.iter().flat_map(|Nodes { job, nodes }| {
            let parent = JobPath::Servers.absolute(job) + "/";
            nodes.keys().filter_map(move |path| path.strip_prefix(&parent))
        });
        match addresses {
            Addresses::Shown => text,
            Addresses::Hidden => privacy::hide(&text, servers),
        }
    });
    match text.await {
        Ok(text) => text,
        // The runtime ends, and with it the task that waits for this.
        Err(ended) if ended.is_cancelled() => std::future::pending().await,
        Err(ended) => std::panic::resume_unwind(ended.into_panic()),
    }
}

fn render(job: &JobName, nodes: &BTreeMap<String, String>) -> String {
    let root = JobPath::Root.absolute(job);
    let config = JobPath::Config.absolute(job);
    let instances = JobPath::Instances.absolute(job) + "/";
    let mut children: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for path in nodes.keys() {
        let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
        children.entry(parent).or_default().push(path);
    }
    let mut text = String::new();
    // Paths below one parent are in ascending order, so the last one is taken first.
    let mut left = children.get(root.as_str()).cloned().unwrap_or_default();
    while let Some(path) = left.pop() {
        let data = &nodes[path];
        let data = if *path == config { mask_document(data) } else { mask_inside(data) };
        let data = in_dump(&data, *path == config || path.starts_with(&instances));
        text.push_str(&format!("{} | {data}\n", Escaped(path)));
        left.extend(children.get(path).into_iter().flatten());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_come_behind_their_parent_and_later_names_first() {
        let paths =
            ["/job", "/job/config", "/job/instances", "/job/instances/10.0.0.1@-@7", "/job/servers", "/job/sharding"];
        let mut nodes: BTreeMap<String, String> =
            paths.iter().map(|path| ((*path).to_owned(), String::new())).collect();
        nodes.insert("/job".into(), "com.acme.Job".into());
        nodes.insert("/job/config".into(), "jobName: job\nprops:\n  a.secret: x\n".into());
        nodes.insert("/job/instances/10.0.0.1@-@7".into(), "jobInstanceId: 10.0.0.1@-@7\n".into());
        let text = render(&JobName::new("job").unwrap(), &nodes);
        let expected = "/job/sharding | \n/job/servers | \n/job/instances | \n/job/instances/10.0.0.1@-@7 | jobInstanceId: 10.0.0.1@-@7\n\n/job/config | jobName: job\nprops:\n  a.secret: '***'\n\n";
        assert_eq!(text, expected);
    }
}
