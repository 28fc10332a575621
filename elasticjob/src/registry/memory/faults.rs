//! Faults that tests cause in the sessions of an embedded registry.

use super::{Link, MemoryRegistry, Moment, SessionId, SessionState, Shared, WatchEvent};

impl MemoryRegistry {
    /// Cuts the connection of a session: its calls fail and its watches get no events. The session lives on.
    pub fn suspend(&self, id: SessionId) {
        let mut shared = self.lock();
        if let Some(link) = shared.link_of(id) {
            link.cut = Some(Moment::now());
            link.state.send_replace(SessionState::Suspended { id });
        }
    }

    /// Connects a suspended client again: with its session, or with a new one where the old one expired.
    pub fn resume(&self, id: SessionId) {
        let mut shared = self.lock();
        if let Some(link) = shared.link_of(id) {
            link.cut = None;
            let expired = shared.tree.session_timeout(id).is_none();
            shared.come_back(id, expired);
        }
    }

    /// Ends a session, as a server does that has not heard of it for too long. A client that is connected opens a new
    /// session at once. A client that is cut off notices it when it is resumed.
    pub fn expire(&self, id: SessionId) {
        let mut shared = self.lock();
        shared.close_session(id);
        if shared.link_of(id).is_some_and(|link| link.cut.is_none()) {
            shared.come_back(id, true);
        }
    }
}

impl Shared {
    fn link_of(&mut self, id: SessionId) -> Option<&mut Link> {
        self.clients.values_mut().find(|link| link.session == id)
    }

    fn come_back(&mut self, id: SessionId, expired: bool) {
        let Some((&client, link)) = self.clients.iter().find(|(_, link)| link.session == id) else { return };
        let timeout = link.timeout;
        let session = if expired { self.open_session(timeout) } else { id };
        self.watchers.tell(client, &WatchEvent::Gap);
        if let Some(link) = self.clients.get_mut(&client) {
            link.session = session;
            if expired {
                link.state.send_replace(SessionState::Connecting);
            }
            link.state.send_replace(SessionState::Connected { id: session, timeout });
        }
    }
}
