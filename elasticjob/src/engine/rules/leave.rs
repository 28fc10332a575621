//! Leaving the group: on request, or when an operator removed the instance.

use std::time::Duration;

use super::Step;
use crate::clock::Now;
use crate::engine::engine::JobEngine;
use crate::engine::notice::Notice;
use crate::engine::planted::Bug;
use crate::engine::state::left_run::LeftRun;
use crate::engine::state::membership::Phase;
use crate::engine::state::proposal::{Proposal, Purpose};
use crate::engine::txn::JobTransaction;
use crate::ident::InstanceId;
use crate::registry::CreateMode;
use crate::registry::layout::JobPath;
use crate::registry::mirror::Unread;

/// How long running items may go on after an operator removed the instance.
const REMOVAL_GRACE: Duration = Duration::from_secs(25);

/// Leaves when an operator deleted the node of the own instance while the session lived. The end of a session deletes
/// it too, so a read that is answered in the live session has to confirm that it is gone. Another process may have
/// taken the id by then.
pub(super) fn removed(engine: &mut JobEngine, now: Now) -> Result<Step, Unread> {
    let leaving = matches!(engine.phase, Phase::Leaving { .. });
    if !engine.is_registered() || leaving || engine.planted.has(Bug::IgnoredRemoval) {
        return Ok(Step::Pass);
    }
    match engine.own_registration()? {
        Registration::Own => return Ok(Step::Pass),
        Registration::Missing if !engine.membership.removal_confirmed => {
            engine.mirror.confirm(engine.own_node());
            return Ok(Step::Stop);
        }
        Registration::Missing | Registration::Foreign => {}
    }
    engine.tell(Notice::RemovedByOperator);
    engine.start_leaving(now.mono + REMOVAL_GRACE);
    Ok(Step::Pass)
}

/// The node of the own id, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Registration {
    Missing,
    Own,
    /// Of a session that is not one of this engine.
    Foreign,
}

impl JobEngine {
    fn own_registration(&self) -> Result<Registration, Unread> {
        Ok(match self.mirror.need(&self.own_node())? {
            None => Registration::Missing,
            Some(known) if self.membership.is_own(known.owner) => Registration::Own,
            Some(_) => Registration::Foreign,
        })
    }
}

/// Deletes the own nodes once nothing runs any more.
pub(super) fn leave(engine: &mut JobEngine, now: Now) -> Result<Step, Unread> {
    // What it still held begins elsewhere.
    if matches!(engine.phase, Phase::Leaving { .. }) && engine.follows_items() {
        engine.close_runs(now);
    }
    let is_busy = !engine.runs.is_empty() || !engine.rounds.settled.is_empty() || engine.fires.unresolved.is_some();
    if !matches!(engine.phase, Phase::Leaving { .. }) || is_busy {
        return Ok(Step::Pass);
    }
    engine.tell_taken_unknown()?;
    let me = engine.own_node();
    let own_trigger = engine.own_trigger();
    let candidate = engine.own_candidate();
    let own_session =
        engine.own_session().filter(|node| engine.mirror.exists(node) && engine.membership.abandoned.is_empty());
    let leading = engine.is_leader();
    let registration = engine.own_registration()?;
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    let mut triggers = Vec::new();
    let was_ours = match registration {
        // Also where no answer said that it was registered.
        Registration::Own => true,
        Registration::Missing => engine.membership.session.is_some(),
        Registration::Foreign => false,
    };
    if was_ours && !engine.planted.has(Bug::ForgottenInstance) {
        txn.delete_existing(&me);
        let is_last = engine.mirror.instances().all(|id| *id == engine.identity.instance);
        // The leader hands over the items that the own trigger asks for: another instance now, or this one when it is back.
        let is_failover_on = engine.configuration.is_failover_on();
        let is_handed_over = is_failover_on && (!is_last || engine.membership.returns);
        if engine.mirror.exists(&own_trigger) && !is_handed_over {
            triggers.push(engine.identity.instance.clone());
            txn.delete(&own_trigger, None);
        }
        // Nor is there an instance any more that could run what others were asked for before they left.
        let is_other = |id: &&InstanceId| **id != engine.identity.instance;
        let is_the_end = is_last && !is_handed_over;
        for id in engine.orphaned_triggers().filter(is_other).filter(|_| is_the_end) {
            triggers.push(id.clone());
            txn.delete(&JobPath::Trigger(id.clone()), None);
        }
    }
    if leading {
        txn.delete(&JobPath::LeaderInstance, None);
    }
    for node in candidate.iter().chain(&own_session) {
        txn.delete(node, None);
    }
    // A Java leader deletes the marks of an instance that is gone, also of code that goes on.
    if let Some(node) = engine.own_session().filter(|_| engine.membership.abandoned.iter().any(LeftRun::is_recorded)) {
        txn.create_missing(&node, engine.identity.instance.as_str(), CreateMode::Ephemeral);
    }
    let transaction = txn.build();
    if transaction.is_empty() {
        if !engine.mirror.has_wanted() {
            engine.tell(Notice::Left);
            engine.stop();
        }
        return Ok(Step::Stop);
    }
    Ok(Step::Write(Proposal { transaction, purpose: Purpose::Leave { triggers } }))
}
