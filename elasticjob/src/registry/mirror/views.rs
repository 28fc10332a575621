//! Shows which instances, servers, items, sessions, triggers and candidates exist.

use super::Mirror;
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::SessionId;
use crate::registry::layout::{ItemNode, JobPath};

impl Mirror {
    /// The live instances, in ascending order.
    pub fn instances(&self) -> impl Iterator<Item = &InstanceId> {
        self.nodes.after(&JobPath::Instances).map_while(|path| match path {
            JobPath::Instance(id) => Some(id),
            _ => None,
        })
    }

    /// Addresses of the servers that exist, in ascending order.
    pub fn servers(&self) -> impl Iterator<Item = &str> {
        self.nodes.after(&JobPath::Servers).map_while(|path| match path {
            JobPath::Server(ip) => Some(ip.as_ref()),
            _ => None,
        })
    }

    /// Numbers of the items that exist, in ascending order.
    pub fn items(&self) -> impl Iterator<Item = ShardingItem> {
        self.nodes.items_with(ItemNode::Dir)
    }

    /// The items that run somewhere, in ascending order.
    pub fn running_items(&self) -> impl Iterator<Item = ShardingItem> {
        self.nodes.items_with(ItemNode::Running)
    }

    /// Whether an operator disabled an item.
    pub fn is_item_disabled(&self, item: ShardingItem) -> bool {
        self.exists(&JobPath::Item(item, ItemNode::Disabled))
    }

    /// The items that have a missed fire to be made up for, in ascending order.
    pub fn misfired_items(&self) -> impl Iterator<Item = ShardingItem> {
        self.nodes.items_with(ItemNode::Misfire)
    }

    /// The items that an instance took over, in ascending order.
    pub fn taken_over_items(&self) -> impl Iterator<Item = ShardingItem> {
        self.nodes.items_with(ItemNode::Failovering)
    }

    /// The items that an instance holds as it takes them over, in ascending order.
    pub fn held_items(&self) -> impl Iterator<Item = ShardingItem> {
        self.nodes.items_with(ItemNode::Failover)
    }

    /// The items that wait to be taken over, in ascending order.
    pub fn failover_items(&self) -> impl Iterator<Item = ShardingItem> {
        self.nodes.after(&JobPath::FailoverItems).map_while(|path| match path {
            JobPath::FailoverItem(item) => Some(*item),
            _ => None,
        })
    }

    /// The sessions that show that they live, in ascending order.
    pub fn sessions(&self) -> impl Iterator<Item = SessionId> {
        self.nodes.after(&JobPath::Sessions).map_while(|path| match path {
            JobPath::Session(id) => Some(*id),
            _ => None,
        })
    }

    /// The nodes of an item, deepest first, the item's own node last.
    pub fn item_tree(&self, item: ShardingItem) -> Vec<JobPath> {
        self.nodes.of_item(item).rev().map(|node| JobPath::Item(item, node.clone())).collect()
    }

    /// The instances that a trigger waits for.
    pub fn triggers(&self) -> impl Iterator<Item = &InstanceId> {
        self.nodes.after(&JobPath::Triggers).map_while(|path| match path {
            JobPath::Trigger(id) => Some(id),
            _ => None,
        })
    }

    /// Names of the candidates for leadership.
    pub fn candidates(&self) -> impl Iterator<Item = &str> {
        self.nodes.after(&JobPath::Latch).map_while(|path| match path {
            JobPath::Candidate(name) => Some(name.as_ref()),
            _ => None,
        })
    }
}
