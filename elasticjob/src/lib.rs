//! Distributed scheduled jobs: annotate an async function, start the same program on many hosts; every scheduled fire
//! is split into sharding items that are spread over the live instances.

pub mod api;
mod by_type;
pub mod config;
#[cfg(any(feature = "http", feature = "zookeeper-tls"))]
mod cryptography;
#[cfg(test)]
mod elastic_job_docs;
pub mod engine;
pub mod error_handlers;
mod escaped;
pub mod executor;
#[cfg(feature = "http")]
mod http_client;
pub mod ident;
pub mod job_types;
#[doc(hidden)]
pub mod log;
#[cfg(test)]
mod logged;
mod moment;
pub mod operations;
mod problems;
mod random;
pub mod registry;
pub mod runtime;
pub mod schedule;
pub mod secret;
pub mod spi;
#[cfg(feature = "testing")]
pub mod testing;
pub mod trace;
mod unwind;
#[doc(hidden)]
pub mod yaml;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

#[doc = include_str!("elastic_job.md")]
pub use elasticjob_macros::elastic_job;
