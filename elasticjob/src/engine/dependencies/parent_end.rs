//! The end of a job's fire, for the jobs after it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::config::When;

/// The end of the fire of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ParentEnd {
    /// All its items succeeded.
    Succeeded,
    /// An item failed, was cancelled, was lost or was not run.
    Failed,
    /// It was not run at all, because of the jobs that it depends on itself.
    Skipped,
    /// It is over, and how is not known any more: its items ran for a later fire before the leader of this job looked. Where no
    /// item is known to have begun it, it is not known either whether it was run.
    Unknown,
    /// It has no fire at the time of a fire that is run again.
    NoFire,
}

impl ParentEnd {
    /// Its name, as JSON has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Unknown => "unknown",
            Self::NoFire => "no-fire",
        }
    }

    /// Whether that is an end for which the next job runs.
    pub(super) fn meets(self, when: When) -> bool {
        match when {
            When::Succeeded => self == Self::Succeeded,
            When::Failed => self == Self::Failed,
            When::Ended => !matches!(self, Self::Skipped | Self::NoFire),
        }
    }
}

impl fmt::Display for ParentEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Skipped => "was skipped",
            Self::Unknown => "has begun a later fire since, and how this one ended is not known any more",
            Self::NoFire => "had no fire at that time",
        })
    }
}
