//! Resharding, step by step: instances are listed before the wait, owners are deleted before the transaction, and the
//! request is deleted also where another instance asked meanwhile.

use super::jvm::Jvm;
use super::nodes::{INSTANCES, SHARDING, necessary, of_item};
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::{CreateMode, Transaction};
use crate::sharding::{AVG_ALLOCATION, ShardingStrategies};

impl Jvm {
    pub(super) async fn is_resharding_asked_for(&self) -> bool {
        self.is_existed(&necessary()).await
    }

    /// Asks for resharding, where this instance leads.
    pub(super) async fn ask_for_resharding(&self) {
        if self.is_leader_until_block().await {
            self.create_if_needed(&necessary()).await;
        }
    }

    /// Reshards where that was asked for, or waits until the leader has, without limit.
    pub(super) async fn reshard_if_necessary(&self) -> Option<()> {
        let instances = self.available_instances().await;
        if !self.is_resharding_asked_for().await || instances.is_empty() {
            return Some(());
        }
        if !self.is_leader_until_block().await {
            while !self.is_leader_until_block().await
                && (self.is_existed(&necessary()).await || self.is_existed(&processing()).await)
            {
                self.sleep(100).await;
            }
            return Some(());
        }
        while self.has_running_items(None).await? {
            self.sleep(100).await;
        }
        let configuration = self.configuration_directly().await?;
        let total = configuration.total;
        self.persist_ephemeral(&processing(), "").await;
        self.reset(total).await;
        let strategies = ShardingStrategies::built_in();
        let strategy = strategies.get(&configuration.strategy).or_else(|_| strategies.get(AVG_ALLOCATION)).ok()?;
        let mut transaction = Transaction::new();
        for (id, items) in strategy.assign(&self.job, &instances, total) {
            for item in items {
                transaction.create(self.path(&owner_of(item)), id.as_str(), CreateMode::Persistent);
            }
        }
        transaction.delete(self.path(&necessary()), None);
        transaction.delete(self.path(&processing()), None);
        if let Err(refusal) = self.commit(transaction).await {
            self.log(format!("the resharding failed, and nobody hears of it: {refusal}"));
        }
        Some(())
    }

    /// Deletes all owners, and the items beyond the total count, by how many there are.
    async fn reset(&self, total: u32) {
        for item in 0..total {
            self.remove_if_existed(&owner_of(item)).await;
            self.create_if_needed(&of_item(item, ItemNode::Dir)).await;
        }
        let count = self.children(SHARDING).await.len() as u32;
        for item in total..count {
            self.remove_if_existed(&of_item(item, ItemNode::Dir)).await;
        }
    }

    /// Items of an instance by the cache. `None` where the release throws.
    pub(super) async fn items_of(&self, id: &str) -> Option<Vec<ShardingItem>> {
        let mut items = Vec::new();
        for item in 0..self.configuration().await?.total {
            if self.get(&owner_of(item)).await.as_deref() == Some(id) {
                items.push(item);
            }
        }
        Some(items)
    }

    /// Items of this instance, none while its server is disabled.
    pub(super) async fn local_items(&self) -> Option<Vec<ShardingItem>> {
        if !self.is_available_server(self.id.server_ip()).await {
            return Some(Vec::new());
        }
        self.items_of(self.id.as_str()).await
    }

    /// Whether an item belongs to an instance that is not there.
    pub(super) async fn has_items_of_offline_instances(&self) -> Option<bool> {
        let online = self.children(INSTANCES).await;
        for item in 0..self.configuration().await?.total {
            let owner = self.get(&owner_of(item)).await;
            if owner.is_none_or(|owner| !online.contains(&owner)) {
                return Some(true);
            }
        }
        Some(false)
    }

    pub(super) async fn is_sharded(&self) -> bool {
        !self.children(SHARDING).await.is_empty()
    }
}

fn processing() -> String {
    JobPath::Processing.to_string()
}

fn owner_of(item: ShardingItem) -> String {
    of_item(item, ItemNode::Instance)
}

/// The instance a node `instances/{id}` is of.
pub(super) fn instance_of(node: &str) -> Option<InstanceId> {
    node.strip_prefix(INSTANCES)?.strip_prefix('/')?.parse().ok()
}
