//! What a program with jobs needs: `use elasticjob_starter::prelude::*;`.

pub use elasticjob::api::{Inject, JobError, JobResult, ShardingContext};
pub use elasticjob::runtime::{OneOffJob, ScheduleJob, Triggered};

pub use crate::{AppError, ElasticJobApp, elastic_job, init_logging};
