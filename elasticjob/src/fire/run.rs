//! The key of a run: its fire, and the source that it runs for.

use super::{ExecutionSource, Fire};

/// The identity of a run on one instance: the items that it runs for a fire, for this reason. A fire whose items begin one
/// after the other may have several runs with the same key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunKey {
    /// The fire that the items were begun for.
    pub fire: Fire,
    /// Why they are run.
    pub source: ExecutionSource,
}

impl RunKey {
    /// The run of a fire, for this reason.
    pub fn new(fire: Fire, source: ExecutionSource) -> Self {
        Self { fire, source }
    }

    /// Whether the items were lost with another instance, and are run again here.
    pub(crate) fn is_takeover(self) -> bool {
        self.source == ExecutionSource::Failover
    }
}
