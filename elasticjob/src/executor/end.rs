//! The end of a run. It is reported exactly once, whatever happens to the run.

use std::time::Duration;

use tokio::time::Instant;

/// The end of the run of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExecutionEnd {
    /// The way it ended.
    pub outcome: ItemOutcome,
    /// The time for which it ran, without the time it waited for a thread of the program's runtime.
    pub duration: Duration,
}

/// The way the run of an item ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemOutcome {
    /// The job function returned without an error.
    Succeeded,
    /// It returned this error, here as text with its causes.
    Failed(String),
    /// It panicked; the text is the message and the place of the panic.
    Panicked(String),
    /// It was cut off: aborted, or its runtime was shut down.
    Dropped,
}

/// Reports the end when it is dropped, so that every way out of a run reports it.
pub(super) struct EndGuard<F: FnOnce(ExecutionEnd)> {
    on_end: Option<F>,
    outcome: ItemOutcome,
    began: Option<Instant>,
}

impl<F: FnOnce(ExecutionEnd)> EndGuard<F> {
    pub(super) fn new(on_end: F) -> Self {
        Self { on_end: Some(on_end), outcome: ItemOutcome::Dropped, began: None }
    }

    pub(super) fn begin(&mut self) {
        self.began = Some(Instant::now());
    }

    /// Notes that the run has not begun after all: it waits for its turn.
    pub(super) fn wait(&mut self) {
        self.began = None;
    }

    pub(super) fn end_with(&mut self, outcome: ItemOutcome) {
        self.outcome = outcome;
    }
}

impl<F: FnOnce(ExecutionEnd)> Drop for EndGuard<F> {
    fn drop(&mut self) {
        if let Some(on_end) = self.on_end.take() {
            let outcome = std::mem::replace(&mut self.outcome, ItemOutcome::Dropped);
            let duration = self.began.map_or(Duration::ZERO, |began| began.elapsed());
            on_end(ExecutionEnd { outcome, duration });
        }
    }
}
