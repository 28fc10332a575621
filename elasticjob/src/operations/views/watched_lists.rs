//! The jobs, servers and instances of a namespace as lists show them, made again only where something changed.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::stream::{StreamExt, iter};
use tokio::sync::{Mutex, MutexGuard, watch};

use super::briefs::{instances, jobs_of_server, servers};
use super::graph::groups;
use super::{GraphRuns, InstanceBrief, JobOfServer, JobOverview, JobSnapshot, ServerBrief};
use crate::ident::JobName;
use crate::operations::members::Members;
use crate::operations::{OperationError, Operations};
use crate::registry::Moment;
use crate::registry::watched::WatchedRegistry;

/// How many jobs are read at a time.
const AT_A_TIME: usize = 32;

/// The jobs of a namespace, for views that are looked at again and again. Cheap to clone.
///
/// It follows the namespace with one watch. As long as nothing changes, a view needs no request, however many jobs there
/// are; after a change, the jobs that changed are read again when a reader looks. Of several readers at the same time
/// one reads, and the others wait for it.
#[derive(Debug, Clone)]
pub struct Catalogue {
    registry: WatchedRegistry,
    operations: Operations,
    rows: Arc<Mutex<Rows>>,
}

#[derive(Debug, Default)]
struct Rows {
    jobs: BTreeMap<JobName, Row>,
    /// Whether all jobs were read at least once.
    is_complete: bool,
}

#[derive(Debug)]
struct Row {
    /// The last event of the nodes that it was made of.
    event: u64,
    /// It says something else from this time on, although no node changes.
    until: Option<i64>,
    /// `None` for a node that is no job.
    job: Option<Job>,
}

#[derive(Debug)]
struct Job {
    overview: Arc<JobOverview>,
    members: Members,
    /// Itself with each job that it runs after.
    edges: Vec<(JobName, JobName)>,
}

/// The jobs as they were when they were looked at.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Listed {
    /// The jobs in ascending order.
    pub jobs: Vec<Arc<JobOverview>>,
    /// Since when the registry center is lost, in milliseconds since 1970: the jobs are as they were then. `None` while it
    /// is connected.
    pub lost_since: Option<i64>,
}

impl Catalogue {
    /// The jobs in this namespace.
    pub fn new(registry: WatchedRegistry) -> Self {
        let operations = Operations::new(Arc::new(registry.clone()));
        Self { registry, operations, rows: Arc::default() }
    }

    /// Views of the same nodes, as current as the lists.
    pub fn views(&self) -> &Operations {
        &self.operations
    }

    /// A job as it is now, as [`Operations::snapshot`] reads it. Of a job without an instance or without a leader it also knows since
    /// when, where the catalogue saw the last one go; it does not where it was made later, or lost the registry center since.
    ///
    /// # Errors
    /// As [`Operations::snapshot`].
    pub async fn snapshot(&self, job: &JobName) -> Result<JobSnapshot, OperationError> {
        let mut snapshot = self.operations.snapshot(job).await?;
        snapshot.gone = self.registry.gone(job);
        Ok(snapshot)
    }

    /// The number of the last change, now and as it grows. See [`WatchedRegistry::changes`].
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.registry.changes()
    }

    /// Since when the registry center is lost. See [`WatchedRegistry::lost_since`].
    pub fn lost_since(&self) -> Option<i64> {
        self.registry.lost_since()
    }

    /// The jobs, in ascending order. A node without a configuration is no job. Where the registry center is lost, they are
    /// as they were when it was lost.
    ///
    /// # Errors
    /// [`OperationError::Read`] where the registry center does not answer, and was lost before all jobs were read once.
    pub async fn jobs(&self) -> Result<Listed, OperationError> {
        let rows = self.rows().await?;
        let jobs = rows.all().map(|(_, job)| job.overview.clone()).collect();
        Ok(Listed { jobs, lost_since: self.registry.lost_since() })
    }

    /// The servers of these jobs, in ascending order: servers that one of them knows, and servers with an instance of one.
    /// Other jobs count nowhere.
    ///
    /// # Errors
    /// As [`jobs`](Self::jobs).
    pub async fn servers(&self, is_meant: impl Fn(&JobName) -> bool) -> Result<Vec<ServerBrief>, OperationError> {
        Ok(servers(self.rows().await?.members().filter(|(job, _)| is_meant(job))))
    }

    /// The instances of these jobs that are online, in ascending order. Other jobs count nowhere.
    ///
    /// # Errors
    /// As [`jobs`](Self::jobs).
    pub async fn instances(&self, is_meant: impl Fn(&JobName) -> bool) -> Result<Vec<InstanceBrief>, OperationError> {
        Ok(instances(self.rows().await?.members().filter(|(job, _)| is_meant(job))))
    }

    /// The jobs that know a server, in ascending order. Empty where no job knows it.
    ///
    /// # Errors
    /// As [`jobs`](Self::jobs).
    pub async fn jobs_of_server(&self, server: &str) -> Result<Vec<JobOfServer>, OperationError> {
        Ok(jobs_of_server(server, self.rows().await?.members()))
    }

    /// The first groups of jobs that are connected by dependencies, with how each job stands for one fire, as
    /// [`Operations::graph_runs`] has them. Of the groups beyond `most` nothing is read.
    ///
    /// # Errors
    /// [`OperationError::NoSuchJob`], and as [`jobs`](Self::jobs).
    pub async fn graph_runs(
        &self,
        of: Option<&JobName>,
        at: Option<i64>,
        most: usize,
        sees: impl Fn(&JobName) -> bool + Send + Sync,
    ) -> Result<GraphRuns, OperationError> {
        let rows = self.rows().await?;
        if let Some(job) = of.filter(|job| !rows.jobs.contains_key(*job)) {
            return Err(OperationError::NoSuchJob { job: job.clone(), jobs: rows.jobs.keys().cloned().collect() });
        }
        let seen = rows.all().filter(|(job, _)| sees(job));
        let edges: Vec<_> = seen.flat_map(|(_, job)| job.edges.iter().cloned()).collect();
        drop(rows);
        let mut groups = groups(of, &edges);
        let total = groups.len();
        groups.truncate(most);
        Ok(GraphRuns { runs: self.operations.runs_of(groups, at, &sees).await?, total })
    }

    /// The rows of all jobs, as they are now, or as they were when the registry center was lost.
    async fn rows(&self) -> Result<MutexGuard<'_, Rows>, OperationError> {
        let mut rows = self.rows.lock().await;
        match self.refresh(&mut rows).await {
            Ok(()) => rows.is_complete = true,
            Err(error) if error.is_unreachable() && rows.is_complete => {}
            Err(error) => return Err(error),
        }
        Ok(rows)
    }

    async fn refresh(&self, rows: &mut Rows) -> Result<(), OperationError> {
        let names = self.operations.job_names().await?;
        let events = self.registry.last_events(names.iter().map(JobName::as_str));
        let now = Moment::now().wall_ms;
        let mut old = Vec::new();
        let mut known = std::mem::take(&mut rows.jobs);
        for (name, event) in names.into_iter().zip(events) {
            match known.remove(&name) {
                Some(row) if row.is_current(event, now) => drop(rows.jobs.insert(name, row)),
                row => {
                    old.push((name.clone(), event));
                    // It stays as it is while it cannot be read.
                    if let Some(row) = row {
                        rows.jobs.insert(name, row);
                    }
                }
            }
        }
        let mut read = iter(old).map(|(name, event)| self.read(name, event, now)).buffer_unordered(AT_A_TIME);
        while let Some(read) = read.next().await {
            let (name, row) = read?;
            rows.jobs.insert(name, row);
        }
        Ok(())
    }

    async fn read(&self, name: JobName, event: u64, now: i64) -> Result<(JobName, Row), OperationError> {
        let snapshot = match self.snapshot(&name).await {
            // A DAEMON job whose processes end before they join has no configuration.
            Ok(snapshot) if snapshot.configuration.is_some() || snapshot.daemon.is_some() => snapshot,
            // Removed since its name was read: the next list is without it.
            Ok(_) | Err(OperationError::NoSuchJob { .. }) => return Ok((name, Row { event, until: None, job: None })),
            Err(error) => return Err(error),
        };
        let overview = snapshot.overview(now);
        let until = snapshot.overview_changes_at(&overview, now);
        let edges = self.operations.after_others(&name).await?;
        let job = Job { overview: Arc::new(overview), members: snapshot.members, edges };
        Ok((name, Row { event, until, job: Some(job) }))
    }
}

impl Rows {
    fn all(&self) -> impl Iterator<Item = (&JobName, &Job)> {
        self.jobs.iter().filter_map(|(name, row)| Some((name, row.job.as_ref()?)))
    }

    fn members(&self) -> impl Iterator<Item = (&JobName, &Members)> {
        self.all().map(|(name, job)| (name, &job.members))
    }
}

impl Row {
    fn is_current(&self, event: u64, now: i64) -> bool {
        self.event == event && self.until.is_none_or(|until| now < until)
    }
}
