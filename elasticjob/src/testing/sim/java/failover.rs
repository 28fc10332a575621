//! Failover: what a crash left is queued by survivors and taken under a latch, in separate steps.

use super::jvm::Jvm;
use super::nodes::{SHARDING, failover_latch, of_item, queue, queued, running, server};
use super::quartz::Request;
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::layout::{ItemNode, ServerStatus};

fn taker(item: ShardingItem) -> String {
    of_item(item, ItemNode::Failover)
}

fn taking(item: ShardingItem) -> String {
    of_item(item, ItemNode::Failovering)
}

impl Jvm {
    /// The items there are, in ascending order.
    async fn existing_items(&self) -> Vec<ShardingItem> {
        let mut items: Vec<ShardingItem> =
            self.children(SHARDING).await.iter().filter_map(|name| name.parse().ok()).collect();
        items.sort_unstable();
        items
    }

    /// Items this instance has taken over.
    pub(super) async fn local_failover_items(&self) -> Vec<ShardingItem> {
        let mut items = Vec::new();
        for item in self.existing_items().await {
            if self.get_directly(&taker(item)).await.as_deref() == Some(self.id.as_str()) {
                items.push(item);
            }
        }
        items
    }

    /// Another instance is gone: what it had taken over is queued again, and only if there is none of that, its own.
    pub(super) async fn on_crash(&self, crashed: &InstanceId) -> Option<()> {
        let mut taken = Vec::new();
        for item in self.existing_items().await {
            if self.get_directly(&taking(item)).await.as_deref() == Some(crashed.as_str()) {
                taken.push(item);
            }
        }
        if !taken.is_empty() {
            for item in taken {
                self.create_if_needed(&queued(item)).await;
                self.remove_if_existed(&running(item)).await;
                self.failover_if_necessary().await;
            }
            return Some(());
        }
        let server = self.get(&server(crashed.server_ip())).await;
        if ServerStatus::of(server.as_deref()) == ServerStatus::Disabled {
            return Some(());
        }
        for item in self.items_of(crashed.as_str()).await? {
            if self.is_existed(&running(item)).await {
                self.queue(item).await;
                self.failover_if_necessary().await;
            }
        }
        Some(())
    }

    async fn queue(&self, item: ShardingItem) {
        if !self.is_existed(&taker(item)).await {
            self.create_if_needed(&queued(item)).await;
            self.remove_if_existed(&running(item)).await;
        }
    }

    /// After a total crash the only instance that is back queues what the dead were running.
    pub(super) async fn recover_alone(&self) {
        let available = self.available_instances().await;
        if available != [self.id.clone()] {
            return;
        }
        let is_dead = |data: Option<String>| data.is_some_and(|id| available.iter().all(|other| other.as_str() != id));
        for item in self.existing_items().await {
            if is_dead(self.get_directly(&taking(item)).await) {
                self.create_if_needed(&queued(item)).await;
                self.remove_if_existed(&taking(item)).await;
                self.remove_if_existed(&running(item)).await;
            } else if is_dead(self.get_directly(&running(item)).await) {
                self.queue(item).await;
            }
        }
        self.failover_if_necessary().await;
    }

    /// Takes one queued item, unless the job runs in this process. Nobody asks whether the own server is enabled.
    pub(super) async fn failover_if_necessary(&self) {
        if !self.may_take_over().await {
            return;
        }
        self.in_latch(&failover_latch(), async {
            if !self.may_take_over().await {
                return;
            }
            let Some(item) = self.children(&queue()).await.first().and_then(|name| name.parse().ok()) else { return };
            self.log(format!("Java takes item {item} over"));
            self.persist_ephemeral(&taker(item), self.id.as_str()).await;
            self.persist(&taking(item), self.id.as_str()).await;
            self.remove_if_existed(&queued(item)).await;
            self.run_once(Request::Failover);
        })
        .await;
    }

    async fn may_take_over(&self) -> bool {
        self.is_existed(&queue()).await && !self.children(&queue()).await.is_empty() && !self.job_running.get()
    }

    pub(super) async fn failover_completed(&self, items: &[ShardingItem]) {
        for item in items {
            self.remove_if_existed(&taker(*item)).await;
            self.remove_if_existed(&taking(*item)).await;
        }
    }

    /// Failover was turned off: the queue, `failovering` and persistent marks stay.
    pub(super) async fn drop_takers(&self) {
        for item in self.existing_items().await {
            self.remove_if_existed(&taker(item)).await;
        }
    }
}
