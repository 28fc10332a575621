//! Fixtures shared by the test programs.

pub mod fence;
pub mod group;
pub mod harness;
pub mod proxy;
pub mod records;
pub mod usage;
pub mod zookeeper;
