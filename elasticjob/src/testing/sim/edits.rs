//! A configuration that is edited while no process runs.

use super::happening::Happening;
use super::world::World;
use crate::testing::rng::Rng;

impl World {
    /// In one of four histories all processes are down for a while, and the configuration is edited meanwhile. Drawn beside all
    /// else, so that the other histories stay what they are.
    pub(super) fn plan_edit(&mut self, seed: u64) {
        let mut rng = Rng::new(seed ^ 0x65_6469_7473);
        if rng.one_in(4) {
            let at = rng.between(8_000, self.faults_until / 2 + 5_000);
            self.at(at, Happening::AllDown { draw: rng.next_u64() });
        }
    }

    /// All processes are gone, mostly over a fire.
    pub(super) fn all_down(&mut self, draw: u64) {
        let mut rng = Rng::new(draw);
        self.count("all_down");
        let latest = (self.faults_until + 5_000).saturating_sub(self.now).max(2_500);
        let outage = rng.between(2_000, 1_000 * u64::from(self.period) + 5_000).min(latest);
        for host in 0..self.machines() {
            if self.hosts[host].process.is_some() {
                let (same_id, delay) = (rng.one_in(2), outage + rng.below(1_000));
                self.crash(host, same_id, delay);
            }
        }
        let at = self.now + outage - rng.below(outage / 4);
        self.at(at, Happening::Edit { draw: rng.next_u64() });
    }

    /// An operator edits the configuration.
    pub(super) fn edit(&mut self, draw: u64) {
        let mut rng = Rng::new(draw);
        if self.hosts.iter().all(|host| host.process.is_none()) {
            self.count("edited_while_all_were_down");
        }
        let mut total = self.total;
        match rng.below(6) {
            0 => self.period = rng.pick(&[1, 2, 5, 10, 30]),
            1 => total = rng.between(1, 7) as u32,
            2 if self.shape.monitored => self.shape.failover = !self.shape.failover,
            3 => self.shape.misfire = !self.shape.misfire,
            // It is written again as it is: engines find that it was written now, and nothing else.
            _ => {}
        }
        self.configure(total);
    }
}
