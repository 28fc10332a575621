//! The state of an engine, in groups. Plain data: each group changes only itself, and none of them knows the engine.

pub(super) mod calendar;
pub(super) mod clock;
pub(super) mod configuration;
pub(super) mod dependencies;
pub(super) mod fires;
pub(super) mod foreign_nodes;
pub(super) mod group;
pub(super) mod leadership;
pub(super) mod left_run;
pub(super) mod link;
pub(super) mod listener_round;
pub(super) mod losses;
pub(super) mod membership;
pub(super) mod open_fire;
pub(super) mod pending_trigger;
pub(super) mod proposal;
pub(super) mod reported;
pub(super) mod runs;
pub(super) mod session;
