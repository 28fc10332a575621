//! Fires that fall into a run, for own items that are not part of that run any more, or never were.

use super::Step;
use crate::clock::Now;
use crate::engine::engine::JobEngine;
use crate::engine::state::proposal::{Proposal, Purpose};
use crate::engine::txn::JobTransaction;
use crate::ident::ShardingItem;
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::mirror::Unread;

/// Writes that such a fire was skipped, where others wait for these items to begin it: the once-listeners of the instances
/// that began that fire, and the leader of a job whose items follow those of another job, before it decides on the next
/// fire. For items that run, their finish writes it. The runs of the other items are over, they were left out of that fire,
/// or they moved here during the run. Items that ended here and moved on are for their owner to begin.
pub(super) fn note(engine: &mut JobEngine, _: Now) -> Result<Step, Unread> {
    let Some(run) = engine.runs.regular() else { return Ok(Step::Pass) };
    let has_once = run.round.as_ref().is_some_and(|round| round.plan.iter().any(|spec| spec.once.is_some()));
    let is_awaited = has_once || engine.follows_items();
    let Some(at) = run.skipped.filter(|_| is_awaited && engine.is_registered()) else { return Ok(Step::Pass) };
    let total = engine.configuration.in_force.as_ref().map_or(0, |configuration| configuration.sharding_total_count());
    let (mine, _) = engine.own_items(total)?;
    let items: Vec<ShardingItem> = mine.into_iter().filter(|item| engine.runs.item(*item).is_none()).collect();
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    for item in items {
        // The other items follow in the next transaction.
        if txn.is_full() {
            break;
        }
        let path = JobPath::fire(item);
        let Ok(Some(known)) = engine.mirror.need(&path) else { continue };
        let record = engine.read_record(known);
        let is_marked = engine.mirror.exists(&JobPath::Item(item, ItemNode::Misfire));
        let skipped = record.skip_in_run(at, is_marked);
        if skipped.through != record.through {
            txn.set(&path, skipped.to_bytes(), Some(known.version));
            // The missed fire is an earlier one, which no instance makes up for any more.
            if skipped.to_make_up().is_none() {
                txn.delete_existing(&JobPath::Item(item, ItemNode::Misfire));
            }
        }
    }
    let transaction = txn.build();
    if transaction.is_empty() {
        return Ok(Step::Pass);
    }
    Ok(Step::Write(Proposal { transaction, purpose: Purpose::Skip }))
}
