//! Operators who run past fires of the first job again.

use super::beside::FIRST;
use super::happening::Happening;
use super::host::{EPOCH, Millis};
use super::world::World;
use crate::engine::{DependencyRecord, FollowedRerun, TriggerAnswer};
use crate::fire::{Rerun, TriggerData};
use crate::ident::{InstanceId, JobName};
use crate::registry::layout::{JobPath, ServerStatus};
use crate::registry::{CreateMode, Transaction};
use crate::testing::invariants::Observation;
use crate::testing::rng::Rng;

impl World {
    /// In one of three histories fires are run again, also in the calm. Drawn beside all else, so that the other histories stay
    /// what they are.
    pub(super) fn plan_reruns(&mut self, seed: u64) {
        let mut rng = Rng::new(seed ^ 0x7265_7275_6e73);
        if self.is_mixed() || !rng.one_in(3) {
            return;
        }
        for _ in 0..rng.between(1, 4) {
            let at = rng.between(8_000, self.faults_until);
            self.at(at, Happening::Rerun { draw: rng.next_u64() });
        }
        self.reruns = Some(rng);
    }

    /// The same in the calm, where it is looked at what comes of it.
    pub(super) fn plan_reruns_in_calm(&mut self, from: Millis) {
        let Some(mut rng) = self.reruns.take() else { return };
        let at = from + rng.below(1_000 * u64::from(self.period));
        self.at(at, Happening::Rerun { draw: rng.next_u64() });
    }

    /// An operator runs a fire again, as the operation of that name does.
    pub(super) fn rerun(&mut self, draw: u64) -> Result<(), String> {
        let job = JobName::new(FIRST).expect("a valid name");
        let wall = EPOCH + self.now as i64;
        let period = 1_000 * i64::from(self.period);
        let back = Rng::new(draw).below(3) as i64;
        let rerun = Rerun::new(wall - wall.rem_euclid(period) - back * period, wall);
        let exists = |world: &Self, path: &JobPath| world.tree.get(&path.absolute(&job)).ok().flatten();
        let names = |world: &Self, path: &JobPath| world.tree.children(&path.absolute(&job)).ok().flatten();
        let ids = names(self, &JobPath::Instances).unwrap_or_default();
        let is_enabled = |id: &InstanceId| {
            let server = exists(self, &JobPath::Server(id.server_ip().into()));
            server.is_some_and(|node| ServerStatus::of(node.data.text()) == ServerStatus::Enabled)
        };
        let is_alive = |id: &InstanceId| {
            exists(self, &JobPath::Instance(id.clone())).is_some_and(|node| node.stat.ephemeral_owner.is_some())
        };
        let instances: Vec<InstanceId> =
            ids.iter().filter_map(|id| id.parse().ok()).filter(|id| is_enabled(id) && is_alive(id)).collect();
        let is_asked = |id: &InstanceId| exists(self, &JobPath::Trigger(id.clone())).is_some();
        if !self.shape.monitored || instances.is_empty() || instances.iter().any(is_asked) {
            return Ok(());
        }
        let mut transaction = Transaction::new();
        if names(self, &JobPath::Triggers).is_none() {
            transaction.create(JobPath::Triggers.absolute(&job), "", CreateMode::Persistent);
        }
        for id in instances {
            let data = TriggerData::from(rerun).to_bytes();
            transaction.create(JobPath::Trigger(id).absolute(&job), data, CreateMode::Persistent);
        }
        for after in self.jobs().into_iter().filter(|job| self.runs_after_first(job).is_some()) {
            let path = JobPath::Dependencies.absolute(&after);
            let Some(node) = self.tree.get(&path).ok().flatten() else { continue };
            let Some(record) = DependencyRecord::parse(&node.data) else { continue };
            let record = record.with_rerun(FollowedRerun::new(rerun, job.clone(), Vec::new()));
            transaction.set(path, record.to_bytes(), Some(node.stat.version));
        }
        if self.operate(&transaction) {
            self.count("rerun");
            let trigger = self.tree.last_zxid();
            self.invariants.triggered(trigger, rerun.into());
            self.tell_followers(|follows| follows.asked(rerun));
            self.observe(Observation::Triggered { answer: &TriggerAnswer::Queued })?;
        }
        Ok(())
    }
}
