//! The time as code without I/O takes it.

use std::time::Duration;

/// The time, as an argument of everything that depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// Wall clock in milliseconds since 1970. May step.
    pub wall: i64,
    /// Time since some fixed point. Never steps. It may stand still while the machine is suspended; the wall clock goes
    /// on then.
    pub mono: Duration,
}
