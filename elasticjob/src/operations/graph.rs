//! Which job runs after which, and where their latest fires stand.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{OperationError, Operations, read};
use crate::config::{Dependency, Invalid, JobConfiguration, When, wire};
use crate::engine::DependencyRecord;
use crate::fire::{FireRecord, FireState};
use crate::ident::{JobName, ShardingItem};
use crate::registry::RegistryCenter;
use crate::registry::layout::JobPath;

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
    /// How its fire has to end.
    pub when: When,
}

/// The latest scheduled fire of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct GraphFire {
    /// Its scheduled time in milliseconds since 1970. Jobs of a chain have the same one.
    pub at: i64,
    /// Where it stands.
    pub state: GraphState,
    /// Why it is skipped; empty otherwise.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// Where a fire stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum GraphState {
    /// The jobs before it have ended, and no item has begun yet.
    Due,
    /// Items of it run.
    Running,
    /// All items that ran for it succeeded.
    Succeeded,
    /// An item of it did not succeed.
    Failed,
    /// It is not run, because of the jobs before it.
    Skipped,
}

impl GraphState {
    /// Its name, as JSON has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Due => "DUE",
            Self::Running => "RUNNING",
            Self::Succeeded => "SUCCEEDED",
            Self::Failed => "FAILED",
            Self::Skipped => "SKIPPED",
        }
    }
}

impl Operations {
    /// The jobs that run after others, with those others; of one job only what it is connected with.
    ///
    /// # Errors
    /// [`OperationError::NoSuchJob`], and those of reads.
    pub async fn graph(&self, of: Option<&JobName>) -> Result<JobGraph, OperationError> {
        let names = self.job_names().await?;
        if let Some(job) = of.filter(|job| !names.contains(job)) {
            return Err(self.no_such_job(job).await);
        }
        let configurations = read::all(names.iter().map(|job| self.readable(job))).await?;
        let known: BTreeMap<JobName, JobConfiguration> =
            names.into_iter().zip(configurations).filter_map(|(job, read)| Some((job, read?))).collect();
        let edges = edges(&known);
        let meant = match of {
            Some(job) => connected(job, &edges),
            None => edges.iter().flat_map(|(child, parent)| [child.clone(), parent.clone()]).collect(),
        };
        let jobs = read::all(meant.into_iter().map(|job| self.graph_job(known.get(&job), job))).await?;
        let cycles = cycles(&jobs);
        Ok(JobGraph { jobs, cycles })
    }

    async fn graph_job(
        &self,
        configuration: Option<&JobConfiguration>,
        job: JobName,
    ) -> Result<GraphJob, OperationError> {
        let depends_on = configuration.map(JobConfiguration::depends_on).unwrap_or_default();
        let depends_on = depends_on.iter().map(|Dependency { job, when }| GraphEdge { job: job.clone(), when: *when });
        Ok(GraphJob {
            exists: configuration.is_some(),
            cron: configuration.and_then(JobConfiguration::schedule).map(|schedule| schedule.cron().to_string()),
            depends_on: depends_on.collect(),
            latest: self.latest(&job).await?,
            job,
        })
    }

    async fn latest(&self, job: &JobName) -> Result<Option<GraphFire>, OperationError> {
        let items = self.names(JobPath::Sharding.absolute(job)).await?;
        let items = items.iter().filter_map(|item| item.parse::<ShardingItem>().ok());
        let records = read::all(items.map(|item| self.get(JobPath::fire(item).absolute(job))));
        let (records, decided) = tokio::try_join!(records, self.get(JobPath::Dependencies.absolute(job)))?;
        let records: Vec<FireRecord> =
            records.into_iter().flatten().map(|node| FireRecord::parse(&node.data)).collect();
        Ok(latest_of(&records, decided.and_then(|node| DependencyRecord::parse(&node.data)).as_ref()))
    }

    async fn readable(&self, job: &JobName) -> Result<Option<JobConfiguration>, OperationError> {
        let node = self.get(JobPath::Config.absolute(job)).await?;
        Ok(node.and_then(|node| wire::from_yaml(job, &node.data).ok()))
    }
}

/// Each job with each that it runs after.
fn edges(known: &BTreeMap<JobName, JobConfiguration>) -> Vec<(JobName, JobName)> {
    let of = |(job, configuration): (&JobName, &JobConfiguration)| -> Vec<(JobName, JobName)> {
        configuration.depends_on().iter().map(|dependency| (job.clone(), dependency.job.clone())).collect()
    };
    known.iter().flat_map(of).collect()
}

/// The jobs that are connected with one, itself included.
fn connected(job: &JobName, edges: &[(JobName, JobName)]) -> BTreeSet<JobName> {
    let mut found = BTreeSet::from([job.clone()]);
    loop {
        let before = found.len();
        for (child, parent) in edges {
            if found.contains(child) || found.contains(parent) {
                found.extend([child.clone(), parent.clone()]);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

fn latest_of(records: &[FireRecord], decided: Option<&DependencyRecord>) -> Option<GraphFire> {
    let begun = || records.iter().filter_map(|record| record.last.as_ref()).filter(|begun| !begun.manual);
    let ran = begun().map(|begun| begun.at).max();
    let decided = decided.and_then(|record| record.decided.last()).filter(|fire| Some(fire.at) > ran);
    if let Some(fire) = decided {
        let why = fire.skipped.as_ref().map_or_else(String::new, |unmet| unmet.reason().to_string());
        let state = if fire.skipped.is_some() { GraphState::Skipped } else { GraphState::Due };
        return Some(GraphFire { at: fire.at, state, why });
    }
    let at = ran?;
    let states = || begun().filter(|begun| begun.at == at).map(|begun| begun.state);
    let state = if states().any(|state| state == FireState::Running) {
        GraphState::Running
    } else if states().all(|state| state == FireState::Succeeded) {
        GraphState::Succeeded
    } else {
        GraphState::Failed
    };
    Some(GraphFire { at, state, why: String::new() })
}

/// The cycles in a graph, each once.
fn cycles(jobs: &[GraphJob]) -> Vec<Vec<JobName>> {
    let parents: BTreeMap<&JobName, Vec<&JobName>> =
        jobs.iter().map(|one| (&one.job, one.depends_on.iter().map(|edge| &edge.job).collect())).collect();
    let mut found: Vec<Vec<JobName>> = Vec::new();
    for job in parents.keys() {
        let is_known = found.iter().any(|cycle| cycle.contains(job));
        if let Some(cycle) = path_back(job, &parents).filter(|_| !is_known) {
            found.push(cycle);
        }
    }
    found
}

/// The way from a job over those before it back to itself.
fn path_back(job: &JobName, parents: &BTreeMap<&JobName, Vec<&JobName>>) -> Option<Vec<JobName>> {
    let (mut ways, mut seen) = (vec![vec![job]], BTreeSet::new());
    while let Some(way) = ways.pop() {
        let last = way.last()?;
        for parent in parents.get(last).into_iter().flatten() {
            let mut longer = way.clone();
            longer.push(parent);
            if *parent == job {
                return Some(longer.into_iter().cloned().collect());
            }
            if seen.insert(*parent) {
                ways.push(longer);
            }
        }
    }
    None
}

/// The cycle that a configuration would close with those in the registry center, as a problem of its setting. It reads only
/// the jobs that come before it.
///
/// # Errors
/// The registry center gave no answer.
pub(crate) async fn closed_cycle(
    registry: &dyn RegistryCenter,
    configuration: &JobConfiguration,
) -> Result<Option<Invalid>, OperationError> {
    let of = |configuration: &JobConfiguration| -> Vec<JobName> {
        configuration.depends_on().iter().map(|dependency| dependency.job.clone()).collect()
    };
    let mut before: BTreeMap<JobName, Vec<JobName>> = [(configuration.job_name().clone(), of(configuration))].into();
    let mut next = of(configuration);
    while let Some(job) = next.pop() {
        if before.contains_key(&job) {
            continue;
        }
        let node = registry.get(&JobPath::Config.absolute(&job)).await?;
        let read = node.and_then(|node| wire::from_yaml(&job, &node.data).ok());
        let parents = read.as_ref().map(of).unwrap_or_default();
        next.extend(parents.iter().cloned());
        before.insert(job, parents);
    }
    let parents = before.iter().map(|(job, parents)| (job, parents.iter().collect())).collect();
    Ok(path_back(configuration.job_name(), &parents).map(|cycle| {
        let names: Vec<&str> = cycle.iter().map(JobName::as_str).collect();
        let reason =
            format!("these jobs would wait for each other for ever: {}; take one of them out", names.join(" -> "));
        Invalid::new("depends-on", reason)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(job: &str) -> JobName {
        JobName::new(job).unwrap()
    }

    fn graph(jobs: &[(&str, &[&str])]) -> Vec<GraphJob> {
        let edge = |job: &&str| GraphEdge { job: name(job), when: When::Succeeded };
        let job = |(job, parents): &(&str, &[&str])| GraphJob {
            job: name(job),
            exists: true,
            cron: None,
            depends_on: parents.iter().map(edge).collect(),
            latest: None,
        };
        jobs.iter().map(job).collect()
    }

    #[test]
    fn a_cycle_is_found_once_and_named_from_job_to_job() {
        let jobs = graph(&[("a", &["c"]), ("b", &["a", "x"]), ("c", &["b"]), ("d", &["a"]), ("x", &[])]);
        let found = cycles(&jobs);
        assert_eq!(found, [[name("a"), name("c"), name("b"), name("a")]]);
        assert_eq!(cycles(&graph(&[("a", &[]), ("b", &["a"]), ("c", &["a", "b"])])), Vec::<Vec<JobName>>::new());
    }

    #[test]
    fn what_a_job_is_connected_with_goes_both_ways() {
        let edges = [("b", "a"), ("c", "b"), ("e", "d")].map(|(child, parent)| (name(child), name(parent)));
        assert_eq!(connected(&name("b"), &edges), ["a", "b", "c"].map(name).into());
        assert_eq!(connected(&name("z"), &edges), [name("z")].into());
    }
}
