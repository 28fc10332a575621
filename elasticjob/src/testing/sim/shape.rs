//! What kind of job a seed plays.

use crate::testing::rng::Rng;

/// The settings of the job that a seed decides once and for all.
#[derive(Debug, Clone)]
pub struct Shape {
    /// `monitor-execution`.
    pub monitored: bool,
    /// `static-sharding`.
    pub static_sharding: bool,
}

impl Shape {
    /// Draws one; most have the defaults.
    pub(super) fn draw(rng: &mut Rng) -> Self {
        Self { monitored: !rng.one_in(8), static_sharding: rng.one_in(6) }
    }
}
