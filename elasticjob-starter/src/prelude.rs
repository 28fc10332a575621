//! The imports of a program with jobs: `use elasticjob_starter::prelude::*;`.

pub use elasticjob::api::{
    Assignment, CancellationToken, Dataflow, Inject, JobClass, JobError, JobErrorHandler, JobFailure, JobListener,
    JobResult, JobType, ListenerContext, OnceJobListener, PoolSizeProvider, ShardingContext, ShardingStrategy,
    classed_item_handler,
};
pub use elasticjob::ident::{InstanceId, JobName, ShardingItem};
pub use elasticjob::runtime::{OneOffJob, ScheduleJob, Triggered};
pub use elasticjob::trace::{JobEvent, TracingStorage, WriteError};

pub use crate::{
    AppError, ElasticJobApp, elastic_job, init_logging, register_error_handler, register_job_type, register_listener,
    register_once_listener, register_pool_size_provider, register_sharding_strategy, register_tracing_storage,
};
