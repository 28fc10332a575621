//! The timers of an engine: when to ask it again.

use std::time::Duration;

use super::engine::JobEngine;
use super::state::listener_round::Round;
use super::state::membership::Phase;
use super::state::runs::{Run, Stage};
use super::state::session::ProvenUntil;
use crate::job_status::NextTimer;

/// 100 years. No process lives longer: a limit beyond this counts as no limit, and the engine can add times to the
/// limits below it.
pub(crate) const AGES: Duration = Duration::from_hours(24 * 36_500);

/// How often the engine looks at a clock that is too far off.
const CLOCK_LOOK: Duration = Duration::from_secs(1);

/// The reasons why an engine has to look again at some time, though nothing happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Timer {
    /// A scheduled fire is due.
    Fire,
    /// A fire of the jobs before this one that came by a clock that was ahead is decided.
    Ahead,
    /// A fire of the jobs before this one that waits for the fire before it is decided.
    Following,
    /// A re-run is decided.
    Rerun,
    /// The open fire stops waiting for the assignment of its items.
    Hold,
    /// The open fire is over.
    Close,
    /// The proof of the session is renewed while something runs.
    Renew,
    /// The session is no longer proven: what runs is cancelled.
    Deadline,
    /// What was cancelled is dropped.
    Abort,
    /// A shutdown cuts off what runs.
    CutOff,
    /// Leaving goes on without runs that do not end.
    LastMoment,
    /// Leaving ends without an answer of the registry center.
    GiveUp,
    /// The ends of items are written, though others of their run go on.
    Finish,
    /// A listener round goes on without what it waits for, or a call of it is dropped.
    Round,
    /// The registry center is asked again after it failed.
    Retry,
    /// The turn of this instance to take over an item.
    Takeover,
    /// The leader looks at everything again.
    Reconcile,
    /// The leader deletes servers without instances.
    IdleServers,
    /// Sharding is requested again, as the leader seems to have lost the request.
    Rerequest,
    /// This instance sweeps up what its leader left behind.
    Sweep,
    /// A manual trigger is written though not all items are assigned.
    Trigger,
    /// A manual trigger that could not be written is given up.
    Patience,
    /// A clock that is too far off is looked at again.
    Clock,
}

impl Timer {
    /// What it is for, for the status.
    fn what(self) -> &'static str {
        match self {
            Self::Fire => "a scheduled fire",
            Self::Ahead => "a fire that other jobs began before its time is decided",
            Self::Following => "a fire that waits for the one before it is decided",
            Self::Rerun => "a re-run is decided",
            Self::Hold => "the fire no longer waits for the assignment of its items",
            Self::Close => "the fire may not begin any more",
            Self::Renew => "the session is proven again for the runs",
            Self::Deadline => "the runs are cancelled unless the session is proven",
            Self::Abort => "cancelled runs are dropped",
            Self::CutOff => "the shutdown cancels the runs",
            Self::LastMoment => "the shutdown goes on without runs that do not end",
            Self::GiveUp => "the job leaves without an answer of the registry center",
            Self::Finish => "ends of items are written",
            Self::Round => "listeners are waited for no longer",
            Self::Retry => "the registry center is asked again",
            Self::Takeover => "the turn to take over an item",
            Self::Reconcile => "the leader reads all nodes of the job",
            Self::IdleServers => "the leader deletes servers without instances",
            Self::Rerequest => "sharding is requested again",
            Self::Sweep => "this instance deletes what the leader left behind",
            Self::Trigger => "a manual trigger is written though not all items are assigned",
            Self::Patience => "a manual trigger that could not be written is given up",
            Self::Clock => "the clock is compared again",
        }
    }
}

/// A time by one of the two clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    Wall(i64),
    Mono(Duration),
}

/// The time at which an engine has to be asked again: the earlier of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeout {
    /// By the wall clock, in milliseconds since 1970.
    pub wall: Option<i64>,
    /// By the clock that never steps.
    pub mono: Option<Duration>,
}

impl JobEngine {
    /// Until when the session is proven, whether items run or not.
    pub fn proven_until(&self) -> ProvenUntil {
        self.session.proven_until()
    }

    /// The latest time to send a [`Event::Tick`](super::Event::Tick).
    pub fn poll_timeout(&self) -> Timeout {
        let mut next = Timeout { wall: None, mono: None };
        for (_, when) in self.timers() {
            match when {
                When::Wall(at) => next.wall = Some(next.wall.map_or(at, |earlier| earlier.min(at))),
                When::Mono(at) => next.mono = Some(next.mono.map_or(at, |earlier| earlier.min(at))),
            }
        }
        next
    }

    /// All timers that run, the earliest first, in the place of those before.
    pub(super) fn next_timers(&self, next: &mut Vec<NextTimer>) {
        next.clear();
        let Some(seen) = self.seen else { return };
        // Timers of the clock that never steps are due after the time that is left by it now.
        let left = |at: Duration| i64::try_from(at.saturating_sub(seen.mono).as_millis()).unwrap_or(i64::MAX);
        let timer = |(timer, when): (Timer, When)| match when {
            When::Wall(at) => NextTimer::new(at, timer.what()),
            When::Mono(at) => NextTimer::new(seen.wall.saturating_add(left(at)), timer.what()),
        };
        for timer in self.timers().map(timer) {
            // Both clocks watch the deadline of the session: the earlier one counts.
            match next.iter_mut().find(|known| known.what == timer.what) {
                Some(known) => known.at = known.at.min(timer.at),
                None => next.push(timer),
            }
        }
        next.sort_by_key(|timer| timer.at);
    }

    /// All timers that run. The engine has looked at all that was due when it was asked last: for that it waits for an
    /// event now, not for time. A fire stays due until it is looked at.
    fn timers(&self) -> impl Iterator<Item = (Timer, When)> {
        let seen = self.seen;
        let runs = self.phase != Phase::Stopped;
        let mono = self.mono_timers().filter(move |(_, at)| seen.is_none_or(|seen| *at > seen.mono));
        let wall = self
            .wall_timers()
            .filter(move |(timer, at)| *timer == Timer::Fire || seen.is_none_or(|seen| *at > seen.wall));
        let mono = mono.map(|(timer, at)| (timer, When::Mono(at)));
        let wall = wall.map(|(timer, at)| (timer, When::Wall(at)));
        mono.chain(wall).filter(move |_| runs)
    }

    fn mono_timers(&self) -> impl Iterator<Item = (Timer, Duration)> {
        let (executing, uncancelled) = (self.is_executing(), self.runs.iter().any(Run::is_uncancelled));
        let (cut_at, give_up_at) = match self.phase {
            Phase::Leaving { cut_at, give_up_at } => (Some(cut_at), give_up_at),
            _ => (None, None),
        };
        let open = self.fires.open.as_deref();
        let term = self.leadership.term.as_ref();
        let seen = self.seen.map(|now| now.mono);
        let is_round_waiting = self.runs.rounds().any(|round| round.waiting().is_some());
        let single = [
            (Timer::Hold, open.map(|open| open.hold_until)),
            (Timer::Close, open.and_then(|open| open.closes_at)),
            (Timer::Renew, self.session.renew_at().filter(|_| executing)),
            (Timer::Deadline, self.session.deadline().filter(|_| uncancelled)),
            (Timer::CutOff, cut_at.filter(|_| uncancelled)),
            (Timer::LastMoment, cut_at.filter(|_| executing).map(|cut_at| self.last_moment(cut_at))),
            (Timer::GiveUp, give_up_at),
            (Timer::Retry, self.link.retry.not_before),
            (Timer::Takeover, self.fires.losses.next_turn(seen)),
            (Timer::Reconcile, self.leadership.reconcile_at.filter(|_| term.is_some())),
            (Timer::IdleServers, term.and_then(|term| term.idle_servers.due())),
            (Timer::Rerequest, self.leadership.rerequest.due_at()),
            (Timer::Following, self.dependencies.leaves_time.filter(|_| term.is_some()).map(|(_, until)| until)),
            (Timer::Rerun, self.dependencies.reruns_settle.filter(|_| term.is_some())),
            (Timer::Round, self.dependencies.released_until.filter(|_| is_round_waiting)),
            (Timer::Sweep, self.leadership.unswept),
            (Timer::Patience, self.patience_ends()),
            (Timer::Trigger, seen.and_then(|seen| self.assignment_ends(seen))),
            (Timer::Clock, seen.filter(|_| self.clock.is_off()).map(|seen| seen + CLOCK_LOOK)),
        ];
        let aborts = self.runs.items().filter_map(|item| match item.stage {
            Stage::Cancelled { abort_at } => Some((Timer::Abort, abort_at)),
            _ => None,
        });
        let finish =
            self.runs.iter().filter_map(|run| run.finish_at(self.begins_more(run.key))).map(|at| (Timer::Finish, at));
        let rounds = self.runs.rounds().flat_map(Round::times).map(|at| (Timer::Round, at));
        let single = single.into_iter().filter_map(|(timer, at)| Some((timer, at?)));
        single.chain(aborts).chain(finish).chain(rounds)
    }

    fn wall_timers(&self) -> impl Iterator<Item = (Timer, i64)> {
        let (executing, uncancelled) = (self.is_executing(), self.runs.iter().any(Run::is_uncancelled));
        let single = [
            (Timer::Fire, self.fires.calendar.next().filter(|_| self.watches_calendar())),
            (Timer::Ahead, self.dependencies.undecided.filter(|_| self.leadership.term.is_some())),
            // The other clock may stand still with the machine.
            (Timer::Deadline, self.session.wall_deadline().filter(|_| uncancelled)),
            (Timer::Abort, self.session.wall_drop_at().filter(|_| executing)),
        ];
        single.into_iter().filter_map(|(timer, at)| Some((timer, at?)))
    }
}
