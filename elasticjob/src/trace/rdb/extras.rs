//! The tables that only this implementation has. An account may lack the right to create them, or to write to them: then
//! less is traced, and the rest goes on.

use std::sync::atomic::{AtomicBool, Ordering};

use super::dialect::{DECISION_LOG, RUN_LOG, Table};
use crate::trace::JobEvent;

/// One of these tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extra {
    Decisions,
    Lines,
}

impl Extra {
    /// The table that an event goes to, where it is one of these.
    pub(super) fn of(event: &JobEvent) -> Option<Self> {
        match event {
            JobEvent::Execution(_) | JobEvent::Status(_) => None,
            JobEvent::Decision(_) => Some(Self::Decisions),
            JobEvent::Log(_) => Some(Self::Lines),
        }
    }

    pub(super) fn table(self) -> Table {
        match self {
            Self::Decisions => DECISION_LOG,
            Self::Lines => RUN_LOG,
        }
    }

    /// What its rows are, for the log.
    pub(super) fn what(self) -> &'static str {
        match self {
            Self::Decisions => "decisions",
            Self::Lines => "the logs of runs",
        }
    }
}

/// Which of these tables are there and can be written.
#[derive(Debug, Default)]
pub(super) struct Extras {
    decisions: AtomicBool,
    lines: AtomicBool,
}

impl Extras {
    pub(super) fn new(has_decisions: bool, has_lines: bool) -> Self {
        Self { decisions: has_decisions.into(), lines: has_lines.into() }
    }

    pub(super) fn has(&self, extra: Extra) -> bool {
        self.state(extra).load(Ordering::Relaxed)
    }

    /// Nothing is written to that table any more.
    pub(super) fn give_up(&self, extra: Extra) {
        self.state(extra).store(false, Ordering::Relaxed);
    }

    /// Those that these events go to.
    pub(super) fn of(&self, events: &[JobEvent]) -> Vec<Extra> {
        let is_used = |extra: &Extra| events.iter().any(|event| Extra::of(event) == Some(*extra));
        [Extra::Decisions, Extra::Lines].into_iter().filter(|extra| self.has(*extra) && is_used(extra)).collect()
    }

    fn state(&self, extra: Extra) -> &AtomicBool {
        match extra {
            Extra::Decisions => &self.decisions,
            Extra::Lines => &self.lines,
        }
    }
}
