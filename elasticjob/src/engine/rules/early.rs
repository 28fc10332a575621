//! Fires that a clock far ahead told, and that fell into a run.

use super::Step;
use crate::engine::engine::JobEngine;
use crate::engine::event::Now;

/// Lets go of fires that fell into a run and that only a clock far ahead told: they come again at their time, and what is
/// written of them counts for nothing. Where that is not certain, the instance asks for the time.
pub(super) fn let_go(engine: &mut JobEngine, now: Now) -> Step {
    let noted = engine.missed.iter().chain(engine.missed_items.values());
    let skipped = engine.runs.iter().filter_map(|run| run.skipped.as_ref());
    let is_early = noted.chain(skipped).any(|at| engine.is_far_ahead(now, *at));
    if !is_early || !engine.is_registered() {
        return Step::Pass;
    }
    if engine.needs_server_time(now) {
        return Step::Write(engine.ask_server_time());
    }
    engine.forget_early(|engine, at| engine.is_far_ahead(now, at));
    Step::Pass
}
