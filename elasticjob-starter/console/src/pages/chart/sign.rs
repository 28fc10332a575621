//! Shapes that say the same as the colours.

use crate::service::fires::{FireOutcome, RunState};

/// What a mark of a picture stands for: a class of the style sheet for its colour, and a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Sign {
    Ok,
    Warn,
    Run,
    Unknown,
    Bad,
}

impl Sign {
    pub(crate) const ALL: [Self; 5] = [Self::Ok, Self::Warn, Self::Bad, Self::Run, Self::Unknown];

    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Run => "run",
            Self::Unknown => "unknown",
            Self::Bad => "bad",
        }
    }

    /// The shape around its middle, as the data of a path: a disc, a triangle up, a triangle to the right, a ring, a cross.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Ok | Self::Unknown => "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
            Self::Warn => "M0 -5L5 4L-5 4z",
            Self::Run => "M-4 -5L5 0L-4 5z",
            Self::Bad => "M-5 -3L-3 -5L0 -2L3 -5L5 -3L2 0L5 3L3 5L0 2L-3 5L-5 3L-2 0z",
        }
    }

    /// The character of the shape, as the style sheet has it before words.
    pub(crate) fn character(self) -> &'static str {
        match self {
            Self::Ok => "●",
            Self::Warn => "▲",
            Self::Run => "▶",
            Self::Unknown => "○",
            Self::Bad => "✖",
        }
    }
}

impl From<FireOutcome> for Sign {
    fn from(outcome: FireOutcome) -> Self {
        match outcome {
            FireOutcome::Succeeded => Self::Ok,
            FireOutcome::Recovered | FireOutcome::Partial => Self::Warn,
            FireOutcome::Failed => Self::Bad,
            FireOutcome::Running => Self::Run,
            FireOutcome::NoEnd => Self::Unknown,
        }
    }
}

impl From<RunState> for Sign {
    fn from(state: RunState) -> Self {
        match state {
            RunState::Succeeded => Self::Ok,
            RunState::Failed => Self::Bad,
            RunState::Running => Self::Run,
            RunState::Lost => Self::Warn,
            RunState::NoEnd => Self::Unknown,
        }
    }
}
