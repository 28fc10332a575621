//! The one thread on which all listeners of a job hear of changes, one change and one listener after the other, and on
//! which some of them block.

use std::rc::Rc;

use super::cache::{Change, Kind};
use super::jvm::Jvm;
use super::nodes::{CONFIG, INSTANCES, SERVERS, TRIGGER, leader};
use super::quartz::Request;
use super::sharding::instance_of;
use crate::registry::layout::ServerStatus;

pub(super) async fn notify(jvm: Rc<Jvm>) {
    loop {
        jvm.wait(None, || !jvm.cache.borrow().changes.is_empty()).await;
        let Some(change) = jvm.cache.borrow_mut().changes.pop_front() else { continue };
        if jvm.quartz.borrow().shut_down {
            return;
        }
        jvm.elect_or_abdicate(&change).await;
        jvm.count_changed(&change).await;
        jvm.servers_changed(&change).await;
        let _thrown = jvm.failover_changed(&change).await;
        jvm.monitoring_changed(&change).await;
        jvm.removed(&change).await;
        jvm.triggered(&change).await;
        jvm.rescheduled(&change);
    }
}

impl Jvm {
    async fn elect_or_abdicate(&self, change: &Change) {
        let own_server = change.node == self.own_server();
        let is_disabled = change.data == ServerStatus::Disabled.as_str();
        let wanted = own_server && change.kind != Kind::Deleted && !is_disabled;
        let leader_gone = change.node == leader() && change.kind == Kind::Deleted;
        let elect = (wanted && !self.has_leader().await)
            || (leader_gone && self.is_available_server(self.id.server_ip()).await);
        if elect {
            self.elect_leader().await;
        }
        if own_server && is_disabled && self.is_leader().await {
            self.remove_leader().await;
        }
    }

    async fn count_changed(&self, change: &Change) {
        let before = self.total.get();
        if change.node != CONFIG || before == 0 {
            return;
        }
        let Some(configuration) = self.read_configuration(&change.data) else { return };
        if configuration.total != before {
            self.ask_for_resharding().await;
            self.total.set(configuration.total);
        }
    }

    async fn servers_changed(&self, change: &Change) {
        let instance = change.node.starts_with(INSTANCES) && change.kind != Kind::Updated;
        let server = change.node.starts_with(&format!("{SERVERS}/"));
        if !instance && !server {
            return;
        }
        let Some(configuration) = self.configuration().await else { return };
        if configuration.static_sharding && self.is_sharded().await {
            return;
        }
        self.ask_for_resharding().await;
    }

    async fn failover_changed(&self, change: &Change) -> Option<()> {
        if change.node == CONFIG && change.kind == Kind::Updated {
            if !self.read_configuration(&change.data)?.failover {
                self.drop_takers().await;
            }
            return Some(());
        }
        let instance = instance_of(&change.node)?;
        if !self.configuration().await?.failover {
            return Some(());
        }
        match change.kind {
            Kind::Deleted if instance != self.id => self.on_crash(&instance).await?,
            Kind::Added if instance == self.id => self.recover_alone().await,
            _ => {}
        }
        Some(())
    }

    async fn monitoring_changed(&self, change: &Change) {
        if change.node != CONFIG || change.kind != Kind::Updated {
            return;
        }
        if let Some(configuration) = self.read_configuration(&change.data).filter(|read| !read.monitored) {
            let items: Vec<_> = (0..configuration.total).collect();
            self.clear_running(&items).await;
        }
    }

    /// An operator deleted the own node: the job ends in this process.
    async fn removed(&self, change: &Change) {
        let gone = change.node == self.own_instance() && change.kind == Kind::Deleted;
        if !gone || self.quartz.borrow().is_paused() || self.is_existed(&self.own_instance()).await {
            return;
        }
        self.log("Java was removed by an operator");
        if self.is_leader().await {
            self.remove_leader().await;
        }
        self.quartz.borrow_mut().shut_down = true;
        self.stir();
    }

    /// A trigger that comes while the job runs is dropped.
    async fn triggered(&self, change: &Change) {
        if change.node != format!("{TRIGGER}/{}", self.id) || change.kind != Kind::Added {
            return;
        }
        self.remove_if_existed(&change.node).await;
        if self.job_running.get() {
            self.log("Java drops a trigger: the job runs");
        } else {
            self.run_once(Request::Trigger);
        }
    }

    fn rescheduled(&self, change: &Change) {
        if change.node != CONFIG || change.kind != Kind::Updated {
            return;
        }
        let Some(configuration) = self.read_configuration(&change.data) else { return };
        let mut quartz = self.quartz.borrow_mut();
        if let Some(schedule) = configuration.schedule()
            && quartz.differs(&configuration.cron)
        {
            quartz.schedule(Some(schedule), self.wall());
            drop(quartz);
            self.stir();
        }
    }
}
