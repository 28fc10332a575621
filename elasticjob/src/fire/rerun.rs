//! A past fire that is run once more.

use serde::{Deserialize, Serialize};

/// A past fire of a job that an operator runs again. A manual trigger with these data asks for it, and each run that it
/// begins keeps them: in the record of its item, through takeovers, and for the code that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Rerun {
    /// The scheduled time of that fire, in milliseconds since 1970.
    pub of: i64,
    /// When it was asked for, by the clock of the operator, in milliseconds since 1970. The jobs that are run again
    /// together have the same time.
    pub asked: i64,
}

impl Rerun {
    /// The fire of this time is run again, as was asked for at that time.
    pub fn new(of: i64, asked: i64) -> Self {
        Self { of, asked }
    }
}
