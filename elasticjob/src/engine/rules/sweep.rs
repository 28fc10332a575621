//! Sweeping up after instances that are gone.

use super::Step;
use crate::engine::engine::{JobEngine, Proposal, Purpose};
use crate::engine::event::Now;
use crate::engine::txn::JobTransaction;
use crate::ident::InstanceId;
use crate::registry::path::JobPath;

/// The leader deletes triggers that waited for an instance which is gone: ids are hardly ever used again, so nobody
/// else would.
pub(super) fn sweep(engine: &mut JobEngine, _: Now) -> Step {
    if engine.leadership.is_none() {
        return Step::Pass;
    }
    let gone = |id: &&InstanceId| !engine.mirror.exists(&JobPath::Instance((*id).clone()));
    let orphans: Vec<JobPath> = engine.mirror.triggers().filter(gone).cloned().map(JobPath::Trigger).collect();
    if orphans.is_empty() {
        return Step::Pass;
    }
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    txn.check(&JobPath::LeaderInstance);
    for orphan in &orphans {
        txn.delete(orphan, None);
    }
    Step::Write(Proposal { transaction: txn.build(), purpose: Purpose::Sweep })
}
