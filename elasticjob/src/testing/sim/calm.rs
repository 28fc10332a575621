//! Ends the faults: makes everything well again, so that the group has to converge.

use super::happening::Happening;
use super::world::World;
use crate::registry::layout::{JobPath, ServerStatus};
use crate::registry::{CreateMode, Transaction};

impl World {
    /// Faults are over: the network is fast, clocks are right, servers are enabled, and everything that is down comes back by itself.
    pub(super) fn heal(&mut self) {
        self.log(|_| "-- faults stop --".to_owned());
        self.latency = 2;
        self.lose_answers = 0;
        self.ambush = None;
        self.end_lag();
        let total = self.total;
        self.configure(total);
        self.restart_stuck_java();
        for item in 0..total {
            self.enable_item(item);
        }
        for host in 0..self.hosts.len() {
            self.set_right(host);
            self.wake_soon(host);
        }
        self.enable_servers();
        if self.is_mixed() {
            // A Java instance that reconnects writes what its cache has of its server, over what an operator set. And a run
            // that goes on may still end without taking its marks away.
            let later = self.now + 2 * self.session_timeout + 20_000;
            self.at(later, Happening::Inspect);
        }
        self.incident();
    }

    /// Enables every server. That of a Java instance may be gone: another one that starts deletes servers of which it sees
    /// no instance yet.
    pub(super) fn enable_servers(&mut self) {
        for host in 0..self.hosts.len() {
            let server = JobPath::Server(self.hosts[host].ip.as_str().into());
            let status = self.tree.get(&server.absolute(self.job_of(host))).ok().flatten().map(|node| node.data);
            if status.as_ref().is_some_and(|status| ServerStatus::of(status.text()) == ServerStatus::Disabled) {
                let mut transaction = Transaction::new();
                transaction.set(server.absolute(self.job_of(host)), ServerStatus::Enabled.as_str(), None);
                self.operate(&transaction);
            }
            if status.is_none() && self.hosts[host].java && self.hosts[host].process.is_some() {
                let mut transaction = Transaction::new();
                transaction.create(server.absolute(&self.job), ServerStatus::Enabled.as_str(), CreateMode::Persistent);
                self.operate(&transaction);
            }
        }
    }
}
