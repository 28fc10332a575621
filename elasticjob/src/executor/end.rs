//! The end of a run, which is told exactly once whatever happens to the run.

use std::time::Duration;

use tokio::time::Instant;

/// How the run of an item ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemEnd {
    /// In which way.
    pub outcome: ItemOutcome,
    /// How long it ran, without the time it waited for a thread of the user's runtime.
    pub duration: Duration,
}

/// In which way the run of an item ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemOutcome {
    /// The job function returned without an error.
    Succeeded,
    /// It returned this error, here with its causes.
    Failed(String),
    /// It panicked; this says with what message and where.
    Panicked(String),
    /// It was cut off: aborted, or its runtime was shut down.
    Dropped,
}

/// Tells the end when it is dropped, so that no way out of a run misses it.
pub(super) struct EndGuard<F: FnOnce(ItemEnd)> {
    on_end: Option<F>,
    outcome: ItemOutcome,
    began: Option<Instant>,
}

impl<F: FnOnce(ItemEnd)> EndGuard<F> {
    pub(super) fn new(on_end: F) -> Self {
        Self { on_end: Some(on_end), outcome: ItemOutcome::Dropped, began: None }
    }

    pub(super) fn begin(&mut self) {
        self.began = Some(Instant::now());
    }

    /// It has not begun after all: it waits for its turn.
    pub(super) fn wait(&mut self) {
        self.began = None;
    }

    pub(super) fn end_with(&mut self, outcome: ItemOutcome) {
        self.outcome = outcome;
    }
}

impl<F: FnOnce(ItemEnd)> Drop for EndGuard<F> {
    fn drop(&mut self) {
        if let Some(on_end) = self.on_end.take() {
            let outcome = std::mem::replace(&mut self.outcome, ItemOutcome::Dropped);
            let duration = self.began.map_or(Duration::ZERO, |began| began.elapsed());
            on_end(ItemEnd { outcome, duration });
        }
    }
}
