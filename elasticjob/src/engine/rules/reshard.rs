//! Resharding: the leader assigns the items to the enabled instances.

mod assign;
mod high_water_mark;
mod item_states;
mod reason;
mod rotation;

use super::Step;
use crate::clock::Now;
use crate::engine::engine::JobEngine;
use crate::engine::notice::Notice;
use crate::engine::planted::Bug;
use crate::engine::state::leadership::{Basis, InPart};
use crate::engine::state::proposal::{Proposal, Purpose, Sharding};
use crate::engine::txn::JobTransaction;
use crate::registry::CreateMode;
use crate::registry::layout::JobPath;
use crate::registry::mirror::Unread;

use assign::{Assigned, Assignment};
use item_states::ItemStates;

/// The request that a resharding serves.
#[derive(Debug, Clone, Copy)]
enum Request {
    /// There is a request; a later request makes the resharding fail.
    Waits { version: i32 },
    /// There is no request: the items move on by themselves. A request that comes meanwhile makes the resharding fail.
    None,
}

/// Asks for resharding when something the assignment depends on changed, then reshards.
///
/// The leader does both as soon as it sees the reason. Items that are busy stay with their owner until they are free,
/// and the leader looks at them again then, so that a run is not disturbed and no instance waits for it.
pub(super) fn reshard(engine: &mut JobEngine, _: Now) -> Result<Step, Unread> {
    let (Some(leadership), Some(configuration)) = (&engine.leadership.term, engine.configuration.in_force.clone())
    else {
        return Ok(Step::Pass);
    };
    let instances = engine.available_instances()?;
    if instances.is_empty() {
        return Ok(Step::Pass);
    }
    let total = configuration.sharding_total_count();
    let strategy_type = configuration.sharding_strategy_type().to_owned();
    let mut basis = Basis { instances, total, strategy: strategy_type };
    if engine.planted.has(Bug::StaleInstanceList)
        && let Some(old) = &leadership.basis
    {
        basis.instances.clone_from(&old.instances);
    }
    let flag = engine.mirror.need(&JobPath::Necessary)?.map(|known| known.version);
    let last = leadership.basis.clone();
    let pinned = leadership.pinned.clone();
    if flag.is_none()
        && let Some(term) = &mut engine.leadership.term
    {
        // Its request is gone: what is left of an assignment is a matter of the next one.
        term.in_part = None;
    }
    let items = ItemStates::take(engine, &basis, &pinned, flag.is_some())?;
    let moves_on = rotation::is_over(engine, &basis, &items)?;
    let request = match flag {
        Some(version) => Some(Request::Waits { version }),
        None => {
            if let Some(why) = reason::to_assign_again(engine, &configuration, &items, &basis, last.as_ref(), &pinned) {
                return Ok(Step::Write(ask_for_resharding(engine, why)));
            }
            moves_on.then_some(Request::None)
        }
    };
    let Some(request) = request else {
        // A new leader that finds nothing wrong with an assignment takes it for one of its own: what changes from now on
        // is seen.
        if let Some(leadership) = &mut engine.leadership.term {
            leadership.basis.get_or_insert(basis);
        }
        return Ok(Step::Pass);
    };
    let strategy = basis.strategy.clone();
    let assignment = Assignment { engine, basis, items: &items, moves_on, stayed: &pinned, request };
    let Assigned { proposal, fault } = assignment.propose()?;
    if let Some(fault) = fault {
        engine.tell(Notice::StrategyFailed { strategy, fault });
    }
    Ok(Step::Write(proposal))
}

/// The request for resharding, which the leader makes: fires wait while it is there.
fn ask_for_resharding(engine: &JobEngine, why: String) -> Proposal {
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    txn.check(&JobPath::LeaderInstance);
    txn.create(&JobPath::Necessary, "", CreateMode::Persistent);
    Proposal { transaction: txn.build(), purpose: Purpose::Request { why } }
}

impl JobEngine {
    /// The items are assigned, or some of them.
    pub(in crate::engine) fn on_resharded(&mut self, sharding: Sharding) {
        let Sharding { basis, pinned, moved: moved_now, untriggered, rest } = sharding;
        self.tell_left_out(untriggered);
        let before = self.leadership.term.as_mut().and_then(|term| term.in_part.take());
        let mut moved = before.map(|in_part| in_part.moved).unwrap_or_default();
        moved.extend(moved_now);
        if let Some(wanted) = rest {
            if let Some(term) = &mut self.leadership.term {
                term.in_part = Some(Box::new(InPart { basis, wanted, moved }));
            }
            return;
        }
        if let Some(term) = &mut self.leadership.term {
            term.basis = Some(basis);
            term.pinned.clone_from(&pinned);
        }
        self.tell(Notice::Resharded { moved, pinned: pinned.into_iter().collect() });
    }
}
