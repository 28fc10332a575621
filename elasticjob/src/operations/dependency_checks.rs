//! The checks of a configuration against those of the jobs that it depends on: jobs that would wait for each other for
//! ever, and jobs that follow each other item by item with unequal numbers of items.

use std::collections::{BTreeMap, BTreeSet};

use super::{OperationError, Operations};
use crate::config::{DependencyItems, Invalid, JobConfiguration, wire};
use crate::ident::JobName;
use crate::registry::RegistryCenter;
use crate::registry::layout::JobPath;
use crate::texts;

/// The configurations of other jobs.
#[derive(Clone, Copy)]
pub(crate) struct OtherJobs<'a> {
    registry: &'a dyn RegistryCenter,
    /// Those that jobs will have when they start next, in place of those in the registry center.
    to_come: Option<&'a BTreeMap<JobName, JobConfiguration>>,
}

impl<'a> OtherJobs<'a> {
    /// As the registry center has them.
    pub(crate) fn of(registry: &'a dyn RegistryCenter) -> Self {
        Self { registry, to_come: None }
    }

    /// The configuration of a job; `None` where there is none, or none that can be read.
    async fn configuration(&self, job: &JobName) -> Result<Option<JobConfiguration>, OperationError> {
        if let Some(configuration) = self.to_come.and_then(|to_come| to_come.get(job)) {
            return Ok(Some(configuration.clone()));
        }
        let node = self.registry.get(&JobPath::Config.absolute(job)).await?;
        Ok(node.and_then(|node| wire::from_yaml(job, &node.data).ok()))
    }
}

impl Operations {
    /// The problems that keep a configuration from running after the jobs that it [names](JobConfiguration::depends_on), for a program that
    /// writes configurations itself: a cycle, and another number of items than a job has that it follows item by item. A job that
    /// nobody knows is waited for, and no problem. `to_come` has the configurations that jobs will have when they start next: they
    /// count in place of those in the registry center. [`update_configuration`](Self::update_configuration) and the start of a job
    /// check the same.
    ///
    /// # Errors
    /// The registry center gave no answer.
    pub async fn dependency_problems(
        &self,
        configuration: &JobConfiguration,
        to_come: &BTreeMap<JobName, JobConfiguration>,
    ) -> Result<Vec<Invalid>, OperationError> {
        let others = OtherJobs { registry: &*self.registry, to_come: Some(to_come) };
        let cycle = closed_cycle(others, configuration).await?;
        Ok(cycle.into_iter().chain(unequal_totals(others, configuration).await?).collect())
    }
}

/// The cycle that a configuration would close with those of other jobs, as a problem of its setting. It reads only
/// the jobs that come before it.
///
/// # Errors
/// The registry center gave no answer.
pub(crate) async fn closed_cycle(
    others: OtherJobs<'_>,
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
        let parents = others.configuration(&job).await?.as_ref().map(of).unwrap_or_default();
        next.extend(parents.iter().cloned());
        before.insert(job, parents);
    }
    let parents = before.iter().map(|(job, parents)| (job, parents.iter().collect())).collect();
    Ok(path_back(configuration.job_name(), &parents).map(|cycle| {
        let names: Vec<&str> = cycle.iter().map(JobName::as_str).collect();
        Invalid::new("depends-on", texts::depends_cycle(names.join(" -> ")))
    }))
}

/// The way from a job over those before it back to itself.
pub(super) fn path_back(job: &JobName, parents: &BTreeMap<&JobName, Vec<&JobName>>) -> Option<Vec<JobName>> {
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

/// The jobs that the items of this one follow item by item and that have another number of items, with that number. A job that
/// is not there is waited for.
///
/// # Errors
/// The registry center gave no answer.
pub(super) async fn other_totals(
    others: OtherJobs<'_>,
    configuration: &JobConfiguration,
) -> Result<Vec<(JobName, u32)>, OperationError> {
    let mut unequal = Vec::new();
    for dependency in configuration.depends_on().iter().filter(|one| one.items == DependencyItems::Same) {
        let total = others.configuration(&dependency.job).await?.map(|other| other.sharding_total_count());
        let other = total.filter(|total| *total != configuration.sharding_total_count());
        unequal.extend(other.map(|total| (dependency.job.clone(), total)));
    }
    Ok(unequal)
}

/// The same as a problem of the setting.
///
/// # Errors
/// The registry center gave no answer.
pub(crate) async fn unequal_totals(
    others: OtherJobs<'_>,
    configuration: &JobConfiguration,
) -> Result<Option<Invalid>, OperationError> {
    let own = configuration.sharding_total_count();
    Ok(other_totals(others, configuration)
        .await?
        .first()
        .map(|(job, total)| Invalid::new("depends-on", texts::depends_unequal(job.as_str(), *total, own))))
}
