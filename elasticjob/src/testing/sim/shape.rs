//! What kind of job a seed plays.

use crate::engine::strategy::SINGLE_SHARDING_BALANCE;
use crate::testing::rng::Rng;

/// The settings of the job that a seed decides.
#[derive(Debug, Clone)]
pub struct Shape {
    /// `monitor-execution`.
    pub monitored: bool,
    /// `failover`, until it is switched.
    pub failover: bool,
    /// `misfire`, until it is switched.
    pub misfire: bool,
    /// `static-sharding`.
    pub static_sharding: bool,
    /// `job-sharding-strategy-type`.
    pub strategy: &'static str,
}

const STRATEGIES: [&str; 6] =
    ["AVG_ALLOCATION", "AVG_ALLOCATION", "AVG_ALLOCATION", "ODEVITY", "ROUND_ROBIN", SINGLE_SHARDING_BALANCE];

impl Shape {
    /// Draws one; most have the defaults. A mixed group has no items that move on: Java does that by address, and runs an
    /// item twice then.
    pub(super) fn draw(rng: &mut Rng, mixed: bool) -> Self {
        let (monitored, static_sharding) = (!rng.one_in(8), rng.one_in(6));
        let strategy = match rng.pick(&STRATEGIES) {
            SINGLE_SHARDING_BALANCE if !monitored || static_sharding || mixed => "AVG_ALLOCATION",
            strategy => strategy,
        };
        let (failover, misfire) = (monitored && rng.one_in(2), rng.one_in(2));
        Self { monitored, failover, misfire, static_sharding, strategy }
    }
}
