//! A context for tests.

use std::sync::Arc;

use chrono::DateTime;
use tokio_util::sync::CancellationToken;

use super::{Cut, ItemRun, Lease, RunInfo, ShardingContext};
use crate::config::JobConfiguration;
use crate::fire::{ExecutionSource, Fire, RunKey};
use crate::ident::InstanceId;

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
        run: Arc::new(RunInfo::new(
            RunKey::new(Fire::Scheduled(0), source),
            Arc::new(configuration),
            instance,
            vec![0, 1],
            DateTime::UNIX_EPOCH.fixed_offset(),
        )),
        item: 0,
        fencing_token: Some(1),
        attempt: 1,
        stop: cancellation.child_token(),
        cancellation,
        cut: Cut::default(),
        lease: Lease::default(),
    })
}
