//! Cancelling runs because an operator wants their end.

use super::Step;
use crate::clock::Now;
use crate::engine::action::Action;
use crate::engine::engine::JobEngine;
use crate::engine::notice::Notice;
use crate::engine::planted::Bug;
use crate::engine::state::losses::Loss;
use crate::engine::state::proposal::{Proposal, Purpose};
use crate::engine::state::runs::Stage;
use crate::engine::txn::JobTransaction;
use crate::fire::{Attempt, CancelRequest, FireRecord, FireState, ItemEnd};
use crate::ident::ShardingItem;
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::mirror::{Unread, read_known};

/// Cancels the runs here whose records have the request of an operator. The grace is that of every run that is cut off.
/// What was begun and waits for listeners is cancelled as soon as it has started.
pub(super) fn cancel(engine: &mut JobEngine, now: Now) -> Result<Step, Unread> {
    if engine.planted.has(Bug::IgnoredCancel) {
        return Ok(Step::Pass);
    }
    let asked = engine.runs.iter().flat_map(|run| run.items.iter()).filter_map(|(item, run)| {
        let concerns = match &run.stage {
            Stage::Executing | Stage::AskedToStop => true,
            Stage::Ended { end, .. } => end.state == FireState::Cancelled,
            Stage::Held { .. } | Stage::Cancelled { .. } | Stage::Aborted => false,
        };
        run.attempt.as_ref().filter(|_| concerns).map(|attempt| request_for(engine, *item, attempt))
    });
    let (asked, complete): (Vec<Option<_>>, _) = read_known(asked);
    for (item, request) in asked.into_iter().flatten() {
        cancel_item(engine, now, item, request);
    }
    complete.map(|()| Step::Pass)
}

fn request_for(
    engine: &JobEngine,
    item: ShardingItem,
    attempt: &Attempt,
) -> Result<Option<(ShardingItem, CancelRequest)>, Unread> {
    let Some(known) = engine.mirror.need(&JobPath::fire(item))? else { return Ok(None) };
    // Looked at after every event while runs go on: the record is parsed once, and not copied.
    let record = known.parsed(FireRecord::parse);
    Ok(record.cancel_request(attempt).map(|request| (item, request.clone())))
}

fn cancel_item(engine: &mut JobEngine, now: Now, item: ShardingItem, request: CancelRequest) {
    let Some(fire) = engine.runs.of_item(item).map(|run| run.key.fire) else { return };
    let abort_at = now.mono + engine.session.grace();
    let Some(run) = engine.runs.item_mut(item) else { return };
    match &mut run.stage {
        // Something else cut it off before: now it is over all the same.
        Stage::Ended { end, .. } => *end = request.end(end.clone()),
        stage => {
            *stage = Stage::Cancelled { abort_at };
            engine.tell(Notice::CancelledOnRequest { fire, item, request: request.clone() });
            engine.act(Action::CancelOnRequest { item, request });
        }
    }
}

/// Writes the end of a run that was lost after an operator cancelled it, instead of taking it over.
pub(super) fn conclude(engine: &mut JobEngine, now: Now, loss: &Loss) -> Result<Option<Proposal>, Unread> {
    let path = JobPath::fire(loss.item);
    let Some(known) = engine.mirror.need(&path)? else { return Ok(None) };
    let record = engine.read_record(known);
    let Some(begun) = record.last.as_ref() else { return Ok(None) };
    let Some(request) = begun.cancel.as_deref().cloned() else { return Ok(None) };
    let took = begun.began.map_or(0, |began| now.wall.saturating_sub(began));
    let end = ItemEnd { state: FireState::Cancelled, took: u64::try_from(took).unwrap_or(0), error: None };
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    txn.set(&path, record.end(now.wall, &end).to_bytes(), Some(known.version));
    for node in
        [JobPath::running(loss.item), JobPath::FailoverItem(loss.item), JobPath::Item(loss.item, ItemNode::Failovering)]
    {
        txn.delete_existing(&node);
    }
    let transaction = txn.build();
    let (fire, item, from) = (loss.fire, loss.item, loss.from.clone());
    Ok(Some(Proposal { transaction, purpose: Purpose::Conclude { fire, item, from, request } }))
}
