//! The coordination of one job on one instance as a state machine without I/O. Pure.
//!
//! Events come in with the time as an argument, actions come out; see [`JobEngine`]. The edge performs the actions and
//! feeds back what happened. The same machine runs on ZooKeeper, on the embedded registry and in the simulator.
//!
//! | storey | files | content |
//! |---|---|---|
//! | border | `action`, `event`, `notice`, `status` | what goes in and out |
//! | loop | `engine`, `step`, `commit_outcome`, `retry`, `timers` | an event in, the rules in order, actions out; when the engine has to be asked again |
//! | course | `fire_lifecycle`, `own_fires`, `call_listeners`, `deadlines`, `stop_requests`, `pending_triggers`, `clock`, `watch_scope`, `leaving`, `skips` | what goes on here without a transaction: fires, runs, listeners, deadlines |
//! | rules | `rules/` | one file a rule: what it proposes to write, and what follows from the answer |
//! | knowledge | `ahead`, `awaited_items`, `enabled_servers`, `late`, `liveness`, `owners`, `progress`, `records`, `registration`, `released_items`, `takeover`, `unchanged_group`, `dependencies/` | what the nodes of the job mean, for several rules |
//! | state | `state/` | the parts of the state, each with its own methods |
//! | values | `listeners`, `once_calls`, `sharding_data`, `txn` | data of nodes and transactions |
//! | afterwards | `clean_up`, `left_runs` | what an engine leaves behind when it ends before its runs |
//!
//! `planted` has the bugs that the simulator has to find.

mod action;
mod ahead;
mod awaited_items;
mod call_listeners;
mod clean_up;
mod clock;
mod commit_outcome;
mod deadlines;
mod dependencies;
mod enabled_servers;
#[allow(clippy::module_inception)]
mod engine;
mod event;
mod fire_lifecycle;
mod late;
mod leaving;
mod left_runs;
mod listeners;
mod liveness;
mod notice;
mod once_calls;
mod own_fires;
mod owners;
mod pending_triggers;
mod planted;
mod progress;
mod records;
mod registration;
mod released_items;
mod retry;
mod rules;
mod sharding_data;
mod skips;
mod state;
mod status;
mod step;
mod stop_requests;
mod takeover;
mod timers;
mod txn;
mod unchanged_group;
mod watch_scope;

#[cfg(test)]
mod tests;

pub use action::{Action, ListenerCall, Start, TriggerAnswer};
pub use clean_up::CleanUp;
pub use dependencies::{
    DecidedFire, DependencyRecord, DueFire, DueItems, FollowedRerun, ItemSet, ParentEnd, ParentItem, ParentView,
    ReleasedItems, SkippedItems, Unmet,
};
pub(crate) use dependencies::{Parents, Release, Reruns, Stand};
pub use engine::JobEngine;
pub use event::{Event, RoundId, TriggerId};
pub(crate) use late::late_limit;
pub use listeners::{KnownListeners, ListenerSpec, OnceTimeouts};
pub use notice::Notice;
#[cfg(feature = "testing")]
pub(crate) use once_calls::KEPT_FIRES;
#[cfg(any(test, feature = "testing"))]
pub use once_calls::OnceCalls;
#[cfg(feature = "testing")]
pub use planted::Bug;
pub(crate) use sharding_data::ShardingData;
pub use state::left_run::LeftRun;
pub use state::membership::Identity;
pub(crate) use state::open_fire::SHARDING_WAIT;
pub(crate) use state::session::{ProvenUntil, oldest_answer};
pub(crate) use status::Refused;
pub(crate) use timers::AGES;
