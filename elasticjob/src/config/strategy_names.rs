//! The names of the sharding strategies whose jobs need other settings than those of all strategies.

/// The strategy that hands the items on in turn: it needs the records of monitored execution.
pub const SINGLE_SHARDING_BALANCE: &str = "SINGLE_SHARDING_BALANCE";
