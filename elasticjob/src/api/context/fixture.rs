//! A context for tests.

use std::sync::Arc;

use chrono::DateTime;
use tokio_util::sync::CancellationToken;

use super::{ItemRun, ShardingContext};
use crate::config::JobConfiguration;
use crate::fire::ExecutionSource;
use crate::ident::{InstanceId, TaskId};

/// The context of item 0 of two items that run here, of a job with three.
pub(crate) fn context(job: &str, parameter: &str, parameters: &str, props: &[(&str, &str)]) -> ShardingContext {
    of_source(ExecutionSource::NormalTrigger, job, parameter, parameters, props)
}

/// The context of an item that was taken over.
pub(crate) fn taken_over(job: &str) -> ShardingContext {
    of_source(ExecutionSource::Failover, job, "", "", &[])
}

fn of_source(
    source: ExecutionSource,
    job: &str,
    parameter: &str,
    parameters: &str,
    props: &[(&str, &str)],
) -> ShardingContext {
    let builder = JobConfiguration::builder(job, 3).job_parameter(parameter).sharding_item_parameters(parameters);
    let builder = props.iter().fold(builder, |builder, (key, value)| builder.prop(*key, *value));
    let configuration = builder.build().unwrap();
    let instance = InstanceId::of_process("10.0.0.1", 1234);
    let cancellation = CancellationToken::new();
    ShardingContext::new(ItemRun {
        task_id: TaskId::new(configuration.job_name(), [0, 1], &instance),
        configuration: Arc::new(configuration),
        instance,
        item: 0,
        scheduled_at: DateTime::UNIX_EPOCH.fixed_offset(),
        source,
        fencing_token: Some(1),
        stop: cancellation.child_token(),
        cancellation,
    })
}
