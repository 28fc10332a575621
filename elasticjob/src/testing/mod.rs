//! Simulator, invariants and the registry conformance suite.

pub mod invariants;
pub mod rng;
pub mod sim;
pub mod registry_suite;
