//! What users implement or receive.

mod argument;
mod beans;
mod context;
mod descriptor;
mod error_handler;
mod job_type;
mod listener;
mod outcome;
mod pool;

pub use argument::{ArgumentSite, Inject, JobArgument};
pub use beans::{Beans, MissingBean};
pub use context::{ItemRun, ShardingContext};
pub use descriptor::{ItemFuture, ItemHandler, JobDescriptor, item_handler};
pub use error_handler::{ErrorHandler, Failed, JobErrorHandler, JobFailure};
pub use job_type::{JobType, TypedJobItemExecutor};
pub use listener::{DistributeOnceElasticJobListener, ElasticJobListener, JobListener, ListenerContext, ListenerRound};
pub use outcome::{IntoJobResult, JobError, JobResult};
pub use pool::JobExecutorThreadPoolSizeProvider;

pub use crate::engine::strategy::{Assignment, ShardingStrategy};
