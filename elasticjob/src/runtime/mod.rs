//! The edge: drives engines, performs their actions.

mod handle;

pub use handle::{OneOffJob, ScheduleJob, ShutdownMode, TriggerError, Triggered};
