//! The registrations as they are in the registry center, followed as they change.

use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use elasticjob::ident::JobName;
use elasticjob::log::warn;
use elasticjob::registry::{NodeData, RegistryCenter, RegistryError, WatchEvent, Zxid};
use tokio::sync::watch;

use super::nodes::{
    APPS, CONFIG, DISABLED, DISABLED_APPS, DISABLED_JOBS, JOBS, Node, STOPPED, STOPPED_APPS, STOPPED_JOBS,
};
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
    /// Why the present registrations of these applications cannot be used. The last ones that could be stay in force.
    unusable_apps: BTreeMap<String, String>,
    /// The same of jobs.
    unusable_jobs: BTreeMap<JobName, String>,
    /// When it was wished last that what runs of these applications ends.
    stopped_apps: BTreeMap<String, Zxid>,
    /// The same of jobs.
    stopped_jobs: BTreeMap<JobName, Zxid>,
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

    /// The last wish that what runs of a job ends, by itself or with its application.
    pub(super) fn stopped(&self, registered: &Registered) -> Option<Zxid> {
        let of_app = self.stopped_apps.get(&registered.app.app_name);
        of_app.max(self.stopped_jobs.get(&registered.job.job_name)).copied()
    }

    /// Whether a job is registered, also where its registration cannot be used.
    pub(super) fn is_registered(&self, name: &JobName) -> bool {
        self.jobs.contains_key(name) || self.unusable_jobs.contains_key(name)
    }

    /// The names of all jobs that are registered.
    pub(super) fn names(&self) -> BTreeSet<JobName> {
        self.jobs.keys().chain(self.unusable_jobs.keys()).cloned().collect()
    }

    /// The names of the jobs whose present registration cannot be used.
    pub(super) fn names_of_unusable_jobs(&self) -> impl Iterator<Item = &JobName> {
        self.unusable_jobs.keys()
    }

    /// All applications that are registered; `None` where one of them is not known.
    pub(super) fn all_apps(&self) -> Option<Vec<Arc<App>>> {
        let is_known = self.unusable_apps.keys().all(|name| self.apps.contains_key(name));
        is_known.then(|| self.apps.values().cloned().collect())
    }

    /// Whether it is not known what a job shall do: its registration or that of its application cannot be used, and no earlier one
    /// is known. Then nothing of it is started or stopped.
    pub(super) fn is_unknown(&self, name: &JobName) -> bool {
        match self.jobs.get(name) {
            None => self.unusable_jobs.contains_key(name) && !self.disabled_jobs.contains(name),
            Some(job) => {
                let app = &job.app_name;
                !self.is_disabled(job) && !self.apps.contains_key(app) && self.unusable_apps.contains_key(app)
            }
        }
    }

    /// Why the present registration of a job or of its application is not in force, by job.
    pub(super) fn troubles(&self) -> BTreeMap<JobName, String> {
        let in_force = |is_known| match is_known {
            true => "the last one that could be used stays in force",
            false => "nothing of it is started or stopped",
        };
        let of_app = self.jobs.values().filter_map(|job| {
            let (app, why) = self.unusable_apps.get_key_value(&job.app_name)?;
            let in_force = in_force(self.apps.contains_key(app));
            Some((
                job.job_name.clone(),
                format!("the registration of app '{app}' cannot be used, and {in_force}: {why}"),
            ))
        });
        let of_job = self.unusable_jobs.iter().map(|(name, why)| {
            let in_force = in_force(self.jobs.contains_key(name));
            (name.clone(), format!("the registration of the job cannot be used, and {in_force}: {why}"))
        });
        of_app.chain(of_job).collect()
    }

    /// Takes what was known before of the registrations that cannot be used now.
    pub(super) fn keep_usable(&mut self, before: &Self) {
        for name in self.unusable_apps.keys() {
            self.apps.extend(before.apps.get_key_value(name).map(|(name, app)| (name.clone(), app.clone())));
        }
        for name in self.unusable_jobs.keys() {
            self.jobs.extend(before.jobs.get_key_value(name).map(|(name, job)| (name.clone(), job.clone())));
        }
    }

    /// Reads all of them.
    pub(super) async fn read(registry: &dyn RegistryCenter) -> Result<Self, RegistryError> {
        let mut all = Self::default();
        for (path, data) in nodes(registry).await? {
            all.put(&path, Some(data));
        }
        Ok(all)
    }

    /// Takes over what a node has.
    fn put(&mut self, path: &str, data: Option<NodeData>) {
        let Some(node) = Node::parse(path) else { return };
        match (node, data) {
            (Node::App(name), data) => put(&mut self.apps, &mut self.unusable_apps, name, path, data),
            (Node::Job(name), data) => put(&mut self.jobs, &mut self.unusable_jobs, name, path, data),
            (Node::DisabledApp(name), Some(_)) => drop(self.disabled_apps.insert(name)),
            (Node::DisabledApp(name), None) => drop(self.disabled_apps.remove(&name)),
            (Node::DisabledJob(name), Some(_)) => drop(self.disabled_jobs.insert(name)),
            (Node::DisabledJob(name), None) => drop(self.disabled_jobs.remove(&name)),
            (Node::StoppedApp(name), Some(node)) => drop(self.stopped_apps.insert(name, node.stat.mzxid)),
            (Node::StoppedApp(name), None) => drop(self.stopped_apps.remove(&name)),
            (Node::StoppedJob(name), Some(node)) => drop(self.stopped_jobs.insert(name, node.stat.mzxid)),
            (Node::StoppedJob(name), None) => drop(self.stopped_jobs.remove(&name)),
        }
    }
}

/// The nodes of all registrations, and of the marks and wishes beside them, by their paths.
pub(super) async fn nodes(registry: &dyn RegistryCenter) -> Result<Vec<(String, NodeData)>, RegistryError> {
    let mut nodes = Vec::new();
    for parent in [APPS, JOBS, DISABLED_APPS, DISABLED_JOBS, STOPPED_APPS, STOPPED_JOBS] {
        let names = registry.children(parent).await?.unwrap_or_default();
        // Sent together: the answers come in order.
        let reads: Vec<_> = names.into_iter().map(|name| format!("{parent}/{name}")).collect();
        let reads: Vec<_> = reads.into_iter().map(|path| (registry.get(&path), path)).collect();
        for (read, path) in reads {
            nodes.extend(read.await?.map(|data| (path, data)));
        }
    }
    Ok(nodes)
}

/// Takes over what the node of an application or a job has. Where that cannot be used, as a newer scheduler wrote it or a hand made
/// a mistake, what was known before stays: only a node that is gone says that it is removed.
fn put<K: Ord + Clone, T: serde::de::DeserializeOwned>(
    known: &mut BTreeMap<K, Arc<T>>,
    unusable: &mut BTreeMap<K, String>,
    name: K,
    path: &str,
    data: Option<NodeData>,
) {
    match data.map(|data| serde_json::from_str(data.data.text().unwrap_or_default())) {
        None => {
            known.remove(&name);
            unusable.remove(&name);
        }
        Some(Ok(value)) => {
            unusable.remove(&name);
            known.insert(name, Arc::new(value));
        }
        Some(Err(error)) => {
            warn!("the registration {path} cannot be used: {error}");
            unusable.insert(name, error.to_string());
        }
    }
}

/// Follows the registrations until the registry center is closed or no reader is left.
pub(super) async fn follow(registry: Arc<dyn RegistryCenter>, told: watch::Sender<Registrations>) {
    let mut watches = [CONFIG, DISABLED, STOPPED].map(|path| registry.watch(path));
    loop {
        let event = poll_fn(|cx| {
            let told = watches.iter_mut().map(|watch| watch.poll_next(cx)).find(Poll::is_ready);
            told.unwrap_or(Poll::Pending)
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
            let mut all = Registrations::read(registry).await?;
            told.send_if_modified(|known| {
                all.keep_usable(known);
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
