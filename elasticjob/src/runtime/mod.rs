//! The edge of the library: drives engines and performs their actions.

mod address;
mod bootstrap;
pub(crate) mod clock;
mod decisions;
mod driver;
mod environment;

mod failures;
mod followed;
mod handle;
mod live_item;
mod log;
mod mailbox;
mod observed;
mod pending_replies;
mod proofs;
mod proven;
mod recorder;
mod refusal_note;
mod restarts;
mod running_jobs;
mod stand_in;
mod supervisor;
mod system;
#[cfg(test)]
pub(crate) mod tests;
mod timers;
mod user_runtime;

pub use address::AddressError;
pub use bootstrap::{OneOffJobBootstrap, ScheduleJobBootstrap, StartError};
pub use environment::{EnvironmentError, JobEnvironment, JobEnvironmentBuilder};
pub use handle::{CallerTrace, OneOffJob, ScheduleJob, ShutdownMode, TriggerError, Triggered};

pub use crate::job_status::{Activity, JobStatus, NextTimer};
