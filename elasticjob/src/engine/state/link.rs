//! The requests of an engine to the registry: the write in flight, and what is in its way.

use crate::clock::Now;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::foreign_nodes::ForeignNodes;
use super::proposal::Purpose;
use crate::ident::ShardingItem;
use crate::registry::layout::JobPath;
use crate::registry::{SessionId, Transaction};

/// The link of an engine to the registry, beside its session and its mirror.
#[derive(Debug, Default)]
pub(in crate::engine) struct Link {
    /// Boxed, as most of the time there is none.
    pub(in crate::engine) write: Option<Box<Write>>,
    pub(in crate::engine) retry: Retry,
    /// For the status: why the registry center did not do what was asked.
    pub(in crate::engine) trouble: Option<Arc<str>>,
    /// The nodes below a node that could not be deleted. Boxed, as most of the time there is nothing.
    pub(in crate::engine) foreign: Option<Box<ForeignNodes>>,
    /// Nodes that stay because the nodes below them cannot be deleted.
    pub(in crate::engine) obstructed: BTreeSet<JobPath>,
}

impl Link {
    /// Whether nodes that no instance makes keep this one from being deleted.
    pub(in crate::engine) fn is_obstructed(&self, path: &JobPath) -> bool {
        self.obstructed.contains(path)
    }

    /// Whether they keep a node of this item from being deleted.
    pub(in crate::engine) fn is_item_obstructed(&self, item: ShardingItem) -> bool {
        self.obstructed.iter().any(|path| matches!(path, JobPath::Item(of, _) if *of == item))
    }
}

/// The transaction in flight.
#[derive(Debug)]
pub(in crate::engine) struct Write {
    pub(in crate::engine) transaction: Transaction,
    pub(in crate::engine) purpose: Purpose,
    /// The session it was sent in.
    pub(in crate::engine) session: SessionId,
    /// When it was sent, by both clocks.
    pub(in crate::engine) sent: Now,
}

/// Waiting before the registry is asked again.
#[derive(Debug, Default)]
pub(in crate::engine) struct Retry {
    /// Requests that were not answered, since the last transaction that went through.
    pub(in crate::engine) failures: u32,
    /// Transactions that were refused, since the last one that went through.
    pub(in crate::engine) refusals: u32,
    pub(in crate::engine) not_before: Option<Duration>,
}
