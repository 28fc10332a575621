//! The way in which an engine leaves: how it begins to, and how it stops.

use std::time::Duration;

use super::action::{Action, TriggerAnswer};
use super::engine::JobEngine;
use super::state::membership::Phase;
use super::state::runs::Runs;
use crate::fire::{Fire, SkipReason};

impl JobEngine {
    /// Begins to leave; a second, earlier deadline replaces the first.
    pub(super) fn start_leaving(&mut self, cut_at: Duration) {
        let cut_at = match self.phase {
            Phase::Stopped => return,
            Phase::Leaving { cut_at: before, .. } => before.min(cut_at),
            _ => cut_at,
        };
        self.phase = Phase::Leaving { cut_at, give_up_at: None };
        if let Some(open) = self.fires.open.take()
            && !open.looked
            && let Some(items) = self.not_begun(&open)
        {
            self.tell_skip(open.key.fire, items, SkipReason::Leaving);
        }
        if let Some(at) = self.fires.undecided.take() {
            self.tell_skip(Fire::Scheduled(at), vec![], SkipReason::Leaving);
        }
        self.answer_triggers(&TriggerAnswer::NotRunning);
    }

    /// Stops the engine: nothing follows. Where it stops before it has joined, it also leaves behind the runs of
    /// earlier engines of the job that go on.
    pub(super) fn stop(&mut self) {
        self.phase = Phase::Stopped;
        let left = self.left_runs();
        self.runs = Runs::default();
        self.membership.abandoned = left;
        self.answer_triggers(&TriggerAnswer::NotRunning);
        self.act(Action::Stopped);
    }
}
