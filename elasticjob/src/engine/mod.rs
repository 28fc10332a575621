//! The coordination of one job on one instance as a state machine without I/O. Pure.
//!
//! Events come in with the time as an argument, actions come out; see [`JobEngine`]. The edge performs the actions and
//! feeds back what happened. The same machine runs on ZooKeeper, on the embedded registry and in the simulator.

mod action;
mod ahead;
mod calendar;
mod call_listeners;
mod clean_up;
mod clock;
mod commit_outcome;
mod deadlines;
#[allow(clippy::module_inception)]
mod engine;
mod event;
mod fire;
mod fire_lifecycle;
mod foreign;
mod given_up;
mod late;
mod left;
mod listener_round;
mod listeners;
mod liveness;
mod notice;
mod once_calls;
mod pending_triggers;
mod planted;
mod proposal;
mod retry;
mod rules;
mod run_state;
mod session;
mod status;
mod stop_requests;
pub mod strategy;
mod takeover;
mod timeout;
mod txn;

#[cfg(test)]
mod tests;

pub use action::{Action, ListenerCall, Start, TriggerAnswer};
pub use clean_up::CleanUp;
pub use engine::{Identity, JobEngine, Phase};
pub use event::{Event, ItemEnd, Now, TriggerId};
pub use fire::{Attempt, Begun, ExecutionSource, Fire, FireRecord, FireState};
pub(crate) use late::late_limit;
pub use left::LeftRun;
pub use listener_round::RoundId;
pub use listeners::{Hook, KnownListeners, ListenerPlan, ListenerSpec, OnceTimeouts};
pub use notice::{CancelReason, LateCause, Notice, SkipReason, StopReason, WaitedFor};
#[cfg(feature = "testing")]
pub(crate) use once_calls::KEPT_FIRES;
pub use once_calls::{CallState, OnceCall, OnceCalls};
#[cfg(feature = "testing")]
pub use planted::Bug;
pub use status::{Activity, JobStatus, Skip};
pub(crate) use timeout::AGES;
pub use timeout::Timeout;
