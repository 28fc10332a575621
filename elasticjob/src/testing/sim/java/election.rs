//! Elects the leader as Java does: it is the instance that an ephemeral node names. The node is made under a latch, and read
//! from the cache.

use super::jvm::Jvm;
use super::nodes::leader;
use crate::registry::layout::JobPath;

impl Jvm {
    pub(super) async fn elect_leader(&self) {
        self.in_latch(&JobPath::Latch.to_string(), async {
            if !self.is_existed(&leader()).await {
                self.persist_ephemeral(&leader(), self.id.as_str()).await;
            }
        })
        .await;
    }

    pub(super) async fn has_leader(&self) -> bool {
        self.is_existed(&leader()).await
    }

    /// By the cache: right after a change it may be wrong.
    pub(super) async fn is_leader(&self) -> bool {
        self.get(&leader()).await.as_deref() == Some(self.id.as_str())
    }

    pub(super) async fn is_leader_until_block(&self) -> bool {
        while !self.has_leader().await && self.has_available_server().await {
            self.sleep(100).await;
            if self.is_available_server(self.id.server_ip()).await {
                self.elect_leader().await;
            }
        }
        self.is_leader().await
    }

    pub(super) async fn remove_leader(&self) {
        self.remove_if_existed(&leader()).await;
    }
}
