//! Notes each version of each configuration as the watch of a registry center tells of it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use elasticjob::ident::JobName;
use elasticjob::operations::OperationError;
use tokio_util::sync::CancellationToken;

use super::{Version, Versions};
use crate::registries::Registry;

/// The least time between two looks: of several changes in between, the last one is noted.
const BETWEEN: Duration = Duration::from_secs(1);

/// Follows a registry center until the end. A configuration is read again only after something below its job changed, and
/// mostly it is known then: the nodes of the configuration are asked for once after they changed.
pub(crate) async fn follow(registry: Arc<Registry>, versions: Arc<Versions>, end: CancellationToken) {
    let mut changes = registry.catalogue().changes();
    let mut known = HashMap::new();
    loop {
        // Before the look: what comes while it lasts leads to the next one.
        changes.borrow_and_update();
        look(&registry, &versions, &mut known).await;
        let next = async {
            let is_open = changes.changed().await.is_ok();
            tokio::time::sleep(BETWEEN).await;
            is_open
        };
        tokio::select! {
            is_open = next => if !is_open { return },
            () = end.cancelled() => return,
        }
    }
}

/// Notes what is new. `known` has for each job the last event that was looked at.
async fn look(registry: &Registry, versions: &Versions, known: &mut HashMap<JobName, u64>) {
    // While the registry center is lost nothing new is known.
    let Ok(jobs) = registry.views().job_names().await else { return };
    let events = registry.last_events(&jobs);
    known.retain(|job, _| jobs.binary_search(job).is_ok());
    for (job, event) in jobs.into_iter().zip(events) {
        if known.get(&job) == Some(&event) {
            continue;
        }
        let noted = match registry.views().configuration(&job).await {
            Ok(stored) => versions.add(registry.name(), &job, Version::of(&stored)).await.is_ok(),
            // A job that is being made or removed, or data that cannot be read: the next event says more.
            Err(OperationError::NoSuchJob { .. } | OperationError::NoConfiguration { .. }) => true,
            Err(OperationError::Unreadable { .. }) => true,
            Err(_) => false,
        };
        if noted {
            known.insert(job, event);
        }
    }
}
