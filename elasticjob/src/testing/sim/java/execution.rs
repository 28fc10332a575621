//! A trigger until its run is over.

use super::jvm::{Jvm, Wish};
use super::nodes::{CURRENT_TIME, of_item, running};
use crate::fire::{ExecutionSource, Fire};
use crate::ident::ShardingItem;
use crate::registry::layout::ItemNode;

impl Jvm {
    /// Everything from the trigger to the end of its runs. `None` where the release throws.
    pub(super) async fn execute(&self, fire: Fire) -> Option<()> {
        if self.configuration().await?.checks_clock {
            // It compares the time of this node with its own, tells what is wrong, and goes on.
            self.persist(CURRENT_TIME, "").await;
        }
        let (source, items) = self.items_to_run(fire).await?;
        if self.has_running_items(Some(&items)).await? {
            self.set_misfire(&items).await;
            self.left_out(fire, &items, "it runs elsewhere, and is marked as misfired");
            return Some(());
        }
        self.run(fire, source, &items).await?;
        while self.is_misfired(&items).await? {
            self.clear_misfire(&items).await;
            self.run(Fire::manual(0, self.wall(), None), ExecutionSource::Misfire, &items).await?;
        }
        if self.configuration().await?.failover {
            self.failover_if_necessary().await;
        }
        Some(())
    }

    async fn items_to_run(&self, fire: Fire) -> Option<(ExecutionSource, Vec<ShardingItem>)> {
        let failover = self.configuration().await?.failover;
        if failover {
            let taken = self.local_failover_items().await;
            if !taken.is_empty() {
                return Some((ExecutionSource::Failover, taken));
            }
        }
        self.reshard_if_necessary().await?;
        let mut items = self.local_items().await?;
        self.own_items.replace(items.clone());
        if failover {
            items = self.without(items, |item| of_item(item, ItemNode::Failover), fire, "it is taken over").await;
        }
        items = self.without(items, |item| of_item(item, ItemNode::Disabled), fire, "it is disabled").await;
        if self.configuration_directly().await?.monitored {
            items = self.without(items, running, fire, "it runs elsewhere").await;
        }
        Some((ExecutionSource::NormalTrigger, items))
    }

    /// The items that have no such node.
    async fn without(
        &self,
        items: Vec<ShardingItem>,
        node: impl Fn(ShardingItem) -> String,
        fire: Fire,
        why: &'static str,
    ) -> Vec<ShardingItem> {
        let mut left = Vec::new();
        for item in items {
            if self.is_existed(&node(item)).await {
                self.left_out(fire, &[item], why);
            } else {
                left.push(item);
            }
        }
        left
    }

    fn left_out(&self, fire: Fire, items: &[ShardingItem], why: &'static str) {
        if let Fire::Scheduled(at) = fire {
            self.wish(Wish::LeftOut { fires: vec![at], items: items.to_vec(), why });
        }
    }

    /// One round: marks, runs, marks taken away. Runs go on whatever happens to the connection.
    async fn run(&self, fire: Fire, source: ExecutionSource, items: &[ShardingItem]) -> Option<()> {
        if items.is_empty() {
            return Some(());
        }
        let marked = self.mark_running(items).await?;
        self.executing.borrow_mut().extend(items);
        self.wish(Wish::Start { fire, source, items: items.to_vec() });
        self.wait(None, || self.executing.borrow().is_empty()).await;
        let unmarked = self.unmark_running(items).await;
        if marked && unmarked != Some(true) {
            self.stuck.set(true);
        }
        unmarked?;
        if self.configuration().await?.failover {
            self.failover_completed(items).await;
        }
        Some(())
    }

    async fn is_misfired(&self, items: &[ShardingItem]) -> Option<bool> {
        let wanted = self.configuration().await?.misfire;
        Some(wanted && !self.is_resharding_asked_for().await && self.has_misfired(items).await)
    }
}
