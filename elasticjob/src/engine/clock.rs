//! The difference between the clock of this host and the clock of the registry center.
//!
//! The engine writes nothing to find it out: the answers to its own transactions say when the server applied them.
//! Between two answers the engine counts the time by the clock that does not step, so that it sees a step of the clock
//! of this host at once. It sees a step of the server's clock with the next answer; where execution is monitored, that
//! is the answer to the begin itself.

use std::time::Duration;

use super::engine::JobEngine;
use super::notice::Notice;
use super::planted::Bug;
use super::state::open_fire::OpenFire;
use super::state::proposal::{BeginPlan, Proposal, Purpose};
use super::state::runs::{BegunItem, Stage};
use super::txn::JobTransaction;
use crate::clock::Now;
use crate::config::JobConfiguration;
use crate::fire::{Fire, FireState, ItemEnd, SkipReason};
use crate::registry::layout::instance_yaml;
use crate::schedule::{TimeZone, format_rfc3339};

impl JobEngine {
    /// Whether the clocks are compared, and the server's time is not known or in doubt.
    pub(super) fn needs_server_time(&self, now: Now) -> bool {
        self.clock_limit().is_some() && self.clock.is_unsure(now)
    }

    /// Whether the clock may be too far off for a fire that came here at `since`, as far as the clocks are compared.
    pub(super) fn suspects_clock(&self, now: Now, since: Duration) -> bool {
        let limit = self.clock_limit().filter(|_| !self.planted.has(Bug::UncheckedClock));
        limit.is_some_and(|limit| self.clock.suspects(now, since, limit))
    }

    /// Whether a fire is so far ahead of the server's time that it can only have come by a wrong clock. Also true while
    /// the server's time is unknown.
    pub(super) fn is_far_ahead(&self, now: Now, at: i64) -> bool {
        self.clock_tolerance().is_some_and(|tolerance| self.clock.is_far_ahead(now, at, tolerance))
    }

    /// Whether a fire of another job is so far ahead of the clock of this host, or of the server's time where that is known,
    /// that it can only have come by a wrong clock.
    pub(super) fn has_not_come(&self, now: Now, at: i64) -> bool {
        let Some(tolerance) = self.clock_tolerance() else { return false };
        let by_server = || !self.clock.is_unsure(now) && self.clock.is_far_ahead(now, at, tolerance);
        at > now.wall.saturating_add(tolerance) || by_server()
    }

    /// The difference between the clocks in milliseconds, when it is more than the configuration allows.
    pub(super) fn check_clock(&mut self, now: Now) -> Option<i64> {
        let limit = self.clock_limit().filter(|_| !self.planted.has(Bug::UncheckedClock))?;
        let excess = self.clock.excess(now, limit);
        if self.clock.found(excess.is_some()) {
            self.tell(match excess {
                Some(difference) => Notice::ClockOff { difference, limit },
                None => Notice::ClockRight,
            });
        }
        excess
    }

    /// The clock of this host was far ahead and is not any more: fires that came too early by it come again at their
    /// time.
    pub(super) fn follow_clock_back(&mut self, now: Now) {
        if self.clock.is_off() {
            self.check_clock(now);
        }
        let Some(tolerance) = self.clock_tolerance() else { return };
        let is_ahead = |at: i64| at > now.wall.saturating_add(tolerance);
        // The instance registered by the wrong clock: fires that come from now on did not come before it joined.
        if self.membership.joining_since.is_some_and(is_ahead) {
            self.membership.joining_since = Some(now.wall);
        }
        // A fire that the engine let go of comes again, however little ahead it is by the time the clock is set right.
        let comes_again = self.fires.early.is_some_and(|at| now.wall < at);
        let has_come = |at: i64| !self.clock.is_far_ahead(now, at, 0);
        if self.fires.early.is_some_and(has_come) {
            self.fires.early = None;
        }
        let is_far_ahead = self.fires.calendar.is_ahead(now.wall, tolerance);
        if !(comes_again || is_far_ahead) || self.planted.has(Bug::KeptCalendar) {
            return;
        }
        self.fires.early = None;
        let configuration = self.configuration.in_force.clone();
        let schedule = configuration.as_deref().and_then(JobConfiguration::schedule);
        let is_recorded = self.configuration.is_monitored();
        self.fires.calendar.go_back(schedule, now.wall, is_recorded);
        self.fires.reported.forget();
        self.forget_early(|_, at| is_ahead(at));
        let came_early = |open: &mut Box<OpenFire>| matches!(open.key.fire, Fire::Scheduled(at) if is_ahead(at));
        self.fires.undecided.take_if(|at| is_ahead(*at));
        self.fires.standing.take_if(came_early);
        // The engine reports nothing about this fire: it comes again.
        self.fires.open.take_if(came_early);
    }

    /// Forgets fires that fell into a run and came too early by a wrong clock.
    pub(super) fn forget_early(&mut self, is_early: impl Fn(&Self, i64) -> bool) {
        if self.fires.missed.is_some_and(|missed| is_early(self, missed.at())) {
            self.fires.missed = None;
        }
        let mut missed = std::mem::take(&mut self.fires.missed_items);
        missed.retain(|_, at| !is_early(self, *at));
        self.fires.missed_items = missed;
        if self.fires.noted.as_ref().is_some_and(|noted| is_early(self, noted.at)) {
            self.fires.noted = None;
        }
        let mut runs = std::mem::take(&mut self.runs);
        for run in runs.iter_mut().filter(|run| run.skipped.is_some_and(|at| is_early(self, at))) {
            run.skipped = None;
        }
        self.runs = runs;
    }

    /// Why an instance with this clock may not take part.
    pub(super) fn clock_refusal(&self, now: Now, limit: Option<u32>) -> Option<String> {
        let limit = limit?;
        let difference = self.clock.excess(now, limit)?;
        let time = |wall: i64| format_rfc3339(wall, TimeZone::UTC);
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
        txn.set(&self.own_node(), instance_yaml(&self.identity.instance), None);
        Proposal { transaction: txn.build(), purpose: Purpose::AskTime }
    }

    /// Ends items that were begun and not started yet when the clock turns out to be off. Returns whether it is off.
    /// Items that are taken over are exempt: their fire was due by the clock of another instance.
    pub(super) fn is_refused_by_clock(&mut self, now: Now, plan: &BeginPlan) -> bool {
        if plan.key.is_takeover() || plan.items.is_empty() {
            return false;
        }
        let Some(difference) = self.check_clock(now) else { return false };
        let reason = SkipReason::ClockOff { difference };
        if let Some(open) = self.fires.open.as_mut().filter(|open| open.key == plan.key) {
            open.begun.extend(&plan.items);
        }
        if let Some(attempt) = &plan.attempt {
            let end = ItemEnd { state: FireState::NotRun, took: 0, error: Some(reason.to_string()) };
            for item in &plan.items {
                let stage = Stage::Ended { at: now.mono, end: end.clone() };
                let item_run = BegunItem { attempt: Some(attempt.clone()), stage };
                self.runs.of_fire(plan.key).items.insert(*item, item_run);
            }
        }
        self.tell_skip(plan.key.fire, plan.items.clone(), reason);
        true
    }
}
