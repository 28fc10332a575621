//! Reconciling: at an interval the leader discards its view of the job and looks at everything again.

use std::time::Duration;

use super::Step;
use crate::clock::Now;
use crate::engine::engine::JobEngine;
use crate::engine::notice::Notice;
use crate::engine::planted::Bug;
use crate::engine::state::leadership::IdleServers;
use crate::registry::mirror::Unread;

/// How long it gives way to a fire that has come.
const GIVES_WAY: Duration = Duration::from_secs(3);
/// How long it does so where fire follows on fire.
const GIVES_WAY_AT_MOST: Duration = Duration::from_secs(10);

/// Lists the nodes of the job again. It forgets the basis of the last assignment, and that all marks were found to be
/// of live runs. The rules that repair a fault at any other time repair it then.
///
/// Nothing begins until everything is listed, so a fire that has come is looked at first.
pub(super) fn reconcile(engine: &mut JobEngine, now: Now) -> Result<Step, Unread> {
    let interval = engine.reconcile_interval().filter(|_| !engine.planted.has(Bug::BlindTrust));
    let Some(interval) = interval else {
        engine.leadership.reconcile_at = None;
        return Ok(Step::Pass);
    };
    let at = match engine.leadership.reconcile_at {
        // Many jobs start together; they need not reconcile together.
        None => now.mono + interval / 2 + interval / 500 * u32::from(engine.identity.suffix % 250),
        Some(at) => at.min(now.mono + interval),
    };
    // While another instance leads, the time does not pass here: the first fires of a new leader are looked at first, too.
    let at = if engine.leadership.term.is_none() { at.max(now.mono) } else { at };
    engine.leadership.reconcile_at = Some(at);
    let fire = engine.fires.open.as_ref().filter(|open| !open.looked);
    let due = fire.map_or(at, |open| (at.max(open.since) + GIVES_WAY).min(at + GIVES_WAY_AT_MOST));
    let Some(leadership) = engine.leadership.term.as_mut().filter(|_| now.mono >= due) else { return Ok(Step::Pass) };
    leadership.basis = None;
    leadership.idle_servers = IdleServers::Unknown;
    engine.leadership.reconcile_at = Some(now.mono + interval);
    engine.fires.losses.suspect();
    engine.mirror.relist();
    engine.tell(Notice::Reconciling);
    Ok(Step::Stop)
}

impl JobEngine {
    /// How often the leader reconciles; `None` when that is switched off.
    fn reconcile_interval(&self) -> Option<Duration> {
        let minutes = self.configuration.in_force.as_ref()?.reconcile_interval_minutes();
        u64::try_from(minutes).ok().filter(|minutes| *minutes > 0).map(|minutes| Duration::from_secs(60 * minutes))
    }
}
