//! Finding out the outcome of a begin whose answer got lost, or came too late to start anything.

use super::Step;
use crate::clock::Now;
use crate::engine::engine::JobEngine;
use crate::engine::notice::Notice;
use crate::engine::planted::Bug;
use crate::engine::state::fires::Unresolved;
use crate::engine::state::membership::Phase;
use crate::engine::state::open_fire::OpenFire;
use crate::engine::state::proposal::BeginPlan;
use crate::engine::state::runs::{BegunItem, Stage};
use crate::fire::{CancelReason, FireState, ItemEnd};
use crate::ident::ShardingItem;
use crate::registry::Zxid;
use crate::registry::layout::JobPath;
use crate::registry::mirror::{Known, Unread, read_found};

/// Items whose record names the attempt were begun. In the session of the attempt their marks stand, and this instance
/// starts them, whichever instance owns them by now. In another session the marks are gone, and [`begin`](super::begin)
/// begins them again as long as the fire is open.
pub(super) fn resolve(engine: &mut JobEngine, now: Now) -> Result<Step, Unread> {
    let Some(unresolved) = engine.fires.unresolved.clone() else { return Ok(Step::Pass) };
    let begun = begun_items(engine, &unresolved)?;
    let same_session = engine.session.connected().is_some_and(|session| unresolved.attempt.is_of(session));
    if same_session && !begun.is_empty() {
        if matches!(engine.phase, Phase::Leaving { .. }) {
            engine.fires.unresolved = None;
            cut_off(engine, now, &unresolved, &begun);
            return Ok(Step::Pass);
        }
        if !engine.session.is_proven(now) {
            engine.prove();
            return Ok(Step::Pass);
        }
        if engine.needs_server_time(now) {
            return Ok(Step::Write(engine.ask_server_time()));
        }
        if is_refused_by_clock(engine, now, &unresolved, &begun) {
            engine.fires.unresolved = None;
            return Ok(Step::Pass);
        }
        let items = begun.into_iter().map(|(item, token)| (item, Some(token))).collect();
        engine.start_items(now, unresolved.key, Some(&unresolved.attempt), items);
    }
    engine.fires.unresolved = None;
    let of_open = |open: &&mut OpenFire| open.key == unresolved.key;
    if !same_session && engine.planted.has(Bug::DroppedUnresolved) {
        engine.fires.open = None;
    }
    if let Some(open) = engine.fires.open.as_deref_mut().filter(of_open).filter(|_| !same_session) {
        open.abandoned = Some(unresolved.attempt);
    }
    Ok(Step::Pass)
}

/// The items whose begin went through, with their tokens.
fn begun_items(engine: &JobEngine, unresolved: &Unresolved) -> Result<Vec<(ShardingItem, Zxid)>, Unread> {
    let begun = unresolved.items.iter().map(|item| {
        let is_begun = |known: &&Known| {
            let record = engine.read_record(known);
            record.running().is_some() && record.is_attempt(&unresolved.attempt)
        };
        let known = engine.mirror.need(&JobPath::fire(*item))?.filter(is_begun);
        Ok(known.map(|known| (*item, known.mzxid)))
    });
    read_found(begun)
}

fn is_refused_by_clock(
    engine: &mut JobEngine,
    now: Now,
    unresolved: &Unresolved,
    begun: &[(ShardingItem, Zxid)],
) -> bool {
    let Unresolved { key, attempt, .. } = unresolved.clone();
    let items = begun.iter().map(|(item, _)| *item).collect();
    engine.is_refused_by_clock(now, &BeginPlan { key, attempt: Some(attempt), items, from: None, is_whole: true })
}

/// The instance leaves: the items end before they were started.
fn cut_off(engine: &mut JobEngine, now: Now, unresolved: &Unresolved, begun: &[(ShardingItem, Zxid)]) {
    let end =
        ItemEnd { state: FireState::Cancelled, took: 0, error: Some("the instance left before it started".into()) };
    for (item, _) in begun {
        let stage = Stage::Ended { at: now.mono, end: end.clone() };
        let item_run = BegunItem { attempt: Some(unresolved.attempt.clone()), stage };
        engine.runs.of_fire(unresolved.key).items.insert(*item, item_run);
    }
    let items = begun.iter().map(|(item, _)| *item).collect();
    engine.tell(Notice::NotStarted { key: unresolved.key, items, reason: CancelReason::Shutdown });
}
