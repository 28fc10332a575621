//! The summary of a fire as a whole, from the traces or from the registry center.

use super::group::{Fire, FireOutcome, Tally};
use super::id::FireId;

/// A fire without its runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) id: FireId,
    pub(crate) began: Option<i64>,
    /// When its last item ended; `None` while one runs, or where an end is not known.
    pub(crate) ended: Option<i64>,
    /// The last begin or end of an item that is known.
    pub(crate) last_sign: i64,
    pub(crate) tally: Tally,
    /// `None` for a fire without runs.
    pub(crate) outcome: Option<FireOutcome>,
    pub(crate) is_by_hand: bool,
    pub(crate) is_misfire: bool,
    pub(crate) is_failed_over: bool,
    /// Whether an item was run more than once.
    pub(crate) is_retried: bool,
    /// Whether it has more runs than are read.
    pub(crate) is_cut: bool,
}

impl Summary {
    /// From the begin of the first item to the end of the last one.
    pub(crate) fn took(&self) -> Option<u64> {
        u64::try_from(self.ended? - self.began?).ok()
    }

    /// How much later than scheduled the first item began. Clocks of two hosts may say that it began before its time.
    pub(crate) fn lateness(&self) -> Option<i64> {
        Some((self.began? - self.id.scheduled()?).max(0))
    }

    /// Until when it is drawn: its end, now while it runs, else its last sign of life.
    pub(crate) fn drawn_until(&self, now: i64) -> i64 {
        if self.tally.running > 0 { now } else { self.last_sign }
    }
}

impl From<&Fire> for Summary {
    fn from(fire: &Fire) -> Self {
        let has_runs = !fire.runs.is_empty();
        let last_sign = fire.runs.iter().map(|run| run.end().unwrap_or(run.start())).max();
        Self {
            id: fire.id,
            began: fire.began(),
            ended: fire.ended(),
            last_sign: last_sign.unwrap_or(fire.id.time()),
            tally: fire.tally(),
            outcome: has_runs.then(|| fire.outcome()),
            is_by_hand: fire.is_by_hand() && has_runs,
            is_misfire: fire.is_misfire(),
            is_failed_over: fire.is_failed_over(),
            is_retried: fire.is_retried(),
            is_cut: fire.is_cut,
        }
    }
}
