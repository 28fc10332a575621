//! Notes whether something of the group may have changed since the rules were asked.

use crate::engine::event::Event;

/// Whether the rules of the group have to be asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::engine) enum Group {
    /// Something that they look at may have changed since they were asked last.
    #[default]
    InDoubt,
    /// All of them passed, and nothing of that has changed since.
    Settled,
}

impl Group {
    /// Takes note of an event that an engine is about to take.
    pub(in crate::engine) fn hear(&mut self, event: &Event) {
        match event {
            Event::Tick
            | Event::Proven { .. }
            | Event::ProofAnswered(_)
            | Event::ItemEnded { .. }
            | Event::ListenersCalled { .. } => {}
            Event::Session(_)
            | Event::Watch(_)
            | Event::Watching(_)
            | Event::Listed { .. }
            | Event::Read { .. }
            | Event::Committed(_)
            | Event::Trigger(..)
            | Event::Parent { .. }
            | Event::Shutdown { .. }
            | Event::Restart => *self = Self::InDoubt,
        }
    }
}
