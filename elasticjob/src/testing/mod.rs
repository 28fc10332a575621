//! Simulator, invariants and the registry conformance suite.

pub mod invariants;
pub mod registry_suite;
pub mod rng;
pub mod sim;
