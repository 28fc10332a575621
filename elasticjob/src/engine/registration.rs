//! The registration of this instance, and its own nodes.

use super::engine::JobEngine;
use crate::registry::layout::JobPath;

impl JobEngine {
    /// Whether the instance is registered in the live session.
    pub(super) fn is_registered(&self) -> bool {
        let session = self.session.connected();
        session.is_some() && self.membership.session == session
    }

    pub(super) fn own_node(&self) -> JobPath {
        JobPath::Instance(self.identity.instance.clone())
    }

    pub(super) fn own_trigger(&self) -> JobPath {
        JobPath::Trigger(self.identity.instance.clone())
    }
}
