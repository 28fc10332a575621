//! The names of the invariants that are checked in the simulator and of real processes.

/// An item is run by one live instance at a time.
pub const ONE_LIVE_OWNER: &str = "one live owner";

/// A fire of an item is begun once, and again only when its run was lost.
pub const BEGUN_ONCE: &str = "begun once";

/// Every item of every fire is begun, or it is said why not.
pub const ACCOUNTED_FOR: &str = "every fire accounted for";

/// A manual trigger that is taken makes every item run, or it is said why not.
pub const TRIGGERS: &str = "triggers";
