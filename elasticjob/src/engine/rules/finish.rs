//! Writing how the items of a run ended.

use super::Step;
use crate::clock::Now;
use crate::engine::engine::JobEngine;
use crate::engine::notice::Notice;
use crate::engine::planted::Bug;
use crate::engine::state::proposal::{Proposal, Purpose};
use crate::engine::state::runs::{Run, Stage};
use crate::engine::txn::JobTransaction;
use crate::fire::{Attempt, ItemEnd};
use crate::ident::ShardingItem;
use crate::registry::CreateMode;
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::mirror::{Known, Unread};

/// One transaction for all items that ended together: it writes the outcome into the records and deletes the marks.
/// With failover an item that was cut off waits from then on for an instance that takes it over.
pub(super) fn finish(engine: &mut JobEngine, now: Now) -> Result<Step, Unread> {
    let is_due = |run: &&Run| run.finish_at(engine.begins_more(run.key)).is_some_and(|at| now.mono >= at);
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    let (mut items, mut done, mut stale) = (Vec::new(), Vec::new(), Vec::new());
    'runs: for run in engine.runs.iter().filter(is_due) {
        for (item, item_run) in &run.items {
            // The other items follow in the next transaction.
            if txn.is_full() {
                break 'runs;
            }
            let Stage::Ended { end, .. } = &item_run.stage else { continue };
            let Some(attempt) = &item_run.attempt else {
                done.push(*item);
                continue;
            };
            match write_end(engine, now, &mut txn, run, *item, attempt, end)? {
                Written::Now => items.push(*item),
                Written::Before => done.push(*item),
                Written::ByAnother => stale.push((run.key.fire, *item)),
            }
        }
    }
    let transaction = txn.build();
    for (fire, item) in stale {
        engine.tell(Notice::Stale { fire, item });
        done.push(item);
    }
    if !done.is_empty() {
        engine.on_finished(now, &done);
    }
    if items.is_empty() {
        return Ok(if done.is_empty() { Step::Pass } else { Step::Again });
    }
    Ok(Step::Write(Proposal { transaction, purpose: Purpose::Finish { items } }))
}

/// By which transaction the end of an item is written.
enum Written {
    Now,
    /// An earlier one, whose answer got lost; or the record is gone with the item.
    Before,
    /// The item went on without this run.
    ByAnother,
}

/// Adds what the end of an item writes.
fn write_end(
    engine: &JobEngine,
    now: Now,
    txn: &mut JobTransaction<'_>,
    run: &Run,
    item: ShardingItem,
    attempt: &Attempt,
    end: &ItemEnd,
) -> Result<Written, Unread> {
    let path = JobPath::fire(item);
    let Some(known) = engine.mirror.need(&path)? else { return Ok(Written::Before) };
    let record = engine.read_record(known);
    if !record.is_attempt(attempt) {
        return Ok(Written::ByAnother);
    }
    if record.running().is_none() {
        return Ok(Written::Before);
    }
    let session = engine.session.connected();
    // This instance may have another id by now, as another instance has the earlier one.
    let marked_as = record.last.as_ref().map(|begun| begun.instance.as_str());
    let mark = JobPath::running(item);
    // A mark of an earlier session ends with that session; by now there may be a mark of another instance.
    let of_this_run = |known: &Known| known.owner == session || (known.owner.is_none() && known.text() == marked_as);
    let is_mine = engine.mirror.need(&mark)?.is_some_and(of_this_run);
    let is_marked = engine.mirror.exists(&JobPath::Item(item, ItemNode::Misfire));
    // An instance that leaves in a new session is not registered in it, and does not ask for the server's time before.
    let skipped = run.skipped.filter(|at| !engine.is_far_ahead(now, *at));
    let ended = record.end_and_skip(now.wall, end, skipped, is_marked);
    txn.set(&path, ended.to_bytes(), Some(known.version));
    if is_mine && !engine.planted.has(Bug::KeptMark) {
        txn.delete(&mark, None);
    }
    // The missed fire came before the one that was skipped: no instance makes up for it any more.
    if skipped.is_some() && ended.to_make_up().is_none() {
        txn.delete_existing(&JobPath::Item(item, ItemNode::Misfire));
    }
    if run.key.is_takeover() {
        txn.delete_existing(&JobPath::Item(item, ItemNode::Failover));
        txn.delete_existing(&JobPath::Item(item, ItemNode::Failovering));
    }
    // What an operator cancelled is over, also where the shutdown cut it off before that.
    if record.as_ended(end).state.is_unfinished() {
        if engine.configuration.is_failover_on() {
            txn.create_missing(&JobPath::FailoverItem(item), "", CreateMode::Persistent);
        } else {
            // Where failover was switched on, and this instance has not heard of it, another one has to take the item over.
            engine.guard_configuration(txn)?;
        }
    }
    Ok(Written::Now)
}

impl JobEngine {
    /// The ends of these items need no more writing.
    pub(in crate::engine) fn on_finished(&mut self, now: Now, items: &[ShardingItem]) {
        for run in self.runs.iter_mut() {
            for item in items {
                if let Some(Stage::Ended { end, .. }) = run.items.get(item).map(|run| &run.stage) {
                    run.finished.push((*item, end.state));
                    run.items.remove(item);
                }
            }
        }
        self.close_runs(now);
    }
}
