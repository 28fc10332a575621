//! Jobs that wait for each other for ever.

use std::collections::BTreeMap;

use super::GraphJob;
use crate::ident::JobName;
use crate::operations::dependency_checks::path_back;

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
