//! Looks at the hosts: what is wrong with the instance of each, and until when that excuses.

use std::time::Duration;

use super::super::Scene;
use super::{Cause, Duties, MOMENT, decides_alike, engine_of, runs};
use crate::registry::layout::{JobPath, ServerStatus};
use crate::testing::sim::{EPOCH, FAR_OFF, Host, Millis, Process};

#[derive(Debug, Default)]
pub(super) struct HostState {
    pub(super) life: u64,
    pub(super) offset: i64,
    pub(super) ill_until: Millis,
    /// The latest time that its clock has shown.
    pub(super) latest: i64,
    pub(super) is_enabled: bool,
    /// When its server was disabled last, or something ran on it: until then its fires did not look at the assignment.
    pub(super) disabled_at: Millis,
    pub(super) busy_at: Millis,
    /// When it was that.
    pub(super) latest_at: Millis,
    /// What its clock showed at most before it was set back last, and when that was.
    pub(super) set_back: Option<(i64, Millis)>,
    /// Its server was disabled until then, by its clock, as far as it may know: it decides against fires that came by then.
    pub(super) declines_until: i64,
    /// It went by other settings than those of the registry until then, by its clock: what it decided by them stays, also
    /// for items that come to it later.
    pub(super) out_of_date_until: i64,
    pub(super) cause: Option<Cause>,
}

impl Duties {
    pub(super) fn look_at_hosts(&mut self, scene: &Scene<'_>, latency: Millis, lagging: bool, settle: Millis) {
        let now = scene.now;
        for (number, host) in scene.hosts.iter().enumerate() {
            let state = self.hosts.entry(number).or_default();
            let wall = EPOCH + now as i64 + host.clock_offset;
            let mut cause =
                host.process.as_ref().map_or(Some(Cause::OwnerGone), |process| wrong(scene, host, process, latency));
            if lagging && host.process.as_ref().is_some_and(|process| process.on_follower) {
                cause = Some(Cause::Cut);
            }
            if let Some(process) = &host.process
                && std::mem::replace(&mut state.life, process.life) != process.life
            {
                cause = Some(cause.unwrap_or(Cause::Unregistered));
            }
            // Its fires come by another time than those of the others, and are skipped.
            let limit = scene.shape.max_time_diff.map_or(FAR_OFF, |seconds| FAR_OFF.min(1_000 * i64::from(seconds)));
            if host.clock_offset.abs() + host.mono.drifted() as i64 >= limit {
                cause = Some(Cause::Clock);
            }
            if state.offset != host.clock_offset && wall < state.latest {
                state.set_back = Some((state.latest, state.latest_at));
            }
            // Fires are not due twice for a clock that goes back.
            if std::mem::replace(&mut state.offset, host.clock_offset) != host.clock_offset || wall < state.latest {
                cause = Some(cause.unwrap_or(Cause::Clock));
            }
            if wall >= state.latest {
                (state.latest, state.latest_at) = (wall, now);
            }
            let status = scene.data(&JobPath::Server(host.ip.as_str().into()));
            // What came before its clock was set back is decided on by what it went by then.
            let shown = if state.latest - wall < limit { wall.max(state.latest) } else { wall };
            state.is_enabled = status.is_some_and(|status| ServerStatus::of(status.text()) == ServerStatus::Enabled);
            if !state.is_enabled {
                state.disabled_at = now;
                state.declines_until = shown + (2 * latency + MOMENT) as i64;
            }
            if host.process.as_ref().is_some_and(runs) {
                state.busy_at = now;
            }
            let engine = host.process.as_ref().and_then(engine_of).filter(|engine| engine.configuration().is_some());
            if engine.is_some_and(|engine| !decides_alike(engine, scene)) {
                state.out_of_date_until = shown + MOMENT as i64;
            }
            if let Some(cause) = cause {
                state.cause = Some(cause);
                state.ill_until = state.ill_until.max(now + settle);
            }
        }
    }
}

impl HostState {
    /// How late a fire is at least by what this host saw until then, in milliseconds: a fire that came before the clock was
    /// set back is open for longer than the clock says.
    pub(super) fn lateness(&self, at: i64, then: Millis) -> i64 {
        let by_clock = EPOCH + then as i64 + self.offset - at;
        let since_it_came = self.set_back.filter(|(latest, _)| at <= *latest);
        let since_it_came = since_it_came.map(|(latest, shown_at)| latest - at + then.saturating_sub(shown_at) as i64);
        since_it_came.map_or(by_clock, |since| since.max(by_clock))
    }
}

/// What is wrong with a process now.
fn wrong(scene: &Scene<'_>, host: &Host, process: &Process, latency: Millis) -> Option<Cause> {
    let Some(engine) = engine_of(process) else { return Some(Cause::EngineGone) };
    let node = scene.node(&JobPath::Instance(engine.instance().clone()));
    let is_registered = node.is_some_and(|node| node.stat.ephemeral_owner == process.session);
    let (shown, longest) = (host.now(scene.now).mono, Duration::from_millis(2 * latency + 100));
    // After answers that did not come it asks again after growing pauses.
    let waits_long =
        process.outstanding.iter().any(|sent| sent.at.mono + longest < shown) || engine.pauses_until() > Some(shown);
    // Without monitoring nothing begins before the session is proven, and a proof may be too old when it comes, also by a
    // clock that is too fast.
    let is_proof_late = !scene.shape.monitored && engine.proof_lasts() <= Duration::from_millis(2 * latency) * 21 / 20;
    match () {
        () if process.is_frozen() => Some(Cause::Frozen),
        () if process.connection.is_none() => Some(Cause::Cut),
        () if process.leaving => Some(Cause::Leaving),
        () if !is_registered => Some(Cause::Unregistered),
        () if waits_long => Some(Cause::AnswerLost),
        () if is_proof_late => Some(Cause::Slow),
        () => None,
    }
}
