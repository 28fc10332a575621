//! Jobs that would wait for each other for ever.

use std::collections::{BTreeMap, BTreeSet};

use super::GraphJob;
use crate::config::{Invalid, JobConfiguration, wire};
use crate::ident::JobName;
use crate::operations::OperationError;
use crate::registry::RegistryCenter;
use crate::registry::layout::JobPath;

/// The cycles in a graph, each once.
pub(super) fn cycles(jobs: &[GraphJob]) -> Vec<Vec<JobName>> {
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
    use crate::config::{DependencyItems, When};
    use crate::operations::GraphEdge;

    fn name(job: &str) -> JobName {
        JobName::new(job).unwrap()
    }

    fn graph(jobs: &[(&str, &[&str])]) -> Vec<GraphJob> {
        let edge = |job: &&str| GraphEdge { job: name(job), when: When::Succeeded, items: DependencyItems::All };
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
}
