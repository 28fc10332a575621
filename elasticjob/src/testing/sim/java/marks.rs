//! The marks of running and misfired items: looked at, then written, then deleted, without regard to whose they are.

use super::jvm::Jvm;
use super::nodes::{of_item, running};
use crate::ident::ShardingItem;
use crate::registry::layout::ItemNode;

fn misfire(item: ShardingItem) -> String {
    of_item(item, ItemNode::Misfire)
}

impl Jvm {
    /// Whether one of the items runs anywhere, of all items where none are given. `None` where the release throws.
    pub(super) async fn has_running_items(&self, items: Option<&[ShardingItem]>) -> Option<bool> {
        let configuration = self.configuration().await?;
        if !configuration.monitored {
            return Some(false);
        }
        let all: Vec<ShardingItem> = (0..configuration.total).collect();
        for item in items.unwrap_or(&all) {
            if self.is_existed(&running(*item)).await {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Whether marks were written.
    pub(super) async fn mark_running(&self, items: &[ShardingItem]) -> Option<bool> {
        self.job_running.set(true);
        let configuration = self.configuration().await?;
        if configuration.monitored {
            for item in items {
                if configuration.failover {
                    self.persist(&running(*item), self.id.as_str()).await;
                } else {
                    self.persist_ephemeral(&running(*item), self.id.as_str()).await;
                }
            }
        }
        Some(configuration.monitored)
    }

    /// Whether marks were taken away.
    pub(super) async fn unmark_running(&self, items: &[ShardingItem]) -> Option<bool> {
        self.job_running.set(false);
        let monitored = self.configuration().await?.monitored;
        if monitored {
            for item in items {
                self.remove_if_existed(&running(*item)).await;
            }
        }
        Some(monitored)
    }

    /// Deletes marks on a reconnect, and when execution is no longer monitored.
    pub(super) async fn clear_running(&self, items: &[ShardingItem]) {
        for item in items {
            self.remove_if_existed(&running(*item)).await;
        }
    }

    pub(super) async fn set_misfire(&self, items: &[ShardingItem]) {
        for item in items {
            self.create_if_needed(&misfire(*item)).await;
        }
    }

    pub(super) async fn has_misfired(&self, items: &[ShardingItem]) -> bool {
        for item in items {
            if self.is_existed(&misfire(*item)).await {
                return true;
            }
        }
        false
    }

    pub(super) async fn clear_misfire(&self, items: &[ShardingItem]) {
        for item in items {
            self.remove_if_existed(&misfire(*item)).await;
        }
    }
}
