//! Limits of servers: the time-outs that they grant, which get shorter with a restart, and the size of a transaction.
//!
//! A client asks for what it was granted before, so the time-out of a session only gets shorter. It knows the old one when
//! it is connected, and hears of the new one a moment later.

use std::collections::BTreeMap;

use super::happening::Happening;
use super::host::Millis;
use super::world::World;
use crate::registry::SessionId;
use crate::testing::rng::Rng;

/// What the servers grant.
#[derive(Debug)]
pub(super) struct Limits {
    longest: Millis,
    granted: BTreeMap<SessionId, Millis>,
}

impl Limits {
    pub(super) fn new(longest: Millis) -> Self {
        Self { longest, granted: BTreeMap::new() }
    }

    /// The time-out of a session, as the servers count it.
    pub(super) fn of(&self, session: SessionId) -> Millis {
        self.granted.get(&session).copied().unwrap_or(self.longest)
    }

    /// What a new connection of a session is granted.
    pub(super) fn connect(&mut self, session: SessionId) -> Millis {
        let granted = self.of(session).min(self.longest);
        self.granted.insert(session, granted);
        granted
    }

    pub(super) fn forget(&mut self, session: SessionId) {
        self.granted.remove(&session);
    }
}

/// In one of three histories a transaction takes few items, so that what is one transaction for a few items takes several,
/// as it does for thousands. It is the weight from which on a transaction takes no further item: every transaction has
/// room for one. Drawn beside all else, so that the other histories stay what they are.
pub(super) fn transactions_full_from(seed: u64) -> Option<usize> {
    let mut rng = Rng::new(seed ^ 0x0073_6d61_6c6c);
    rng.one_in(3).then(|| rng.between(700, 2_500) as usize)
}

impl World {
    /// In one of four histories the servers start again with half of the longest time-out. Drawn beside all else, so that
    /// the other histories stay what they are.
    pub(super) fn plan_limits(&mut self, seed: u64) {
        let mut rng = Rng::new(seed ^ 0x6c69_6d69_7473);
        if rng.one_in(4) {
            let at = rng.between(5_000, self.faults_until / 2 + 5_000);
            self.at(at, Happening::LimitsChange);
        }
    }

    pub(super) fn change_limits(&mut self) {
        self.count("shorter_time_out");
        self.limits.longest = self.session_timeout / 2;
        self.log(|world| format!("the servers start again and grant sessions of {} ms", world.limits.longest));
        for host in 0..self.hosts.len() {
            let outage = self.rng.between(50, 1_000);
            self.cut(host, outage);
        }
    }
}
