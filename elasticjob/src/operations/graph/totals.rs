//! Jobs whose items follow each other item by item have as many items.

use crate::config::{DependencyItems, Invalid, JobConfiguration, wire};
use crate::ident::JobName;
use crate::operations::OperationError;
use crate::registry::RegistryCenter;
use crate::registry::layout::JobPath;

/// The jobs that the items of this one follow item by item and that have another number of items by the registry center, with
/// that number. A job that is not there is waited for.
///
/// # Errors
/// The registry center gave no answer.
pub(crate) async fn other_totals(
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
