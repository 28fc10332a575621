//! The two points at which listeners are called: before the items of a fire, and after them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// When a listener is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Hook {
    /// Before the items of a round start.
    Before,
    /// After they ended.
    After,
}

impl fmt::Display for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Before => "before",
            Self::After => "after",
        })
    }
}
