//! Simulator, invariants and the registry conformance suite.
