//! Simulator, invariants and the registry conformance suite.

pub mod registry_suite;
