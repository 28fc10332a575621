//! The servers of the instances that may run items: an operator can disable each of them.

use super::engine::JobEngine;
use crate::registry::layout::{JobPath, ServerStatus};
use crate::registry::mirror::{Known, Lookup, Unread};

impl JobEngine {
    /// Whether the own server may run items.
    pub(super) fn is_server_enabled(&self) -> Result<bool, Unread> {
        self.is_enabled(self.identity.instance.server_ip())
    }

    /// Whether the own server is known to be disabled. Also false where its node is gone: a peer that cleans up may take
    /// it away for a moment.
    pub(super) fn is_server_disabled(&self) -> bool {
        let server = self.mirror.need_server(self.identity.instance.server_ip());
        server.is_ok_and(|server| server.is_some_and(|known| !is_enabled(known)))
    }

    /// When the own server was disabled, by the clock of the registry center; `None` where it is not known.
    pub(super) fn server_disabled_at(&self) -> Option<i64> {
        match self.mirror.lookup(&JobPath::Server(self.identity.instance.server_ip().into())) {
            Lookup::Known(known) if !is_enabled(known) && known.mtime > 0 => Some(known.mtime),
            _ => None,
        }
    }

    /// Whether a server may run items.
    pub(super) fn is_enabled(&self, ip: &str) -> Result<bool, Unread> {
        let server = self.mirror.need_server(ip)?;
        Ok(server.is_some_and(is_enabled))
    }
}

fn is_enabled(server: &Known) -> bool {
    ServerStatus::of(server.text()) == ServerStatus::Enabled
}
