//! Distributed scheduled jobs: annotate an async function and start the same program on many hosts. Every scheduled
//! fire is split into sharding items, which are spread over the live instances. When an instance dies, other instances
//! take its items over.
//!
//! Most programs depend on `elasticjob-starter`, which starts all jobs of the program from its settings. This package
//! contains the parts of the starter: the builder API, for programs that make their configurations themselves, and the
//! operations for operators.
//!
//! ```
//! use elasticjob::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let environment = JobEnvironment::builder().build()?;
//! // For many processes: environment.connect_zookeeper(ZookeeperConfiguration::new("zk1:2181", "shop")).await?
//! let registry = environment.embedded_registry();
//!
//! let settlement = JobConfiguration::builder("settlement", 2)
//!     .cron("0 0 3 * * ?")
//!     .sharding_item_parameters("0=cards,1=transfers")
//!     .build()?;
//! let settle = item_handler(|context: ShardingContext| async move {
//!     println!("settling {} of {}", context.sharding_parameter().unwrap_or("all"), context.scheduled_at());
//! });
//! let mut settlement = ScheduleJobBootstrap::new(&environment, registry, settlement, settle)?;
//! settlement.schedule().await?;
//! // Until the program ends.
//! settlement.shutdown(ShutdownMode::Graceful).await;
//! # Ok(())
//! # }
//! ```
//!
//! The types that every such program names are here at the root too; [`prelude`] has all that the code of jobs needs.
//!
//! | module | content |
//! |---|---|
//! | [`api`] | the traits that programs implement, and the values that their code receives |
//! | [`config`] | [`JobConfiguration`], checked when it is built |
//! | [`runtime`] | the [environment](runtime::JobEnvironment) of a process, bootstraps, handles, status |
//! | [`fire`] | the words for what runs: fires, why items run, what records say, the reasons for what is not run |
//! | [`sharding`] | the strategies that say which instance gets which items |
//! | [`registry`] | registry centers: [ZooKeeper](registry::zookeeper), the [embedded](registry::memory) one, and the trait for others |
//! | [`operations`] | the state of jobs and its reasons; enable, disable, trigger, remove |
//! | [`trace`] | events of runs, and where they are written |
//! | [`carried`] | what the process of a carried job is told |
//! | [`schedule`] | cron expressions and time zones |
//! | [`spi`] | implementations by type name: linked ones, and the [catalog](spi::Catalog) |
//! | [`ident`], [`secret`] | names, and texts that are not shown |
//! | `testing` | with the feature of that name: the suite that every registry back end passes, and the simulator |
//!
//! Where ElasticJob for Java has a longer name for a type, the search of this documentation finds it by that name too:
//! `TypedJobItemExecutor` finds [`JobType`](api::JobType). `AnyJobType`, `AnyJobListener` and the like are the forms in which
//! the library keeps implementations of different types together.
//!
//! # Features
//! | feature | on by default | content |
//! |---|---|---|
//! | `zookeeper` | yes | the ZooKeeper registry center |
//! | `zookeeper-tls` | | TLS to ZooKeeper |
//! | `http` | yes | jobs of the type `HTTP`, the error handlers `WECHAT` and `DINGTALK` |
//! | `email` | yes | the error handler `EMAIL` |
//! | `tracing-sqlite`, `tracing-postgres`, `tracing-mysql` | | tracing to a database |
//! | `testing` | | the tools that tests of registry back ends need |

pub mod api;
pub mod carried;
mod clock;
pub mod config;
#[cfg(any(feature = "http", feature = "zookeeper-tls"))]
mod cryptography;
#[cfg(test)]
mod elastic_job_docs;
mod engine;
mod error_handlers;
mod escaped;
mod executor;
pub mod fire;
#[cfg(feature = "http")]
mod http_client;
pub mod ident;
mod job_status;
mod job_types;
#[doc(hidden)]
pub mod log;
mod moment;
pub mod operations;
mod panics;
pub mod prelude;
mod problems;
mod random;
pub mod registry;
pub mod runtime;
pub mod schedule;
pub mod secret;
pub mod sharding;
pub mod spi;
#[cfg(test)]
mod test_log;
#[cfg(feature = "testing")]
pub mod testing;
mod texts;
pub mod trace;
mod type_registry;
#[doc(hidden)]
pub mod yaml;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

pub use api::{JobError, JobResult, ShardingContext};
pub use config::JobConfiguration;
pub use runtime::{JobEnvironment, OneOffJobBootstrap, ScheduleJobBootstrap, ShutdownMode};

/// The library of the times in signatures, for example in [`ShardingContext::scheduled_at`](api::ShardingContext::scheduled_at):
/// a program that takes it from here has the same version.
pub use chrono;
#[doc = include_str!("elastic_job.md")]
pub use elasticjob_macros::elastic_job;
