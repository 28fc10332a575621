//! Which servers and instances are there, as the release sees it.

use super::jvm::Jvm;
use crate::ident::InstanceId;

/// Data of an enabled server.
pub(super) const ENABLED: &str = "ENABLED";
/// Data of a disabled server.
pub(super) const DISABLED: &str = "DISABLED";

impl Jvm {
    pub(super) fn own_server(&self) -> String {
        format!("servers/{}", self.id.server_ip())
    }

    pub(super) fn own_instance(&self) -> String {
        format!("instances/{}", self.id)
    }

    pub(super) async fn is_enabled(&self, ip: &str) -> bool {
        let node = format!("servers/{ip}");
        for _ in 0..10 {
            match self.get(&node).await {
                Some(text) if text == ENABLED => return true,
                Some(text) if text == DISABLED => return false,
                Some(text) => {
                    self.fail(format!("{node} is '{text}', which counts as disabled"));
                    return false;
                }
                None => self.sleep(100).await,
            }
        }
        false
    }

    /// Whether a server is enabled and has an instance. An address that begins with another one is taken for it.
    pub(super) async fn is_available_server(&self, ip: &str) -> bool {
        self.is_enabled(ip).await && self.children("instances").await.iter().any(|id| id.starts_with(ip))
    }

    pub(super) async fn has_available_server(&self) -> bool {
        for ip in self.children("servers").await {
            if self.is_available_server(&ip).await {
                return true;
            }
        }
        false
    }

    /// Online instances of enabled servers, in descending order.
    pub(super) async fn available_instances(&self) -> Vec<InstanceId> {
        let mut available = Vec::new();
        for id in self.children("instances").await {
            let Some(text) = self.get(&format!("instances/{id}")).await else { continue };
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
        let online = self.children("instances").await;
        for ip in self.children("servers").await {
            let is_online = online.iter().any(|id| id.split("@-@").next() == Some(ip.as_str()));
            let node = format!("servers/{ip}");
            if !is_online && self.get(&node).await.is_some_and(|text| !text.is_empty()) {
                self.remove(&node).await;
            }
        }
    }
}
