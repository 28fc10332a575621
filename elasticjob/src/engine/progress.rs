//! The work under way on this instance: begins, and runs of items.

use super::engine::JobEngine;
use super::state::membership::Phase;
use super::state::proposal::Purpose;
use super::state::runs::Run;
use crate::fire::RunKey;

impl JobEngine {
    pub(super) fn is_executing(&self) -> bool {
        self.runs.iter().any(Run::is_executing)
    }

    /// The engine looks at fires while it takes part, and while a run keeps it from leaving: its items stay here, so no
    /// other instance can report or note that they missed a fire.
    pub(super) fn watches_calendar(&self) -> bool {
        match self.phase {
            Phase::Active => true,
            Phase::Leaving { .. } => self.is_executing(),
            Phase::Joining | Phase::Stopped => false,
        }
    }

    /// Whether items of a run were begun, and further ones of its fire follow with the next transactions.
    pub(super) fn begins_more(&self, key: RunKey) -> bool {
        let open = self.fires.open.as_deref();
        open.is_some_and(|open| open.key == key && !open.looked && !open.begun.is_empty())
    }

    /// Whether items of a fire that came here are being begun: the answer is on its way or lost, or the others of them
    /// follow at once.
    pub(super) fn is_begin_under_way(&self) -> bool {
        let rest_follows = self.fires.open.as_ref().is_some_and(|open| open.rest_follows);
        self.is_beginning() || self.is_begin_unresolved() || rest_follows
    }

    /// Whether the outcome of the begin of a fire that came here is unknown.
    pub(super) fn is_begin_unresolved(&self) -> bool {
        self.fires.unresolved.as_ref().is_some_and(|unresolved| !unresolved.key.is_takeover())
    }

    /// Whether the begin of a fire that came here is in flight.
    pub(super) fn is_beginning(&self) -> bool {
        self.link.write.as_ref().is_some_and(|write| match &write.purpose {
            Purpose::Begin(plan) => !plan.key.is_takeover(),
            _ => false,
        })
    }
}
