//! How far the clock of this host is off from that of the registry center.
//!
//! Nothing is written to find out: answers to own transactions tell when the server applied them. Between two answers
//! the time goes on by the clock that does not step, so that a step of the clock of this host is seen at once. A step of
//! the server's clock is seen with the next answer, which is that of the begin itself where execution is monitored.

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

/// How much further one clock may go than the other, in milliseconds, before that is more than how they are read.
const LEAP: i64 = 250;

/// The server's time as an answer told it.
#[derive(Debug, Clone, Copy)]
pub(super) struct ServerTime {
    /// In milliseconds since 1970.
    at: i64,
    /// The transaction was applied after it was sent and before its answer was taken.
    sent: Duration,
    answered: Duration,
    /// What the clock of this host showed when its answer was taken.
    wall: i64,
}

/// What is known of the difference between the clocks.
#[derive(Debug, Default)]
pub(super) struct ClockCheck {
    told: Option<ServerTime>,
    /// When the transaction was sent whose answer told last.
    asked: Option<Duration>,
    /// Whether the last look found the clock too far off: that is said once.
    off: bool,
}

impl ServerTime {
    /// How far `now` is off at least, in milliseconds; positive when the clock of this host is ahead. A slow answer makes
    /// the server's time less certain, and is not taken for a wrong clock.
    fn difference(self, now: Now) -> i64 {
        let (least, most) = self.bounds(now.mono);
        now.wall - now.wall.clamp(least, most)
    }

    /// Between which times the server's clock is.
    fn bounds(self, mono: Duration) -> (i64, i64) {
        let since = |then: Duration| i64::try_from(mono.saturating_sub(then).as_millis()).unwrap_or(i64::MAX);
        (self.at + since(self.answered), self.at + since(self.sent))
    }

    /// Whether the clock of this host went further since then than the one that never steps. It was set, and what was told
    /// still holds; or the machine was suspended, and nobody knows for how long.
    fn is_doubtful(self, now: Now) -> bool {
        let since = i64::try_from(now.mono.saturating_sub(self.answered).as_millis()).unwrap_or(i64::MAX);
        now.wall.saturating_sub(self.wall).saturating_sub(since) > LEAP
    }

    /// What is known with another answer, which came later: the more certain one counts, unless they contradict each
    /// other, as the server's clock was set then.
    fn and(self, later: Self) -> Self {
        let (mine, theirs) = (self.bounds(later.answered), later.bounds(later.answered));
        let agree = mine.0 <= theirs.1 && theirs.0 <= mine.1;
        let uncertainty = |time: Self| time.answered.saturating_sub(time.sent);
        if agree && uncertainty(self) < uncertainty(later) { self } else { later }
    }
}

impl JobEngine {
    /// An own transaction was applied at this time of the server.
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

    /// Whether the clock may be too far off for a fire that came here at this time: it is so by what was told before, and the
    /// server's clock may have been set since; or nothing was told yet.
    pub(super) fn suspects_clock(&self, now: Now, since: Duration) -> bool {
        let Some(limit) = self.clock_limit().filter(|_| !self.planted.has(Bug::UncheckedClock)) else { return false };
        self.clock.told.is_none_or(|told| {
            self.clock_excess(now, limit).is_some() && (self.clock.asked < Some(since) || told.is_doubtful(now))
        })
    }

    /// Whether a fire is so far ahead of the server's time that a wrong clock must have told it, as far as is known.
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

    /// Whether the clock was found to be off. It is looked at again each second then: nothing else tells that it was set.
    pub(super) fn watches_clock(&self) -> bool {
        self.clock.off
    }

    /// The clock of this host was far ahead and is not any more: fires that it told too early come again at their time.
    pub(super) fn follow_clock_back(&mut self, now: Now) {
        if self.clock.off {
            self.check_clock(now);
        }
        let Some(tolerance) = self.clock_tolerance() else { return };
        let is_ahead = |at: i64| at > now.wall.saturating_add(tolerance);
        // Registered by the wrong clock: fires that come from now on are none from before that.
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
        // Nothing is said of it: it comes again.
        self.open.take_if(came_early);
    }

    /// Forgets fires that fell into a run, and that a wrong clock told.
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

    /// Writes the own instance anew, to be told the time of the server.
    pub(super) fn ask_server_time(&self) -> Proposal {
        let mut txn = JobTransaction::new(&self.job, &self.mirror);
        txn.set(&self.own_node(), wire::instance_yaml(&self.identity.instance), None);
        Proposal { transaction: txn.build(), purpose: Purpose::AskTime }
    }

    /// Ends what was begun and not started yet, when the clock turns out to be off; whether it is. What is taken over is
    /// none of its business: that was due by the clock of somebody else.
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

    /// An answer that the right clock of this host saw.
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
