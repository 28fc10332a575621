//! Types of values.

use std::fmt;

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Kind {
    Text,
    /// A text that is never shown.
    Secret,
    Flag,
    Whole {
        from: i64,
        to: i64,
        /// The unit of the number; empty where it is obvious.
        unit: &'static str,
    },
    /// A list, or one text with commas.
    List,
    /// A number with a unit.
    Duration,
    /// An address to listen on.
    Ip,
    /// How much a line of a log matters.
    Level,
}

impl Kind {
    /// A whole number from 0, up to the largest that Java can have.
    pub(super) const fn from_zero(unit: &'static str) -> Self {
        Self::Whole { from: 0, to: i32::MAX as i64, unit }
    }

    /// A whole number that Java can have.
    pub(super) const fn any(unit: &'static str) -> Self {
        Self::Whole { from: i32::MIN as i64, to: i32::MAX as i64, unit }
    }

    pub fn is_secret(self) -> bool {
        self == Kind::Secret
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Text | Kind::Secret => f.write_str("text"),
            Kind::Flag => f.write_str("true or false"),
            Kind::Whole { from, to, unit: "" } => write!(f, "a whole number from {from} to {to}"),
            Kind::Whole { from, to, unit } => write!(f, "a whole number from {from} to {to} ({unit})"),
            Kind::List => f.write_str("a list, or one text with commas"),
            Kind::Duration => f.write_str("a time with its unit, for example 25s, 1500ms or 2m"),
            Kind::Level => f.write_str("ERROR, WARN, INFO, DEBUG or TRACE"),
            Kind::Ip => f.write_str("an IP address of this host, for example 127.0.0.1, or 0.0.0.0 or :: for all"),
        }
    }
}
