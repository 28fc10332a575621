//! The coordination of one job on one instance as a state machine without I/O. Pure.
//!
//! Events come in with the time as an argument, actions come out; see [`JobEngine`]. The edge performs the actions and
//! feeds back what happened. The same machine runs on ZooKeeper, on the embedded registry and in the simulator.

mod action;
mod ahead;
mod asked;
mod calendar;
mod calls;
mod clean_up;
mod clock;
mod deadlines;
#[allow(clippy::module_inception)]
mod engine;
mod event;
mod fire;
mod fires;
mod foreign;
mod given_up;
mod late;
mod left;
mod listeners;
mod lost;
mod notice;
mod planted;
mod proposal;
mod retry;
mod round;
mod rounds;
mod rules;
mod run;
mod session;
mod settle;
mod status;
mod stop;
pub mod strategy;
mod timeout;
mod txn;

#[cfg(test)]
mod tests;

pub use action::{Action, ListenerCall, Start, TriggerAnswer};
#[cfg(feature = "testing")]
pub(crate) use calls::KEPT_FIRES;
pub use calls::{CallState, OnceCall, OnceCalls};
pub use clean_up::CleanUp;
pub use engine::{Identity, JobEngine, Phase};
pub use event::{Event, ItemEnd, Now, TriggerId};
pub use fire::{Attempt, Begun, ExecutionSource, Fire, FireRecord, FireState};
pub(crate) use late::late_limit;
pub use left::LeftRun;
pub use listeners::{Hook, KnownListeners, ListenerPlan, ListenerSpec, OnceTimeouts};
pub use notice::{CancelReason, LateCause, Notice, SkipReason, StopReason, WaitedFor};
#[cfg(feature = "testing")]
pub use planted::Bug;
pub use round::RoundId;
pub use status::{Activity, JobStatus, Skip};
pub(crate) use timeout::AGES;
pub use timeout::Timeout;
