//! Plays what Java does when its connection is lost and comes back. Running work goes on.

use std::rc::Rc;

use super::jvm::Jvm;
use crate::registry::SessionState;
use crate::registry::layout::ServerStatus;

/// The client learns of a change; its listeners hear of it in order.
pub(super) fn on_session(jvm: &Jvm, state: SessionState) {
    let connected = matches!(state, SessionState::Connected { .. });
    if jvm.connected.replace(connected) == connected {
        return;
    }
    if connected {
        jvm.reconnects.set(jvm.reconnects.get() + 1);
    }
    jvm.connection_changes.borrow_mut().push(connected);
    jvm.stir();
}

pub(super) async fn connection_listener(jvm: Rc<Jvm>) {
    loop {
        jvm.wait(None, || !jvm.connection_changes.borrow().is_empty()).await;
        let back = jvm.connection_changes.borrow_mut().remove(0);
        // The first connection, and what happens before the listener is there, goes by.
        if !jvm.started.get() || jvm.quartz.borrow().shut_down {
            continue;
        }
        if !back {
            jvm.quartz.borrow_mut().pause(true);
            jvm.stir();
            continue;
        }
        let enabled = jvm.is_enabled(jvm.id.server_ip()).await;
        let status = if enabled { ServerStatus::Enabled } else { ServerStatus::Disabled };
        jvm.persist(&jvm.own_server(), status.as_str()).await;
        jvm.publish_instance().await;
        if let Some(items) = jvm.local_items().await {
            jvm.clear_running(&items).await;
        }
        jvm.quartz.borrow_mut().pause(false);
        jvm.stir();
    }
}

impl Jvm {
    /// Makes the own node again, also one that is there and well.
    pub(super) async fn publish_instance(&self) {
        let node = format!("jobInstanceId: {}\nserverIp: {}\n", self.id, self.id.server_ip());
        self.persist_ephemeral(&self.own_instance(), &node).await;
    }
}
