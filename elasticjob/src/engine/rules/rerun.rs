//! Re-runs of fires of the jobs before this one.

use super::Step;
use crate::clock::Now;
use crate::engine::dependencies::{FollowedRerun, Following, follow_rerun};
use crate::engine::engine::JobEngine;
use crate::engine::notice::Notice;
use crate::engine::planted::Bug;
use crate::engine::state::dependencies::Dependencies;
use crate::engine::state::membership::Phase;
use crate::engine::state::proposal::{Proposal, Purpose};
use crate::engine::txn::JobTransaction;
use crate::fire::TriggerData;
use crate::registry::CreateMode;
use crate::registry::layout::JobPath;
use crate::registry::mirror::Unread;

/// Runs a fire again after the jobs before this one, for which an operator runs it again: when they have ended as they have
/// to, the leader writes that into the node `dependencies`, and a trigger for each available instance with it.
///
/// A trigger is no fire of the schedule: the fires that come meanwhile neither take its place nor are covered by it. It waits
/// while another trigger waits, as an instance has one at a time.
pub(super) fn follow(engine: &mut JobEngine, now: Now) -> Result<Step, Unread> {
    engine.dependencies.reruns_settle = None;
    let configuration = engine.configuration.in_force.clone();
    let Some(configuration) = configuration.filter(|configuration| !configuration.depends_on().is_empty()) else {
        return Ok(Step::Pass);
    };
    if engine.leadership.term.is_none() || engine.phase != Phase::Active || !engine.is_registered() {
        return Ok(Step::Pass);
    }
    let Some(known) = engine.mirror.need(&JobPath::Dependencies)? else { return Ok(Step::Pass) };
    let version = known.version;
    let Some(record) = engine.read_decided(known) else { return Ok(Step::Pass) };
    let undecided: Vec<&FollowedRerun> = record.reruns.iter().filter(|known| known.decided.is_none()).collect();
    let Dependencies { parents, reruns, reruns_settle, .. } = &mut engine.dependencies;
    *reruns_settle = reruns.look(configuration.depends_on(), parents, &undecided, now.mono);
    if engine.planted.has(Bug::DeafToReruns) {
        return Ok(Step::Pass);
    }
    for followed in undecided {
        let Dependencies { parents, reruns, .. } = &engine.dependencies;
        let skipped = match follow_rerun(configuration.depends_on(), parents, reruns, followed) {
            Following::Wait if !engine.planted.has(Bug::HastyRerun) => continue,
            Following::Skip(unmet) => Some(unmet),
            Following::Run | Following::Wait => None,
        };
        let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
        txn.check(&JobPath::LeaderInstance);
        if skipped.is_none() {
            let instances = engine.available_instances()?;
            let is_asked = |instance| engine.mirror.exists(&JobPath::Trigger(instance));
            if instances.is_empty() || instances.iter().cloned().any(is_asked) {
                return Ok(Step::Pass);
            }
            for instance in instances {
                txn.check(&JobPath::Instance(instance.clone()));
                txn.create(
                    &JobPath::Trigger(instance),
                    TriggerData::from(followed.rerun).to_bytes(),
                    CreateMode::Persistent,
                );
            }
        }
        let after = record.after_rerun(followed.rerun, skipped.clone(), now.wall);
        txn.set(&JobPath::Dependencies, after.to_bytes(), Some(version));
        let followed = FollowedRerun { skipped, ..followed.clone() };
        let purpose = Purpose::FollowRerun { followed: Box::new(followed) };
        return Ok(Step::Write(Proposal { transaction: txn.build(), purpose }));
    }
    Ok(Step::Pass)
}

impl JobEngine {
    /// The decision is written: the leader says it once.
    pub(in crate::engine) fn on_rerun_followed(&mut self, followed: FollowedRerun) {
        let FollowedRerun { rerun, from, skipped, .. } = followed;
        self.tell(match skipped {
            None => Notice::RerunFollowed { rerun, from },
            Some(unmet) => Notice::RerunSkipped { rerun, reason: unmet.reason() },
        });
    }
}
