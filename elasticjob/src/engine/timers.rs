//! When an engine has to be asked again.

use std::time::Duration;

use super::engine::JobEngine;
use super::state::listener_round::Round;
use super::state::membership::Phase;
use super::state::runs::{Run, Stage};

/// 100 years. No process lives longer: a limit beyond this counts as no limit, and the engine can add times to the
/// limits below it.
pub(crate) const AGES: Duration = Duration::from_hours(24 * 36_500);

/// How often the engine looks at a clock that is too far off.
const CLOCK_LOOK: Duration = Duration::from_secs(1);

/// When an engine has to be asked again: at the earlier of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeout {
    /// By the wall clock, in milliseconds since 1970.
    pub wall: Option<i64>,
    /// By the clock that never steps.
    pub mono: Option<Duration>,
}

impl JobEngine {
    /// When to send a [`Event::Tick`](super::Event::Tick) at the latest.
    pub fn poll_timeout(&self) -> Timeout {
        if self.phase == Phase::Stopped {
            return Timeout { wall: None, mono: None };
        }
        // The engine has looked at all that was due when it was asked last: for that it waits for an event now, not for
        // time.
        let (seen, seen_wall) = (self.seen.map(|now| now.mono), self.seen.map(|now| now.wall));
        let executing = self.is_executing();
        let aborts = self.runs.items().filter_map(|item| match item.stage {
            Stage::Cancelled { abort_at } => Some(abort_at),
            _ => None,
        });
        let uncancelled = self.runs.iter().any(Run::is_uncancelled);
        let rounds = self.runs.rounds().flat_map(Round::times);
        let session = [
            executing.then(|| self.session.renew_at()).flatten(),
            uncancelled.then(|| self.session.deadline()).flatten(),
        ];
        let leave = match self.phase {
            Phase::Leaving { cut_at, give_up_at } => {
                [uncancelled.then_some(cut_at), give_up_at, executing.then(|| self.last_moment(cut_at))]
            }
            _ => [None; 3],
        };
        let open = self.fires.open.as_ref().map_or([None; 2], |open| [Some(open.hold_until), open.closes_at]);
        let reconcile = self.leadership.reconcile_at.filter(|_| self.leadership.term.is_some());
        let clock = seen.filter(|_| self.clock.is_off()).map(|seen| seen + CLOCK_LOOK);
        let others =
            [self.link.retry.not_before, self.fires.losses.next_turn(seen), reconcile, self.patience_ends(), clock];
        let finish = self.runs.iter().filter_map(Run::finish_at);
        let idle = self.leadership.term.as_ref().and_then(|leadership| leadership.idle_servers.due());
        let others = others.into_iter().chain([self.leadership.reminder.remind_at(), self.leadership.unswept, idle]);
        let times = others.chain(open).chain(session).chain(leave).flatten().chain(aborts).chain(finish).chain(rounds);
        let calendar = self.fires.calendar.next().filter(|_| self.watches_calendar());
        // The other clock may stand still with the machine.
        let cut_off = [
            uncancelled.then(|| self.session.wall_deadline()).flatten(),
            executing.then(|| self.session.wall_drop_at()).flatten(),
        ];
        let cut_off = cut_off.into_iter().flatten().filter(|time| Some(*time) > seen_wall);
        let wall = calendar.into_iter().chain(cut_off).min();
        Timeout { wall, mono: times.filter(|time| Some(*time) > seen).min() }
    }
}
