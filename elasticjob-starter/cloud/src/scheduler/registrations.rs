//! The registrations as they are in the registry center, followed as they change.

use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use elasticjob::ident::JobName;
use elasticjob::log::warn;
use elasticjob::registry::{NodeData, RegistryCenter, RegistryError, WatchEvent};
use tokio::sync::watch;

use super::nodes::{APPS, CONFIG, DISABLED, DISABLED_APPS, DISABLED_JOBS, JOBS, Node};
use crate::model::{App, CarriedJob, ExecutionType};

/// The pause before a read that failed is tried again.
const AGAIN: Duration = Duration::from_secs(1);

/// All applications and jobs that are registered.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Registrations {
    /// The applications by name.
    pub apps: BTreeMap<String, Arc<App>>,
    /// The jobs by name.
    pub jobs: BTreeMap<JobName, Arc<CarriedJob>>,
    /// The applications that are disabled: none of their jobs run.
    pub disabled_apps: BTreeSet<String>,
    /// The jobs that are disabled.
    pub disabled_jobs: BTreeSet<JobName>,
}

/// A job with its application.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Registered {
    pub(super) app: Arc<App>,
    pub(super) job: Arc<CarriedJob>,
}

impl Registrations {
    /// Whether a job is disabled, by itself or with its application.
    pub fn is_disabled(&self, job: &CarriedJob) -> bool {
        self.disabled_jobs.contains(&job.job_name) || self.disabled_apps.contains(&job.app_name)
    }

    /// A job with its application. `None` where one of them is not registered.
    pub(super) fn registered(&self, name: &JobName) -> Option<Registered> {
        let job = self.jobs.get(name)?;
        Some(Registered { app: self.apps.get(&job.app_name)?.clone(), job: job.clone() })
    }

    /// A job that has to be scheduled here.
    pub(super) fn transient(&self, name: &JobName) -> Option<Registered> {
        let registered = self.registered(name).filter(|it| !self.is_disabled(&it.job))?;
        (registered.job.job_execution_type == ExecutionType::Transient).then_some(registered)
    }

    /// Reads all of them.
    pub(super) async fn read(registry: &dyn RegistryCenter) -> Result<Self, RegistryError> {
        let mut all = Self::default();
        for parent in [APPS, JOBS, DISABLED_APPS, DISABLED_JOBS] {
            let names = registry.children(parent).await?.unwrap_or_default();
            // Sent together: the answers come in order.
            let reads: Vec<_> = names.into_iter().map(|name| format!("{parent}/{name}")).collect();
            let reads: Vec<_> = reads.into_iter().map(|path| (registry.get(&path), path)).collect();
            for (read, path) in reads {
                let data = read.await?;
                all.put(&path, data);
            }
        }
        Ok(all)
    }

    /// Takes over what a node has.
    fn put(&mut self, path: &str, data: Option<NodeData>) {
        let Some(node) = Node::parse(path) else { return };
        match (node, data) {
            (Node::App(name), data) => {
                self.apps.remove(&name);
                if let Some(app) = data.and_then(|data| parsed::<App>(path, &data)) {
                    self.apps.insert(name, Arc::new(app));
                }
            }
            (Node::Job(name), data) => {
                self.jobs.remove(&name);
                if let Some(job) = data.and_then(|data| parsed::<CarriedJob>(path, &data)) {
                    self.jobs.insert(name, Arc::new(job));
                }
            }
            (Node::DisabledApp(name), Some(_)) => drop(self.disabled_apps.insert(name)),
            (Node::DisabledApp(name), None) => drop(self.disabled_apps.remove(&name)),
            (Node::DisabledJob(name), Some(_)) => drop(self.disabled_jobs.insert(name)),
            (Node::DisabledJob(name), None) => drop(self.disabled_jobs.remove(&name)),
        }
    }
}

/// What a node says. One that cannot be read is ignored, and the log says why.
fn parsed<T: serde::de::DeserializeOwned>(path: &str, data: &NodeData) -> Option<T> {
    let text = data.data.text().unwrap_or_default();
    match serde_json::from_str(text) {
        Ok(value) => Some(value),
        Err(error) => {
            warn!("the registration {path} cannot be used, and is ignored: {error}");
            None
        }
    }
}

/// Follows the registrations until the registry center is closed or no reader is left.
pub(super) async fn follow(registry: Arc<dyn RegistryCenter>, told: watch::Sender<Registrations>) {
    let mut config = registry.watch(CONFIG);
    let mut disabled = registry.watch(DISABLED);
    loop {
        let event = poll_fn(|cx| match config.poll_next(cx) {
            std::task::Poll::Pending => disabled.poll_next(cx),
            ready => ready,
        });
        let event = tokio::select! {
            event = event => event,
            () = told.closed() => return,
        };
        let path = match event {
            None => return,
            Some(WatchEvent::Gap) => None,
            Some(WatchEvent::Created(path) | WatchEvent::Changed(path) | WatchEvent::Deleted(path)) => Some(path),
        };
        loop {
            match update(&*registry, path.as_deref(), &told).await {
                Ok(()) => break,
                // After a lost connection there is a gap, which reads everything.
                Err(error) => {
                    warn!("the registrations cannot be read: {error}");
                    tokio::time::sleep(AGAIN).await;
                }
            }
        }
    }
}

/// Reads one registration again, or all of them.
async fn update(
    registry: &dyn RegistryCenter,
    path: Option<&str>,
    told: &watch::Sender<Registrations>,
) -> Result<(), RegistryError> {
    match path {
        None => {
            let all = Registrations::read(registry).await?;
            told.send_if_modified(|known| {
                let is_new = *known != all;
                *known = all;
                is_new
            });
        }
        Some(path) if Node::parse(path).is_some() => {
            let data = registry.get(path).await?;
            told.send_modify(|known| known.put(path, data));
        }
        Some(_) => {}
    }
    Ok(())
}
