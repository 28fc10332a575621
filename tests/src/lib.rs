//! Fixtures shared by the test programs.

pub mod chaos;
#[cfg(feature = "databases")]
pub mod databases;
pub mod fence;
pub mod group;
pub mod harness;
pub mod measure;
pub mod observer;
pub mod proxy;
pub mod records;
#[cfg(feature = "databases")]
pub mod tracing_suite;
pub mod usage;
pub mod worker;
pub mod zookeeper;
