//! The coordination of one job on one instance as a state machine without I/O. Pure.
//!
//! Events come in with the time as an argument, actions come out; see [`JobEngine`]. The edge performs the actions and
//! feeds back what happened. The same machine runs on ZooKeeper, on the embedded registry and in the simulator.

mod action;
mod calendar;
mod clock;
mod deadlines;
#[allow(clippy::module_inception)]
mod engine;
mod event;
mod fire;
mod fires;
mod lost;
mod notice;
mod planted;
mod rules;
mod run;
mod session;
mod settle;
mod status;
pub mod strategy;
mod txn;

#[cfg(test)]
mod tests;

pub use action::{Action, Start, TriggerAnswer};
pub use engine::{Identity, JobEngine, Phase, Timeout};
pub use event::{Event, ItemEnd, Now, TriggerId};
pub use fire::{Attempt, Begun, ExecutionSource, Fire, FireRecord, FireState};
pub use notice::{CancelReason, Notice, SkipReason};
#[cfg(feature = "testing")]
pub use planted::Bug;
pub use status::{Activity, JobStatus, Skip};
