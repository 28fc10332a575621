//! Lists the servers and instances that are there, as Java sees them.

use super::jvm::Jvm;
use super::nodes::{INSTANCES, SERVERS, server};
use crate::ident::InstanceId;
use crate::registry::layout::{JobPath, ServerStatus};

impl Jvm {
    pub(super) fn own_server(&self) -> String {
        server(self.id.server_ip())
    }

    pub(super) fn own_instance(&self) -> String {
        JobPath::Instance(self.id.clone()).to_string()
    }

    pub(super) async fn is_enabled(&self, ip: &str) -> bool {
        let node = server(ip);
        for _ in 0..10 {
            let Some(text) = self.get(&node).await else {
                self.sleep(100).await;
                continue;
            };
            let status = ServerStatus::written(Some(&text));
            if status.is_none() {
                self.fail(format!("{node} is '{text}', which counts as disabled"));
            }
            return status == Some(ServerStatus::Enabled);
        }
        false
    }

    /// Whether a server is enabled and has an instance. An address that begins with another one is taken for it.
    pub(super) async fn is_available_server(&self, ip: &str) -> bool {
        self.is_enabled(ip).await && self.children(INSTANCES).await.iter().any(|id| id.starts_with(ip))
    }

    pub(super) async fn has_available_server(&self) -> bool {
        for ip in self.children(SERVERS).await {
            if self.is_available_server(&ip).await {
                return true;
            }
        }
        false
    }

    /// Online instances of enabled servers, in descending order.
    pub(super) async fn available_instances(&self) -> Vec<InstanceId> {
        let mut available = Vec::new();
        for id in self.children(INSTANCES).await {
            let Some(text) = self.get(&format!("{INSTANCES}/{id}")).await else { continue };
            let Some(server) = self.read_server_of(&id, &text) else { continue };
            if self.is_enabled(&server).await
                && let Ok(id) = id.parse()
            {
                available.push(id);
            }
        }
        available
    }

    /// Deletes servers without instances; what an operator set there is forgotten.
    pub(super) async fn remove_offline_servers(&self) {
        let online = self.children(INSTANCES).await;
        for ip in self.children(SERVERS).await {
            let is_online = online.iter().any(|id| id.split("@-@").next() == Some(ip.as_str()));
            let node = server(&ip);
            if !is_online && self.get(&node).await.is_some_and(|text| !text.is_empty()) {
                self.remove(&node).await;
            }
        }
    }
}
