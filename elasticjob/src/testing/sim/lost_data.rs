//! A registry that loses its data, with all sessions: what is connected to it again registers the job again.
//!
//! It is away for longer than a session lasts, so that nothing of before runs when it is back. Where it comes back at once,
//! an instance that is cut off runs what it runs until its deadline, and nothing keeps others from beginning that.

use std::time::Duration;

use super::happening::Happening;
use super::host::{Millis, Program};
use super::world::{OPERATOR, World};
use crate::registry::SessionId;
use crate::registry::layout::JobPath;
use crate::registry::tree::Tree;
use crate::testing::rng::Rng;

impl World {
    /// In one of four histories without Java instances, which do not write the configuration again. Drawn beside all else,
    /// so that the other histories stay what they are.
    pub(super) fn plan_loss(&mut self, seed: u64) {
        let mut rng = Rng::new(seed ^ 0x6c_6f73_7364);
        if !self.is_mixed() && rng.one_in(4) {
            let at = rng.between(8_000, self.faults_until / 2 + 5_000);
            let outage = self.session_timeout + rng.between(2_500, 6_000);
            self.at(at, Happening::RegistryFalls { outage });
        }
    }

    pub(super) fn registry_falls(&mut self, outage: Millis) {
        self.log(|_| format!("the registry is away for {outage} ms"));
        self.end_lag();
        self.away_until = self.now + outage;
        for host in 0..self.machines() {
            self.cut(host, outage);
        }
        self.at(self.away_until - 1, Happening::DataLost);
    }

    pub(super) fn lose_data(&mut self) -> Result<(), String> {
        self.count("data_lost");
        self.incident();
        let sessions: Vec<SessionId> = self.tree.sessions().filter(|session| *session != OPERATOR).collect();
        sessions.into_iter().try_for_each(|session| self.end_session(session))?;
        // Its transactions go on from before: tokens of a server whose transactions begin again at 1 prove nothing.
        self.tree = Tree::new(self.tree.last_zxid());
        self.tree.open_session(OPERATOR, Duration::from_secs(1_000_000));
        let now = self.now;
        // What an instance has heard last is written again: it may have missed that monitoring was switched. One that has heard
        // nothing yet, as its engine is new, writes what its program was started with.
        let monitored = self.shape.monitored;
        let programs = self.hosts.iter().filter_map(|host| Some(&host.process.as_ref()?.program));
        let mut engines = programs.filter_map(|program| match program {
            Program::Engine(engine) => Some(&**engine),
            Program::Fallen(fallen) => fallen.next(),
            Program::Java(_) => None,
        });
        let is_known = engines.all(|engine| {
            engine.configuration().unwrap_or_else(|| engine.local_configuration()).monitor_execution() == monitored
        });
        self.each_invariants(|invariants| invariants.data_lost(now, is_known));
        let at = now + 2 * self.session_timeout + 5_000;
        self.at(at, Happening::LookForLoss);
        Ok(())
    }

    /// An operator looks whether the jobs are there again, and writes the configuration in force, which the instances may have
    /// missed.
    pub(super) fn look_for_loss(&mut self) -> Result<(), String> {
        for job in self.jobs() {
            let instances = self.tree.children(&JobPath::Instances.absolute(&job)).ok().flatten().unwrap_or_default();
            let config = self.tree.get(&JobPath::Config.absolute(&job)).ok().flatten();
            if config.is_none() && !instances.is_empty() {
                return Err(format!(
                    "lost data are written again: {instances:?} registered again, and {job} has no configuration"
                ));
            }
        }
        self.configure(self.total);
        Ok(())
    }
}
