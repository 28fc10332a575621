//! The nodes of a job below its root, as paths. The release knows the layout that the library took from it, and a few
//! nodes more, which are here.

use crate::ident::ShardingItem;
use crate::registry::layout::{ItemNode, JobPath};

pub(super) use crate::registry::layout::name::{CONFIG, INSTANCES, SERVERS, SHARDING, TRIGGER};

/// Its time tells the time of the server.
pub(super) const CURRENT_TIME: &str = "systemTime/current";

/// The latch under which items are taken over.
pub(super) fn failover_latch() -> String {
    format!("{}/latch", JobPath::LeaderFailover)
}

pub(super) fn leader() -> String {
    JobPath::LeaderInstance.to_string()
}

pub(super) fn necessary() -> String {
    JobPath::Necessary.to_string()
}

/// The items that have to be taken over.
pub(super) fn queue() -> String {
    JobPath::FailoverItems.to_string()
}

pub(super) fn queued(item: ShardingItem) -> String {
    JobPath::FailoverItem(item).to_string()
}

pub(super) fn of_item(item: ShardingItem, node: ItemNode) -> String {
    JobPath::Item(item, node).to_string()
}

pub(super) fn running(item: ShardingItem) -> String {
    of_item(item, ItemNode::Running)
}

pub(super) fn server(ip: &str) -> String {
    JobPath::Server(ip.into()).to_string()
}
