//! Runs that an engine leaves behind when it ends before they do: its coordination ended by a bug, or code that cannot
//! be stopped goes on. Such a run belongs to the process as long as its code goes on, whichever engine coordinates the
//! job there: another engine in the same session must not begin the item meanwhile.

use std::time::Duration;

use super::engine::JobEngine;
use super::planted::Bug;
use super::state::configuration::Configuration;
use super::state::left_run::LeftRun;
use super::state::membership::{Identity, Phase};
use super::state::runs::{BegunItem, Stage};
use crate::clock::Now;

impl JobEngine {
    /// The identity of this engine.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Whether this engine, which has stopped, leaves code that goes on, or nodes whose deletion the registry center
    /// did not answer.
    pub fn leaves_something(&self) -> bool {
        if self.membership.gave_up {
            return !self.planted.has(Bug::LeftUnanswered);
        }
        !self.membership.abandoned.is_empty()
    }

    /// The runs that began here and did not come to their end, as this engine leaves them.
    pub fn left_runs(&self) -> Vec<LeftRun> {
        let is_early = |at: &i64| self.seen.is_some_and(|now| self.is_far_ahead(now, *at));
        let left = self.runs.iter().flat_map(|run| run.items.iter().map(|(item, of)| LeftRun::of(run, *item, of)));
        let left = left.map(|left| LeftRun { skipped: left.skipped.filter(|at| !is_early(at)), ..left });
        left.chain(self.membership.abandoned.iter().cloned()).collect()
    }

    /// The engine that takes the place of this one in the same process, where the coordination of the job starts again.
    /// It takes over only the settings of this one, the time since which fires may be unattended, and the request to
    /// leave: an operator who removed the instance, or a program that ends, asks only once.
    pub fn successor(&self, identity: Identity) -> Self {
        // The check counts the namespace already.
        let Configuration { local, strategies, listeners, check, bound, .. } = &self.configuration;
        let mut next = Self::new(identity, local.clone(), strategies.clone());
        next = next.with_listeners(listeners.clone()).with_check(check.clone());
        next.mirror = self.mirror.unread();
        next.configuration.bound = bound.clone();
        next.planted = self.planted;
        next.large_group = self.large_group;
        if self.membership.session.is_some() {
            next.membership.is_back = true;
            next.membership.joining_since = self.seen.map(|now| now.wall);
        }
        if let Phase::Leaving { cut_at, .. } = self.phase
            && !self.planted.has(Bug::ForgottenLeaving)
        {
            next.start_leaving(cut_at);
        }
        next
    }

    /// The time at which a run is dropped that is cut off now: after its grace, and not later than its session lets it go on.
    pub fn drop_at(&self, now: Now) -> Duration {
        self.session.drop_at(now)
    }

    /// Takes over runs of an earlier engine of the job in this process. Their items are busy until they end; then this
    /// engine writes how they ended.
    pub fn take_left_runs(&mut self, left: Vec<LeftRun>) {
        if self.planted.has(Bug::SessionForEngine) {
            return;
        }
        for LeftRun { item, key, attempt, skipped, end } in left {
            let stage = match end {
                None => Stage::Aborted,
                Some(end) => Stage::Ended { at: Duration::ZERO, end },
            };
            self.runs.take_over(key, skipped, item, BegunItem { attempt, stage });
        }
    }
}
