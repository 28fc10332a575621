//! The checks of a configuration against those of the jobs that it depends on: jobs that would wait for each other for
//! ever, and jobs that follow each other item by item with unequal numbers of items.

use std::collections::{BTreeMap, BTreeSet};

use super::OperationError;
use crate::config::{DependencyItems, Invalid, JobConfiguration, wire};
use crate::ident::JobName;
use crate::registry::RegistryCenter;
use crate::registry::layout::JobPath;

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

/// The jobs that the items of this one follow item by item and that have another number of items by the registry center, with
/// that number. A job that is not there is waited for.
///
/// # Errors
/// The registry center gave no answer.
pub(super) async fn other_totals(
    registry: &dyn RegistryCenter,
    configuration: &JobConfiguration,
) -> Result<Vec<(JobName, u32)>, OperationError> {
    let mut others = Vec::new();
    for dependency in configuration.depends_on().iter().filter(|one| one.items == DependencyItems::Same) {
        let node = registry.get(&JobPath::Config.absolute(&dependency.job)).await?;
        let read = node.and_then(|node| wire::from_yaml(&dependency.job, &node.data).ok());
        let total = read.map(|read| read.sharding_total_count());
        let other = total.filter(|total| *total != configuration.sharding_total_count());
        others.extend(other.map(|total| (dependency.job.clone(), total)));
    }
    Ok(others)
}

/// The same as a problem of the setting.
///
/// # Errors
/// The registry center gave no answer.
pub(crate) async fn unequal_totals(
    registry: &dyn RegistryCenter,
    configuration: &JobConfiguration,
) -> Result<Option<Invalid>, OperationError> {
    let own = configuration.sharding_total_count();
    Ok(other_totals(registry, configuration).await?.first().map(|(job, total)| {
        let reason = format!(
            "`items same` needs as many items as job '{job}' has: that has {total} and this one {own}; change \
             sharding-total-count of '{job}' first"
        );
        Invalid::new("depends-on", reason)
    }))
}
