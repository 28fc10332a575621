//! A Java 3.0.5 instance, modelled: it reads and writes the simulated server as that release does, so that mixed groups
//! can be searched.
//!
//! The release is written as threads that block on the registry. So is the model: each thread is an `async` function
//! whose registry calls are separate steps, with the network between them, and whose polls sleep for 100 ms. What the
//! release decides by cached data, the model decides by a cache that lags behind. Its races are not planted, they follow
//! from this: lists that are stale after a wait, check-then-act on `running`, assignments that are gone until the
//! transaction, nodes made again on a reconnect.
//!
//! Left out: what no peer can see (pools, tracing, error handlers, listeners of the user), and runs that the release loses
//! for good when they are asked for before the schedule was made.

mod cache;
mod election;
mod execution;
mod failover;
mod group;
mod hosts;
mod jvm;
mod latch;
mod listeners;
mod marks;
mod nodes;
mod quartz;
mod reconcile;
mod reconnect;
mod registry;
mod servers;
mod settings;
mod sharding;
mod start;
#[cfg(test)]
mod tests;

pub(super) use group::java_hosts;
pub use jvm::{Call, JavaProcess, Reply, Ticket};
pub use settings::check_configuration;
