//! The cost of a large deployment for its registry center, in virtual time.
//!
//! The engines, their mirrors, the tree and the group commit are the production ones; around them are processes without
//! faults other than the ones that a scenario asks for, and servers that are queues with stated rates. `docs/scale.md`
//! says what came of it and what is left out.
//!
//! Jobs do not know of each other. So a deployment of 100,000 jobs is not simulated whole but by a slice: with a tenth of
//! the jobs on a tenth of the processes each process has as many jobs as before, and each request of the slice keeps the
//! servers busy ten times as long, as nine other slices do the same at that moment. What is counted is multiplied.

mod counts;
mod drive;
mod mix;
mod scenario;
mod server;
mod wire;
mod world;

use std::time::Duration;

pub use counts::{Lateness, Load};
pub use mix::{Alignment, Kind};
pub use scenario::{CostOfFire, Kept, Loss, Report, cost_of_fire, play};
pub use server::Rates;
pub use world::World;

/// Microseconds of simulated time.
pub type Micros = u64;

const SECOND: Micros = 1_000_000;
/// The session time-out of all processes.
pub const SESSION_TIMEOUT: Duration = Duration::from_secs(30);

/// The deployment that is simulated.
#[derive(Debug, Clone, Copy)]
pub struct Deployment {
    /// Processes.
    pub processes: u32,
    /// Jobs.
    pub jobs: u32,
    /// On how many of the processes each job runs.
    pub instances: u32,
    /// The items of each job.
    pub items: u32,
    /// At which seconds the jobs fire.
    pub alignment: Alignment,
    /// The rates of the servers.
    pub rates: Rates,
    /// Into how many equal slices the deployment is divided, of which one is simulated. It divides both numbers.
    pub slices: u32,
    /// Decides what is left to chance.
    pub seed: u64,
}
