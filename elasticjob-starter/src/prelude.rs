//! What a program with jobs needs: `use elasticjob_starter::prelude::*;`.

pub use elasticjob::api::{
    DistributeOnceElasticJobListener, ElasticJobListener, Inject, JobError, JobResult, ListenerContext, ShardingContext,
};
pub use elasticjob::runtime::{OneOffJob, ScheduleJob, Triggered};
pub use elasticjob::{register_listener, register_once_listener};

pub use crate::{AppError, ElasticJobApp, elastic_job, init_logging};
