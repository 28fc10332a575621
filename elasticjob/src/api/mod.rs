//! The traits that users implement and the values that their code receives.

mod argument;
mod beans;
mod classed;
mod context;
mod context_json;
mod dataflow;
mod descriptor;
mod error_handler;
mod item_handler;
mod job_type;
mod lease;
mod listener;
mod observer;
mod outcome;
mod pool;
mod run;

pub use argument::{ArgumentSite, Inject, JobArgument};
pub use beans::{Beans, MissingBean};
pub use classed::{JobClass, classed_item_handler};
#[cfg(test)]
pub(crate) use context::fixture;
pub use context::{Cut, ItemRun, ShardingContext};
pub use context_json::ContextJson;
pub use dataflow::{Dataflow, IntoFetched, dataflow_handler};
pub use descriptor::JobDescriptor;
pub use error_handler::{AnyJobErrorHandler, Failed, JobErrorHandler, JobFailure};
pub use item_handler::{BlockingItem, ItemFuture, ItemHandler, ItemWork, blocking_item_handler, item_handler};
pub use job_type::{AnyJobType, JobType};
pub use lease::Lease;
pub use listener::{AnyJobListener, JobListener, ListenerContext, ListenerRound, OnceJobListener};
pub use observer::{JobFact, JobObserver};
pub use outcome::{IntoJobResult, JobError, JobResult};
pub use pool::PoolSizeProvider;
pub use run::RunInfo;

pub use crate::config::JobKind;
pub use crate::sharding::{Assignment, ShardingStrategy};
/// Fires when the run of a job has to end.
pub use tokio_util::sync::CancellationToken;
