//! Listeners that record their calls.

use std::sync::Arc;
use std::time::Duration;

use elasticjob::api::{JobListener, JobResult, ListenerContext, OnceJobListener};
use elasticjob::fire::Hook;

use super::recorder::Recorder;
use crate::records::{Listener, What};

/// Their type names in the configuration of a job.
pub(super) const TYPES: [&str; 2] = ["every-instance", "once"];

/// How long a call takes, so that it shows when an instance does not wait for it.
const CALL: Duration = Duration::from_millis(60);

pub(super) struct RecordEveryInstance(pub(super) Arc<Recorder>);

pub(super) struct RecordOnce(pub(super) Arc<Recorder>);

impl JobListener for RecordEveryInstance {
    fn type_name(&self) -> &str {
        TYPES[0]
    }

    async fn before_job_executed(&self, context: &ListenerContext) -> JobResult {
        call(&self.0, Listener::EveryInstance, Hook::Before, context).await
    }

    async fn after_job_executed(&self, context: &ListenerContext) -> JobResult {
        call(&self.0, Listener::EveryInstance, Hook::After, context).await
    }
}

impl OnceJobListener for RecordOnce {
    fn type_name(&self) -> &str {
        TYPES[1]
    }

    async fn at_last_started(&self, context: &ListenerContext) -> JobResult {
        call(&self.0, Listener::Once, Hook::Before, context).await
    }

    async fn at_last_completed(&self, context: &ListenerContext) -> JobResult {
        call(&self.0, Listener::Once, Hook::After, context).await
    }
}

/// The end of a call before the items is recorded, and the begin of one after them.
async fn call(recorder: &Recorder, listener: Listener, hook: Hook, context: &ListenerContext) -> JobResult {
    let (scheduled_ms, source) = (context.scheduled_at().timestamp_millis(), context.source());
    let called = What::Called { listener, hook, scheduled_ms, source };
    if hook == Hook::Before {
        tokio::time::sleep(CALL).await;
    }
    recorder.record(context.job_name().as_str(), called)?;
    if hook == Hook::After {
        tokio::time::sleep(CALL).await;
    }
    Ok(())
}
