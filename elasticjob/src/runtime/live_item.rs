//! The run of an item whose future lives, and the cause of its failure after its end.

use std::ops::Deref;
use std::sync::Arc;

use crate::api::{Cut, RunInfo};
use crate::executor::Running;
use crate::fire::{CancelReason, CancelRequest, FireState, ItemEnd};

/// The run of an item whose future lives.
#[derive(Debug)]
pub(super) struct LiveItem {
    running: Running,
    run: Arc<RunInfo>,
    cut: Cut,
}

impl LiveItem {
    /// A run that goes on. `run` names it in the report of a failure; its context has a clone of `cut`.
    pub(super) fn new(running: Running, run: Arc<RunInfo>, cut: Cut) -> Self {
        Self { running, run, cut }
    }

    /// The means to end the run.
    pub(super) fn running(&self) -> &Running {
        &self.running
    }

    /// Asks the run to end. It can read why as soon as it is asked.
    pub(super) fn cut_off(&self, reason: CancelReason) {
        self.cut.note(reason);
        self.running.cancel();
    }

    /// Asks the run to end, as an operator wants it.
    pub(super) fn cancel_on(&self, request: CancelRequest) {
        self.cut.note_request(request);
        self.running.cancel();
    }

    /// The end of the run, as traces and the error handler get it: what an operator cancelled has failed with that cause.
    pub(super) fn end_of(&self, end: ItemEnd) -> ItemEnd {
        match self.cut.request() {
            Some(request) if end.state != FireState::Succeeded => {
                request.end(ItemEnd { state: FireState::Cancelled, ..end })
            }
            _ => end,
        }
    }

    /// The run that failed, and why. `None` when it ended well; it may also end well after it was asked to end.
    pub(super) fn ended(self, end: &ItemEnd) -> Option<(Arc<RunInfo>, String)> {
        if end.state == FireState::Succeeded {
            return None;
        }
        let cut_off = self.cut.reason();
        let why = cut_off.map_or_else(|| "the program ends".to_owned(), |reason| reason.to_string());
        let error = match (&end.error, cut_off) {
            (Some(error), None | Some(CancelReason::Operator)) => error.clone(),
            (Some(error), Some(_)) => format!("{error} (it was cut off: {why})"),
            (None, _) => format!("it was cut off before its end: {why}"),
        };
        Some((self.run, error))
    }

    /// The same for a run whose driver ended by a bug.
    pub(super) fn lost_with_its_driver(self) -> (Arc<RunInfo>, String) {
        (self.run, "it was cut off: the coordination of the job ended by a bug".to_owned())
    }

    /// The same for a run that does not end.
    pub(super) fn abandoned(self) -> (Arc<RunInfo>, String) {
        (
            self.run,
            "it was cut off and does not end, as its code blocks a thread: the instance left without it".to_owned(),
        )
    }
}

impl Deref for LiveItem {
    type Target = Running;

    fn deref(&self) -> &Running {
        &self.running
    }
}
