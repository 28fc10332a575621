//! The edge: drives engines, performs their actions.

pub mod address;
pub mod clock;
mod handle;
pub mod system;
pub mod timers;

pub use handle::{OneOffJob, ScheduleJob, ShutdownMode, TriggerError, Triggered};
