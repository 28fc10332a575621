//! Fixtures shared by the test programs.

pub mod harness;
pub mod proxy;
pub mod zookeeper;
