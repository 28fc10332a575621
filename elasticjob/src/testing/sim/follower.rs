//! A follower of the ensemble that loses its leader for a while, and does not know it yet.
//!
//! It answers reads by what it has, and passes on neither pings nor transactions, so the leader ends the sessions of its
//! clients after their time-out. Then it finds out: it drops all its clients, who find another server and hear what became
//! of their sessions.

use super::happening::Happening;
use super::host::{Millis, Request};
use super::world::World;
use crate::engine::Bug;
use crate::registry::tree::Tree;

/// A follower without its leader.
#[derive(Debug)]
pub(super) struct Lagging {
    /// What it has.
    pub(super) tree: Tree,
}

impl World {
    /// The follower loses its leader for so long.
    pub(super) fn lag(&mut self, duration: Millis) {
        if self.lagging.is_some() {
            return;
        }
        self.incident();
        self.lagging = Some(Lagging { tree: self.tree.clone() });
        let at = self.now + duration;
        self.at(at, Happening::LagEnds);
    }

    /// Whether this is the worst moment for the follower to lose its leader: a run begins, and the leader has heard nothing of
    /// its client for as long as that may be.
    pub(super) fn may_ambush(&self, host: usize) -> bool {
        let on_follower = self.hosts[host].process.as_ref().is_some_and(|process| process.on_follower);
        self.ambush.is_some() && on_follower && self.lagging.is_none() && self.is_long_unheard(host)
    }

    /// The follower loses its leader at this moment, and the clocks of the host go too slow from now on.
    pub(super) fn ambush(&mut self, host: usize) {
        if let Some(duration) = self.ambush.take() {
            self.count("lagging_at_a_begin");
            self.slow_down(host);
            self.lag(duration);
        }
    }

    /// The follower drops its clients.
    pub(super) fn end_lag(&mut self) {
        if self.lagging.take().is_none() {
            return;
        }
        self.log(|_| "the follower finds that it has lost its leader".to_owned());
        for host in 0..self.hosts.len() {
            if self.hosts[host].process.as_ref().is_some_and(|process| process.on_follower) {
                let outage = self.rng.between(1, 300);
                self.cut(host, outage);
            }
        }
        self.incident();
    }

    /// Whether the server that a host is connected to has lost its leader.
    pub(super) fn is_lagging(&self, host: usize) -> bool {
        let process = self.hosts[host].process.as_ref();
        self.lagging.is_some() && process.is_some_and(|process| process.on_follower && process.connection.is_some())
    }

    /// Whether a request can only be answered by the leader.
    pub(super) fn needs_leader(&self, request: &Request) -> bool {
        let is_proof = matches!(request, Request::Probe);
        request.is_for_the_leader() && !(is_proof && self.bug == Some(Bug::ProofByRead))
    }
}
