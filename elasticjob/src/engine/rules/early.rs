//! Fires that came by a clock far ahead and fell into a run.

use super::Step;
use crate::clock::Now;
use crate::engine::engine::JobEngine;
use crate::engine::state::fires::Missed;
use crate::registry::mirror::Unread;

/// Lets go of fires that fell into a run and came only by a clock far ahead: they come again at their time, and what is
/// written about them does not count. Where that is not certain, the instance asks for the server's time.
pub(super) fn let_go(engine: &mut JobEngine, now: Now) -> Result<Step, Unread> {
    let is_early = fallen_into_runs(engine).any(|at| engine.is_far_ahead(now, at));
    if !is_early || !engine.is_registered() {
        return Ok(Step::Pass);
    }
    if engine.needs_server_time(now) {
        return Ok(Step::Write(engine.ask_server_time()));
    }
    let early = fallen_into_runs(engine).filter(|at| engine.is_far_ahead(now, *at)).chain(engine.fires.early).min();
    engine.fires.early = early;
    engine.forget_early(|engine, at| engine.is_far_ahead(now, at));
    Ok(Step::Pass)
}

/// The fires that fell into runs here.
fn fallen_into_runs(engine: &JobEngine) -> impl Iterator<Item = i64> {
    let missed = engine.fires.missed.map(Missed::at);
    let skipped = engine.runs.iter().filter_map(|run| run.skipped);
    missed.into_iter().chain(engine.fires.missed_items.values().copied()).chain(skipped)
}
