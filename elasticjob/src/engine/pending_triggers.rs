//! Manual triggers that were asked for here and are not written yet.

use std::time::Duration;

use super::action::{Action, TriggerAnswer};
use super::engine::JobEngine;
use super::event::{Now, TriggerId};

/// How long a trigger waits to be written. The caller has given up by then, and does not expect the job to run when the
/// registry center is back some day.
const PATIENCE: Duration = Duration::from_secs(10);

/// A manual trigger whose answer a caller in this process waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PendingTrigger {
    id: TriggerId,
    until: Duration,
}

impl PendingTrigger {
    pub(super) fn at(id: TriggerId, now: Duration) -> Self {
        Self { id, until: now + PATIENCE }
    }
}

impl JobEngine {
    /// Answers all triggers that wait.
    pub(super) fn answer_triggers(&mut self, answer: &TriggerAnswer) {
        let asked = std::mem::take(&mut self.triggers);
        self.answer(asked, answer);
    }

    pub(super) fn answer(&mut self, asked: impl IntoIterator<Item = PendingTrigger>, answer: &TriggerAnswer) {
        for PendingTrigger { id, .. } in asked {
            self.act(Action::AnswerTrigger(id, answer.clone()));
        }
    }

    /// Gives up the triggers that were not written in time because the registry center was not reached.
    pub(super) fn keep_patience(&mut self, now: Now) {
        let (late, waiting): (Vec<PendingTrigger>, _) =
            self.triggers.drain(..).partition(|asked| now.mono >= asked.until);
        self.triggers = waiting;
        let why =
            format!("the registry center was not reached within {} s; nothing will run for it", PATIENCE.as_secs());
        self.answer(late, &TriggerAnswer::Registry(why));
    }

    /// When the next of the triggers is given up.
    pub(super) fn patience_ends(&self) -> Option<Duration> {
        self.triggers.iter().map(|asked| asked.until).min()
    }
}
