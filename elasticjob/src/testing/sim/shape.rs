//! The kind of job that a seed plays.

use super::haywire::HAYWIRE;
use super::host::Millis;
use super::listeners::SimListeners;
use crate::sharding::{AVG_ALLOCATION, SINGLE_SHARDING_BALANCE};
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
    /// Whether operators write what no watch tells of, which reconciling has to find.
    pub unheard: bool,
    /// The longest time that a run takes.
    pub longest_run: Millis,
    /// `static-sharding`.
    pub static_sharding: bool,
    /// `job-sharding-strategy-type`.
    pub strategy: &'static str,
    /// `max-time-diff-seconds`; `None` where the check is switched off.
    pub max_time_diff: Option<u32>,
    /// `job-listener-types`.
    pub listeners: SimListeners,
}

/// What counts where nothing is set.
pub(super) const DEFAULT_TIME_DIFF: u32 = 60;

const STRATEGIES: [&str; 7] =
    [AVG_ALLOCATION, AVG_ALLOCATION, AVG_ALLOCATION, "ODEVITY", "ROUND_ROBIN", SINGLE_SHARDING_BALANCE, HAYWIRE];

impl Shape {
    /// Draws one; most have the defaults. A mixed group has no items that move on: Java does that by address, and runs an
    /// item twice then.
    pub(crate) fn draw(rng: &mut Rng, mixed: bool) -> Self {
        let (monitored, static_sharding) = (!rng.one_in(8), rng.one_in(6));
        let strategy = match rng.pick(&STRATEGIES) {
            SINGLE_SHARDING_BALANCE if !monitored || static_sharding || mixed => AVG_ALLOCATION,
            // Java takes the default where it does not know a strategy.
            HAYWIRE if mixed => AVG_ALLOCATION,
            strategy => strategy,
        };
        let (failover, misfire) = (monitored && rng.one_in(2), rng.one_in(2));
        let unheard = !static_sharding && rng.one_in(10) && !mixed;
        let longest_run = rng.pick(&[200, 900, 4_000, 15_000]);
        let max_time_diff = rng.pick(&[None, Some(DEFAULT_TIME_DIFF), Some(DEFAULT_TIME_DIFF), Some(1), Some(3)]);
        // Java does not start where it does not know a listener.
        let listeners = if mixed { SimListeners::none() } else { SimListeners::draw(rng) };
        Self { monitored, failover, misfire, unheard, longest_run, static_sharding, strategy, max_time_diff, listeners }
    }

    /// Whether an instance may make room for its successor and no fire is lost: not without records, as nobody can tell
    /// then what was begun before, and not where items stay with who is gone. What moves on with each fire is looked at
    /// while instances stay.
    pub(super) fn may_deploy(&self) -> bool {
        self.monitored && !self.static_sharding && self.strategy != SINGLE_SHARDING_BALANCE
    }

    /// The longest run with the listeners before and after it.
    pub fn longest_round(&self) -> Millis {
        self.longest_run + self.listeners.delay()
    }
}
