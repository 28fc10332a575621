//! Plays histories of a group of engines on one tree. One seed decides everything.
//!
//! The engines, their mirrors and their session machines are the production ones. The simulator stands for what is
//! around them: a leader and a follower with sessions, connections that delay and break, processes that crash and freeze,
//! machines that are suspended, clocks that step and that go too fast or too slow, and operators. After a while the faults stop, and the group has to be as if nothing had happened.

mod ahead;
mod beside;
mod calm;
mod clocks;
mod connections;
mod depending;
mod each_alone;
mod edits;
mod endurance;
mod engines;
mod fallen;
mod faults;
mod follower;
mod happening;
mod haywire;
mod host;
mod java;
mod limits;
mod listeners;
mod liveness;
mod lost_data;
mod operators;
mod processes;
mod reruns;
mod shape;
mod shared;
mod suspended;
mod watches;
mod world;

pub use clocks::{FAR_OFF, MonoClock};
pub use endurance::{Growth, endure};
pub use fallen::Fallen;
pub use faults::FaultCounts;
pub use haywire::HAYWIRE;
pub use host::{Answer, EPOCH, Execution, Host, Millis, Process, Program};
pub use java::check_configuration;
pub use listeners::{SimCall, SimListeners};
pub use shape::Shape;
pub use watches::SimWatches;
pub use world::World;

use crate::engine::Bug;
use crate::testing::invariants::Fates;

/// The result of a seed.
#[derive(Debug)]
pub struct Played {
    /// The number of times that each fault happened.
    pub faults: FaultCounts,
    /// The fates of the items of fires.
    pub fates: Fates,
    /// The hash of what happened, when it was asked for.
    pub hash: Option<u64>,
    /// The violation at the end of the history, if there is one.
    pub violation: Option<Violation>,
}

/// A history that broke an invariant.
#[derive(Debug)]
pub struct Violation {
    /// The invariant and what broke it.
    pub what: String,
    /// The events of the history, a line each. Only kept when asked for.
    pub history: Vec<String>,
}

/// The parts of a history that are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Nothing, which is fastest.
    Nothing,
    /// Its lines.
    Lines,
    /// A hash of what happened, without what the engines say of it: to see that a change of the engine changes nothing.
    Hash,
}

/// Plays one seed.
pub fn play(seed: u64, bug: Option<Bug>, keep: Keep) -> Played {
    let mut world = World::new(seed, bug, keep);
    let violation = world.play().err().map(|what| {
        world.log_engines();
        Violation { what, history: world.take_history() }
    });
    Played { faults: world.fault_counts(), fates: world.fates(), hash: world.hash(), violation }
}
