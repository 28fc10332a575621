//! The difference between the clock of this host and the clock of the registry center.
//!
//! The engine writes nothing to find it out: the answers to its own transactions say when the server applied them.
//! Between two answers the engine counts the time by the clock that does not step, so that it sees a step of the clock
//! of this host at once. It sees a step of the server's clock with the next answer; where execution is monitored, that
//! is the answer to the begin itself.

use std::time::Duration;

use super::engine::JobEngine;
use super::event::{ItemEnd, Now};
use super::fire::{ExecutionSource, Fire, FireState};
use super::notice::{Notice, SkipReason};
use super::planted::Bug;
use super::proposal::{Proposal, Purpose};
use super::rules::BeginPlan;
use super::run_state::{ItemRun, OpenFire, Stage};
use super::txn::JobTransaction;
use crate::config::{JobConfiguration, wire};

/// How much further one clock may go than the other, in milliseconds, before the difference is more than an error of
/// reading them.
const LEAP: i64 = 250;

/// The server's time as an answer brought it.
#[derive(Debug, Clone, Copy)]
pub(super) struct ServerTime {
    /// In milliseconds since 1970.
    at: i64,
    /// The transaction was applied after it was sent and before its answer was taken.
    sent: Duration,
    answered: Duration,
    /// The time that the clock of this host showed when the answer was taken.
    wall: i64,
}

/// The difference between the clocks, as far as it is known.
#[derive(Debug, Default)]
pub(super) struct ClockCheck {
    told: Option<ServerTime>,
    /// When the transaction was sent whose answer brought the server's time last.
    asked: Option<Duration>,
    /// Whether the last look found the clock too far off: the engine reports that once.
    off: bool,
}

impl ServerTime {
    /// How far `now` is off at least, in milliseconds; positive when the clock of this host is ahead. A slow answer makes
    /// the server's time less certain, and is not taken for a wrong clock.
    fn difference(self, now: Now) -> i64 {
        let (least, most) = self.bounds(now.mono);
        now.wall - now.wall.clamp(least, most)
    }

    /// The earliest and the latest time that the server's clock may show.
    fn bounds(self, mono: Duration) -> (i64, i64) {
        let since = |then: Duration| i64::try_from(mono.saturating_sub(then).as_millis()).unwrap_or(i64::MAX);
        (self.at + since(self.answered), self.at + since(self.sent))
    }

    /// Whether the clock of this host went further since the answer than the clock that never steps. Either the clock
    /// was set, and the answer still holds; or the machine was suspended, and it is unknown for how long.
    fn is_doubtful(self, now: Now) -> bool {
        let since = i64::try_from(now.mono.saturating_sub(self.answered).as_millis()).unwrap_or(i64::MAX);
        now.wall.saturating_sub(self.wall).saturating_sub(since) > LEAP
    }

    /// Combines this answer with a later one. The more certain one counts. Where they contradict each other, the later
    /// one counts: the server's clock was set in between.
    fn and(self, later: Self) -> Self {
        let (mine, theirs) = (self.bounds(later.answered), later.bounds(later.answered));
        let agree = mine.0 <= theirs.1 && theirs.0 <= mine.1;
        let uncertainty = |time: Self| time.answered.saturating_sub(time.sent);
        if agree && uncertainty(self) < uncertainty(later) { self } else { later }
    }
}

impl JobEngine {
    /// Takes the server's time at which an own transaction was applied.
    pub(super) fn learn_server_time(&mut self, at: i64, sent: Duration, now: Now) {
        let later = ServerTime { at, sent, answered: now.mono, wall: now.wall };
        self.clock.asked = Some(sent);
        let told = self.clock.told.filter(|told| !told.is_doubtful(now));
        self.clock.told = Some(told.map_or(later, |told| told.and(later)));
    }

    /// Whether the clocks are compared, and the server's time is not known or in doubt.
    pub(super) fn needs_server_time(&self, now: Now) -> bool {
        self.clock_limit().is_some() && self.clock.told.is_none_or(|told| told.is_doubtful(now))
    }

    /// Whether the clock may be too far off for a fire that came here at `since`. It may, where no answer brought the
    /// server's time yet; and where the clock is off by an answer from before the fire, as the server's clock may have
    /// been set since, or by an answer in doubt.
    pub(super) fn suspects_clock(&self, now: Now, since: Duration) -> bool {
        let Some(limit) = self.clock_limit().filter(|_| !self.planted.has(Bug::UncheckedClock)) else { return false };
        self.clock.told.is_none_or(|told| {
            self.clock_excess(now, limit).is_some() && (self.clock.asked < Some(since) || told.is_doubtful(now))
        })
    }

    /// Whether a fire is so far ahead of the server's time that it can only have come by a wrong clock. Also true while
    /// the server's time is unknown.
    pub(super) fn is_far_ahead(&self, now: Now, at: i64) -> bool {
        let Some(tolerance) = self.clock_tolerance() else { return false };
        self.clock.told.is_none_or(|told| at > told.bounds(now.mono).0.saturating_add(tolerance))
    }

    /// The difference between the clocks in milliseconds, when it is more than the configuration allows.
    pub(super) fn check_clock(&mut self, now: Now) -> Option<i64> {
        let limit = self.clock_limit().filter(|_| !self.planted.has(Bug::UncheckedClock))?;
        let excess = self.clock_excess(now, limit);
        if std::mem::replace(&mut self.clock.off, excess.is_some()) != excess.is_some() {
            self.tell(match excess {
                Some(difference) => Notice::ClockOff { difference, limit },
                None => Notice::ClockRight,
            });
        }
        excess
    }

    /// Whether the clock was found to be off. The engine then looks at it again each second: no event reports that it
    /// was set.
    pub(super) fn watches_clock(&self) -> bool {
        self.clock.off
    }

    /// The clock of this host was far ahead and is not any more: fires that came too early by it come again at their
    /// time.
    pub(super) fn follow_clock_back(&mut self, now: Now) {
        if self.clock.off {
            self.check_clock(now);
        }
        let Some(tolerance) = self.clock_tolerance() else { return };
        let is_ahead = |at: i64| at > now.wall.saturating_add(tolerance);
        // The instance registered by the wrong clock: fires that come from now on did not come before it joined.
        if self.membership.joining_since.is_some_and(is_ahead) {
            self.membership.joining_since = Some(now.wall);
        }
        if !self.calendar.is_ahead(now.wall, tolerance) || self.planted.has(Bug::KeptCalendar) {
            return;
        }
        let configuration = self.configuration.clone();
        let schedule = configuration.as_deref().and_then(JobConfiguration::schedule);
        let is_recorded = self.is_monitored();
        self.calendar.go_back(schedule, now.wall, is_recorded);
        self.forget_early(|_, at| is_ahead(at));
        let came_early = |open: &mut Box<OpenFire>| matches!(open.fire, Fire::Scheduled(at) if is_ahead(at));
        self.standing.take_if(came_early);
        // The engine reports nothing about this fire: it comes again.
        self.open.take_if(came_early);
    }

    /// Forgets fires that fell into a run and came too early by a wrong clock.
    pub(super) fn forget_early(&mut self, is_early: impl Fn(&Self, i64) -> bool) {
        if self.missed.is_some_and(|at| is_early(self, at)) {
            self.missed = None;
        }
        let mut missed = std::mem::take(&mut self.missed_items);
        missed.retain(|_, at| !is_early(self, *at));
        self.missed_items = missed;
        if self.noted.as_ref().is_some_and(|noted| is_early(self, noted.at())) {
            self.noted = None;
        }
        let mut runs = std::mem::take(&mut self.runs);
        for run in runs.iter_mut().filter(|run| run.skipped.is_some_and(|at| is_early(self, at))) {
            run.skipped = None;
        }
        self.runs = runs;
    }

    pub(super) fn clock_limit(&self) -> Option<u32> {
        self.configuration.as_deref().and_then(JobConfiguration::max_time_diff_seconds)
    }

    fn clock_excess(&self, now: Now, limit: u32) -> Option<i64> {
        let difference = self.clock.told?.difference(now);
        Some(difference).filter(|difference| difference.unsigned_abs() > u64::from(limit) * 1_000)
    }

    /// Why an instance with this clock may not take part.
    pub(super) fn clock_refusal(&self, now: Now, limit: Option<u32>) -> Option<String> {
        let limit = limit?;
        let difference = self.clock_excess(now, limit)?;
        let time = |wall: i64| chrono::DateTime::from_timestamp_millis(wall).unwrap_or_default().to_rfc3339();
        Some(format!(
            "the clock of this host shows {}, that of the registry center {}: {} s apart, and `max-time-diff-seconds` \
             allows {limit}; correct the clock, or allow more",
            time(now.wall),
            time(now.wall - difference),
            difference.unsigned_abs() / 1_000
        ))
    }

    /// Writes the node of the own instance again: the answer brings the server's time.
    pub(super) fn ask_server_time(&self) -> Proposal {
        let mut txn = JobTransaction::new(&self.job, &self.mirror);
        txn.set(&self.own_node(), wire::instance_yaml(&self.identity.instance), None);
        Proposal { transaction: txn.build(), purpose: Purpose::AskTime }
    }

    /// Ends items that were begun and not started yet when the clock turns out to be off. Returns whether it is off.
    /// Items that are taken over are exempt: their fire was due by the clock of another instance.
    pub(super) fn is_refused_by_clock(&mut self, now: Now, plan: &BeginPlan) -> bool {
        if plan.source == ExecutionSource::Failover || plan.items.is_empty() {
            return false;
        }
        let Some(difference) = self.check_clock(now) else { return false };
        let reason = SkipReason::ClockOff { difference };
        if let Some(open) = self.open.as_mut().filter(|open| open.fire == plan.fire && open.source == plan.source) {
            open.begun.extend(&plan.items);
        }
        if let Some(attempt) = &plan.attempt {
            let end = ItemEnd { state: FireState::NotRun, took: 0, error: Some(reason.to_string()) };
            for item in &plan.items {
                let stage = Stage::Ended { at: now.mono, end: end.clone() };
                let item_run = ItemRun { attempt: Some(attempt.clone()), stage };
                self.runs.of_fire(plan.fire, plan.source).items.insert(*item, item_run);
            }
        }
        self.tell_skip(plan.fire, plan.items.clone(), reason);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: fn(u64) -> Duration = Duration::from_secs;

    fn now(wall: i64, mono: u64) -> Now {
        Now { wall, mono: S(mono) }
    }

    /// An answer that was taken while the clock of this host was right.
    fn told(at: i64, sent: u64, answered: u64) -> ServerTime {
        ServerTime { at, sent: S(sent), answered: S(answered), wall: at }
    }

    #[test]
    fn what_was_told_is_in_doubt_when_the_clocks_of_this_host_went_apart() {
        let told = told(1_000_000, 10, 10);
        assert!(!told.is_doubtful(now(1_060_200, 70)) && !told.is_doubtful(now(900_000, 70)));
        assert!(told.is_doubtful(now(1_060_300, 70)), "suspended, or set ahead");
    }

    #[test]
    fn a_difference_goes_by_the_clock_that_does_not_step() {
        let told = told(1_000_000, 10, 10);
        assert_eq!(told.difference(now(1_000_000, 10)), 0);
        assert_eq!(told.difference(now(1_060_000, 70)), 0);
        assert_eq!(told.difference(now(1_063_000, 70)), 3_000);
        assert_eq!(told.difference(now(1_055_000, 70)), -5_000);
    }

    #[test]
    fn a_slow_answer_is_not_taken_for_a_wrong_clock() {
        // Applied at any time within four seconds: the server's clock is somewhere between 1_004 and 1_000 by now.
        let told = told(1_000_000, 10, 14);
        for wall in [1_000_000, 1_002_000, 1_004_000] {
            assert_eq!(told.difference(now(wall, 14)), 0);
        }
        assert_eq!(told.difference(now(1_004_500, 14)), 500);
        assert_eq!(told.difference(now(999_000, 14)), -1_000);
    }

    #[test]
    fn a_slow_answer_does_not_replace_what_a_quick_one_told() {
        let quick = told(1_000_000, 10, 10);
        let slow = told(1_010_000, 20, 27);
        // Three seconds behind.
        assert_eq!(quick.and(slow).difference(now(1_014_000, 27)), -3_000);
        assert_eq!(slow.difference(now(1_014_000, 27)), 0);
        // The server's clock was set meanwhile.
        let set = ServerTime { at: 2_000_000, ..slow };
        assert_eq!(quick.and(set).difference(now(2_007_500, 27)), 500);
        let quicker = told(1_010_000, 20, 20);
        assert_eq!(slow.and(told(1_020_500, 30, 31)).difference(now(1_022_000, 31)), 500);
        assert_eq!(quick.and(quicker).at, 1_010_000);
    }
}
