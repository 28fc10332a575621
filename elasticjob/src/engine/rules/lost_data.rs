//! The registry center has lost its data: an instance that comes back registers the job again, with the configuration.
//!
//! Only an instance in a new session does that. When a server loses its data, it loses the sessions, too; so does an instance
//! whose session ends while an operator removes the job, and that is one that starts again. In a session that goes on
//! an operator deleted the node of the instance on purpose: it leaves, and the job stays removed.

use crate::config::wire;
use crate::engine::engine::JobEngine;
use crate::engine::planted::Bug;
use crate::engine::txn::JobTransaction;
use crate::registry::layout::JobPath;
use crate::registry::mirror::Unread;
use crate::registry::{CreateMode, Data};

/// The configuration that the registry center has no more, as it stood there last; the one of the program where this instance
/// could not use that one. `None` where the registry center has one.
pub(super) fn lost_configuration(engine: &JobEngine) -> Result<Option<Data>, Unread> {
    if engine.mirror.need(&JobPath::Config)?.is_some() || engine.planted.has(Bug::KeptLoss) {
        return Ok(None);
    }
    let configuration = &engine.configuration;
    let last = configuration.data.clone().filter(|_| configuration.refused.is_none());
    Ok(Some(last.unwrap_or_else(|| wire::to_yaml(&configuration.local.for_registry(None)).into())))
}

/// Writes the configuration again, and the class of the job where its node is gone, too.
pub(super) fn restore(engine: &JobEngine, lost: Data, txn: &mut JobTransaction<'_>) {
    let class = engine.configuration.local.class_name().unwrap_or_default();
    txn.create_missing(&JobPath::Root, class, CreateMode::Persistent);
    txn.create(&JobPath::Config, lost, CreateMode::Persistent);
}
