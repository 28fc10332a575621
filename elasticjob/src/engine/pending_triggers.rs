//! Manual triggers that were asked for here and are not written yet.

use std::time::Duration;

use super::action::{Action, TriggerAnswer};
use super::engine::JobEngine;
use super::state::pending_trigger::{PendingTrigger, WRITE_LIMIT};
use crate::clock::Now;

impl JobEngine {
    /// Answers all triggers that wait.
    pub(super) fn answer_triggers(&mut self, answer: &TriggerAnswer) {
        let asked = std::mem::take(&mut self.pending_triggers);
        self.answer(asked, answer);
    }

    pub(super) fn answer(&mut self, asked: impl IntoIterator<Item = PendingTrigger>, answer: &TriggerAnswer) {
        for PendingTrigger { id, .. } in asked {
            self.act(Action::AnswerTrigger(id, answer.clone()));
        }
    }

    /// Gives up the triggers that were not written in time.
    pub(super) fn keep_patience(&mut self, now: Now) {
        let (late, waiting): (Vec<PendingTrigger>, _) =
            self.pending_triggers.drain(..).partition(|asked| now.mono >= asked.until);
        self.pending_triggers = waiting;
        let why = format!(
            "the request was not written within {} s, as the registry center was not reached or the assignment changed each time; nothing \
             will run for it",
            WRITE_LIMIT.as_secs()
        );
        self.answer(late, &TriggerAnswer::Registry(why));
    }

    /// When the next of the triggers is given up.
    pub(super) fn patience_ends(&self) -> Option<Duration> {
        self.pending_triggers.iter().map(|asked| asked.until).min()
    }

    /// When the next of the triggers is written though not all items are assigned.
    pub(super) fn assignment_ends(&self, now: Duration) -> Option<Duration> {
        self.pending_triggers.iter().map(|asked| asked.assigned_by).min().filter(|at| *at > now)
    }
}
