//! The start of a bootstrap, in the order of the release, and the end of its process.

use std::rc::Rc;

use super::cache;
use super::jvm::{Jvm, Wish};
use crate::registry::layout::ServerStatus;

pub(super) async fn main(jvm: Rc<Jvm>) {
    jvm.wait(None, || jvm.connected.get()).await;
    // There is a configuration in every simulated group, and it is not overwritten.
    let Some(configuration) = jvm.configuration_directly().await else {
        jvm.log("Java does not start: the configuration cannot be read");
        jvm.wish(Wish::Exit);
        return;
    };
    let Some(schedule) = configuration.schedule() else {
        jvm.log("Java does not start: the schedule cannot be read");
        jvm.wish(Wish::Exit);
        return;
    };
    cache::start(&jvm);
    jvm.total.set(configuration.total);
    jvm.connection_changes.borrow_mut().clear();
    jvm.started.set(true);
    jvm.elect_leader().await;
    let status = if configuration.disabled { ServerStatus::Disabled } else { ServerStatus::Enabled };
    jvm.persist(&jvm.own_server(), status.as_str()).await;
    jvm.publish_instance().await;
    jvm.remove_offline_servers().await;
    jvm.quartz.borrow_mut().schedule(Some(schedule), jvm.wall());
    jvm.stir();
}

/// The run is over and nothing fires any more: an orderly end deletes the leader's node and the own one.
pub(super) async fn leave(jvm: &Jvm) {
    jvm.quartz.borrow_mut().shut_down = true;
    if jvm.stopping.get() {
        if jvm.is_leader().await {
            jvm.remove_leader().await;
        }
        jvm.remove_if_existed(&jvm.own_instance()).await;
    }
    jvm.wish(Wish::Exit);
}
