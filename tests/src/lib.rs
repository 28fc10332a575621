//! Fixtures shared by the test programs.

pub mod chaos;
pub mod command_line;
pub mod cron_vs_quartz;
#[cfg(feature = "databases")]
pub mod databases;
pub mod deaf;
pub mod fence;
pub mod group;
pub mod harness;
pub mod java_comparison;
pub mod java_peer;
pub mod measure;
pub mod minute;
pub mod observer;
pub mod ports;
pub mod programs;
pub mod proxy;
pub mod records;
pub mod retry_reads;
pub mod tier;
#[cfg(feature = "databases")]
pub mod tracing_suite;
pub mod usage;
pub mod worker;
pub mod wrong_clock;
pub mod zookeeper;
