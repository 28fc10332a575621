//! A manual trigger that was asked for here and is not written yet.

use std::time::Duration;

use super::open_fire::SHARDING_WAIT;
use crate::engine::event::TriggerId;
use crate::fire::TraceParent;

/// How long a trigger waits to be written. The caller has given up by then, and does not expect the job to run when the
/// registry center is back some day.
pub(in crate::engine) const WRITE_LIMIT: Duration = Duration::from_secs(10);

/// A manual trigger whose answer a caller in this process waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) struct PendingTrigger {
    pub(in crate::engine) id: TriggerId,
    /// The trace context of the caller.
    pub(in crate::engine) trace_parent: Option<TraceParent>,
    pub(in crate::engine) until: Duration,
    /// It waits until then for the items to be assigned.
    pub(in crate::engine) assigned_by: Duration,
}

impl PendingTrigger {
    pub(in crate::engine) fn at(id: TriggerId, trace_parent: Option<TraceParent>, now: Duration) -> Self {
        Self { id, trace_parent, until: now + WRITE_LIMIT, assigned_by: now + SHARDING_WAIT }
    }
}
