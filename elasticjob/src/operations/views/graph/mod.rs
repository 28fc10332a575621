//! The graph of jobs by their dependencies, with each job's state for a fire.

mod cycles;
mod fire;
mod run;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::config::{Dependency, DependencyItems, JobConfiguration, When, wire};
use crate::engine::{DependencyRecord, ParentItem, ParentView};
use crate::fire::FireRecord;
use crate::ident::{JobName, ShardingItem};
use crate::operations::{OperationError, Operations, read};
use crate::registry::layout::{ItemNode, JobPath};
use crate::trace::now;

use cycles::cycles;
use fire::Stands;
pub use fire::{GraphFire, GraphState};
pub use run::{GraphRun, GraphRuns, RunOfJob};

/// Jobs that run after others, and those others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct JobGraph {
    /// The jobs, by name.
    pub jobs: Vec<GraphJob>,
    /// Jobs that wait for each other, so that none of them ever runs: each after the one before it, the first one again at
    /// the end.
    pub cycles: Vec<Vec<JobName>>,
}

/// A job in the graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GraphJob {
    /// Its name.
    pub job: JobName,
    /// Whether the registry center has a configuration of it that can be read. A job that does not exist is waited for.
    pub exists: bool,
    /// Its cron expression, where it has a schedule.
    pub cron: Option<String>,
    /// The jobs that it runs after.
    pub depends_on: Vec<GraphEdge>,
    /// Its latest scheduled fire; `None` where there was none yet.
    pub latest: Option<GraphFire>,
}

/// That a job runs after another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct GraphEdge {
    /// The other job.
    pub job: JobName,
    /// The end that its fire must have.
    pub when: When,
    /// The items of it that must have that end.
    pub items: DependencyItems,
}

/// The graph as the registry center has it, with what is needed to say how a job stands for a fire.
struct Seen {
    jobs: Vec<GraphJob>,
    stands: Stands,
}

impl Operations {
    /// The jobs that run after others, with those others; of one job only what it is connected with.
    ///
    /// # Errors
    /// [`OperationError::NoSuchJob`], and those of reads.
    pub async fn graph(&self, of: Option<&JobName>) -> Result<JobGraph, OperationError> {
        let meant: BTreeSet<JobName> = self.groups(of, &|_| true).await?.into_iter().flatten().collect();
        let Seen { jobs, .. } = self.seen(meant.into_iter().collect(), &|_| true).await?;
        let cycles = cycles(&jobs);
        Ok(JobGraph { jobs, cycles })
    }

    /// Each group of jobs that are connected by dependencies, with how its jobs stand for one fire: that of `at`, in
    /// milliseconds since 1970, or the latest one of the group. Of one job its group alone.
    ///
    /// A job that the caller does not see counts only where a job that the caller sees names it; nothing is read of it.
    ///
    /// # Errors
    /// [`OperationError::NoSuchJob`], and those of reads.
    pub async fn graph_runs(
        &self,
        of: Option<&JobName>,
        at: Option<i64>,
        sees: impl Fn(&JobName) -> bool + Send + Sync,
    ) -> Result<Vec<GraphRun>, OperationError> {
        let groups = self.groups(of, &sees).await?;
        self.runs_of(groups, at, &sees).await
    }

    /// How the jobs of these groups stand for a fire.
    pub(super) async fn runs_of(
        &self,
        groups: Vec<Vec<JobName>>,
        at: Option<i64>,
        sees: &(dyn Fn(&JobName) -> bool + Send + Sync),
    ) -> Result<Vec<GraphRun>, OperationError> {
        let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
        let Seen { jobs, stands } = self.seen(groups.into_iter().flatten().collect(), sees).await?;
        let mut jobs = jobs.into_iter();
        Ok(sizes.into_iter().map(|size| GraphRun::of(jobs.by_ref().take(size).collect(), at, &stands)).collect())
    }

    async fn groups(
        &self,
        of: Option<&JobName>,
        sees: &(dyn Fn(&JobName) -> bool + Send + Sync),
    ) -> Result<Vec<Vec<JobName>>, OperationError> {
        let names = self.job_names().await?;
        if let Some(job) = of.filter(|job| !names.contains(job)) {
            return Err(self.no_such_job(job).await);
        }
        let after = read::all(names.iter().filter(|job| sees(job)).map(|job| self.after_others(job))).await?;
        Ok(groups(of, &after.into_iter().flatten().collect::<Vec<_>>()))
    }

    async fn seen(
        &self,
        meant: Vec<JobName>,
        sees: &(dyn Fn(&JobName) -> bool + Send + Sync),
    ) -> Result<Seen, OperationError> {
        let views = read::all(meant.iter().map(|job| self.view_if(sees(job), job))).await?;
        let mut stands = Stands::new(now().timestamp_millis());
        let mut jobs = Vec::with_capacity(views.len());
        for (job, view) in meant.into_iter().zip(views) {
            jobs.push(graph_job(&job, view.as_ref()));
            stands.learn(job, view.unwrap_or_default());
        }
        jobs.iter_mut().for_each(|one| one.latest = stands.latest(&one.job));
        Ok(Seen { jobs, stands })
    }

    /// A job with each that it runs after. Of other jobs, however many there are, no configuration is parsed.
    pub(in crate::operations) async fn after_others(
        &self,
        job: &JobName,
    ) -> Result<Vec<(JobName, JobName)>, OperationError> {
        let node = self.get(JobPath::Config.absolute(job)).await?;
        let node = node.filter(|node| node.data.text().is_some_and(wire::may_depend));
        let read = node.and_then(|node| wire::from_yaml(job, &node.data).ok());
        let parents = read.iter().flat_map(JobConfiguration::depends_on);
        Ok(parents.map(|dependency| (job.clone(), dependency.job.clone())).collect())
    }

    async fn view_if(&self, is_seen: bool, job: &JobName) -> Result<Option<ParentView>, OperationError> {
        Ok(if is_seen { Some(self.view_of(job).await?) } else { None })
    }

    /// What the leader of a job after this one knows of it.
    async fn view_of(&self, job: &JobName) -> Result<ParentView, OperationError> {
        let ((view, _), items, triggers) = tokio::try_join!(
            self.decided_view(job),
            self.names(JobPath::Sharding.absolute(job)),
            self.names(JobPath::Triggers.absolute(job)),
        )?;
        let items: Vec<ShardingItem> = items.iter().filter_map(|item| item.parse().ok()).collect();
        let read = read::all(items.iter().map(|item| self.parent_item(job, *item))).await?;
        Ok(ParentView { items: items.into_iter().zip(read).collect(), triggered: !triggers.is_empty(), ..view })
    }

    /// The configuration of a job, and what its leader has decided on fires, with the version of the node that says so.
    pub(in crate::operations) async fn decided_view(
        &self,
        job: &JobName,
    ) -> Result<(ParentView, Option<i32>), OperationError> {
        let (config, decided) =
            tokio::try_join!(self.get(JobPath::Config.absolute(job)), self.get(JobPath::Dependencies.absolute(job)),)?;
        let version = decided.as_ref().map(|node| node.stat.version);
        let view = ParentView {
            configuration: config.and_then(|node| wire::from_yaml(job, &node.data).ok()).map(Into::into),
            decided_at: decided.as_ref().map_or(0, |node| node.stat.mtime),
            decided: decided.and_then(|node| DependencyRecord::parse(&node.data)),
            ..ParentView::default()
        };
        Ok((view, version))
    }

    async fn parent_item(&self, job: &JobName, item: ShardingItem) -> Result<ParentItem, OperationError> {
        let (record, disabled, running) = tokio::try_join!(
            self.get(JobPath::fire(item).absolute(job)),
            self.get(JobPath::Item(item, ItemNode::Disabled).absolute(job)),
            self.get(JobPath::running(item).absolute(job)),
        )?;
        Ok(ParentItem {
            written: record.as_ref().map_or(0, |node| node.stat.mtime),
            record: record.map_or(FireRecord::empty(), |node| FireRecord::parse(&node.data)),
            disabled: disabled.is_some(),
            marked: running.is_some(),
        })
    }
}

fn graph_job(job: &JobName, view: Option<&ParentView>) -> GraphJob {
    let configuration = view.and_then(|view| view.configuration.as_deref());
    let depends_on = configuration.map(JobConfiguration::depends_on).unwrap_or_default();
    let edge =
        |Dependency { job, when, items }: &Dependency| GraphEdge { job: job.clone(), when: *when, items: *items };
    GraphJob {
        job: job.clone(),
        exists: configuration.is_some(),
        cron: configuration.and_then(JobConfiguration::schedule).map(|schedule| schedule.cron().to_string()),
        depends_on: depends_on.iter().map(edge).collect(),
        latest: None,
    }
}

/// The jobs that are connected with each other, group by group, each in the order of the names; the groups in the order of
/// their first jobs. Of one job its group alone.
pub(super) fn groups(of: Option<&JobName>, edges: &[(JobName, JobName)]) -> Vec<Vec<JobName>> {
    let neighbours = neighbours(edges);
    let mut left: BTreeSet<&JobName> = match of {
        Some(job) => BTreeSet::from([job]),
        None => neighbours.keys().copied().collect(),
    };
    let mut groups = Vec::new();
    while let Some(first) = left.pop_first() {
        let group = reached(first, &neighbours);
        left.retain(|job| !group.contains(*job));
        groups.push(group.into_iter().collect());
    }
    groups
}

/// Each job with those before and after it.
fn neighbours(edges: &[(JobName, JobName)]) -> BTreeMap<&JobName, Vec<&JobName>> {
    let mut found: BTreeMap<&JobName, Vec<&JobName>> = BTreeMap::new();
    for (child, parent) in edges {
        found.entry(child).or_default().push(parent);
        found.entry(parent).or_default().push(child);
    }
    found
}

/// The jobs that a way leads to from one, itself included.
fn reached(job: &JobName, neighbours: &BTreeMap<&JobName, Vec<&JobName>>) -> BTreeSet<JobName> {
    let (mut found, mut next) = (BTreeSet::from([job.clone()]), vec![job]);
    while let Some(one) = next.pop() {
        for other in neighbours.get(one).into_iter().flatten() {
            if found.insert((*other).clone()) {
                next.push(other);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(job: &str) -> JobName {
        JobName::new(job).unwrap()
    }

    #[test]
    fn what_a_job_is_connected_with_goes_both_ways() {
        let edges = [("e", "d"), ("c", "b"), ("b", "a")].map(|(child, parent)| (name(child), name(parent)));
        let [first, second] = [["a", "b", "c"].map(name).to_vec(), ["d", "e"].map(name).to_vec()];
        assert_eq!(groups(Some(&name("b")), &edges), std::slice::from_ref(&first));
        assert_eq!(groups(Some(&name("z")), &edges), [[name("z")]]);
        assert_eq!(groups(None, &edges), [first, second]);
    }
}
