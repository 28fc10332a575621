//! Simulator, invariants and the registry conformance suite.

#[doc(hidden)]
pub mod invariants;
pub mod registry_suite;
#[doc(hidden)]
pub mod rng;
#[doc(hidden)]
pub mod scale;
#[doc(hidden)]
pub mod sim;

#[doc(hidden)]
pub use crate::engine::{Bug, DependencyRecord, OnceCalls};
