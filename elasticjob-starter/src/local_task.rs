//! One item of a job, run in this process, once: to try code, in tests, and in a carried process.

use std::sync::Arc;

use chrono::{DateTime, FixedOffset};
use elasticjob::api::{
    CancellationToken, Cut, ItemHandler, ItemRun, ItemWork, JobError, JobResult, Lease, RunInfo, ShardingContext,
};
use elasticjob::config::JobConfiguration;
use elasticjob::fire::{ExecutionSource, Fire, RunKey};
use elasticjob::ident::{InstanceId, ShardingItem};
use elasticjob::schedule::TimeZone;
use tokio_util::task::AbortOnDropHandle;

/// Runs one item of a job in this process, once, without a registry center and without its schedule. The `LocalTaskExecutor`
/// of ElasticJob-Cloud.
///
/// # Examples
/// ```
/// use elasticjob_starter::LocalTask;
/// use elasticjob_starter::elasticjob::api::{JobResult, ShardingContext, item_handler};
/// use elasticjob_starter::elasticjob::config::JobConfiguration;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> JobResult {
/// let job = item_handler(|context: ShardingContext| async move {
///     println!("item {} of {:?}", context.sharding_item(), context.sharding_parameter());
/// });
/// let configuration = JobConfiguration::builder("myJob", 3).cron("0/5 * * * * ?").build()?;
/// LocalTask::new(job, configuration, 0).run().await
/// # }
/// ```
#[derive(Debug)]
pub struct LocalTask {
    handler: ItemHandler,
    configuration: JobConfiguration,
    item: ShardingItem,
    key: RunKey,
    fencing_token: Option<i64>,
    attempt: u32,
    stop: CancellationToken,
    cancellation: CancellationToken,
}

impl LocalTask {
    /// The run of an item, for a fire at this time.
    pub fn new(job: ItemHandler, configuration: JobConfiguration, item: ShardingItem) -> Self {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let now = i64::try_from(now.as_millis()).unwrap_or(i64::MAX);
        let cancellation = CancellationToken::new();
        Self {
            handler: job,
            configuration,
            item,
            key: RunKey::new(Fire::Scheduled(now), ExecutionSource::NormalTrigger),
            fencing_token: None,
            attempt: 1,
            stop: cancellation.child_token(),
            cancellation,
        }
    }

    /// The same run for this fire, with the token of its begin and the attempt of its carrier.
    pub(crate) fn of_fire(self, key: RunKey, fencing_token: Option<i64>, attempt: u32) -> Self {
        Self { key, fencing_token, attempt, ..self }
    }

    /// Asks the run to end: see [`ShardingContext::stop_wanted`].
    pub(crate) fn stop_token(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Fires when the run has to end: see [`ShardingContext::cancelled`].
    pub fn cancellation_token(&self) -> CancellationToken {
        self.cancellation.clone()
    }

    /// Runs the item to its end. Dropping the future drops the run; code that blocks goes on. It needs a tokio runtime.
    ///
    /// # Errors
    /// The error of the job, its panic, or that it has no such item.
    pub async fn run(self) -> JobResult {
        let total = self.configuration.sharding_total_count();
        if self.item >= total {
            let job = self.configuration.job_name();
            return Err(JobError::message(format!("job '{job}' has no item {}: it has {total}, from 0", self.item)));
        }
        let scheduled_at = scheduled_at(self.key.fire, &self.configuration);
        let instance = InstanceId::of_process("127.0.0.1", std::process::id());
        let run = RunInfo::new(self.key, Arc::new(self.configuration), instance, vec![self.item], scheduled_at);
        let context = ShardingContext::new(ItemRun {
            run: Arc::new(run),
            item: self.item,
            fencing_token: self.fencing_token,
            attempt: self.attempt,
            stop: self.stop,
            cancellation: self.cancellation,
            cut: Cut::default(),
            lease: Lease::default(),
        });
        let handler = self.handler;
        // A task of its own: a panic of the job ends in its result.
        let work = async move {
            match handler.work(context) {
                ItemWork::Async(run) => run.await,
                ItemWork::Blocking(run) => tokio::task::spawn_blocking(run).await?,
            }
        };
        match AbortOnDropHandle::new(tokio::spawn(work)).await {
            Ok(result) => result,
            Err(error) => Err(JobError::message(format!("it panicked: {error}"))),
        }
    }
}

/// The time of a fire in the zone of its job.
fn scheduled_at(fire: Fire, configuration: &JobConfiguration) -> DateTime<FixedOffset> {
    let zone = configuration.schedule().map(|schedule| schedule.time_zone()).or_else(|| TimeZone::local().ok());
    let utc = DateTime::from_timestamp_millis(fire.scheduled_for()).unwrap_or_default();
    let seconds = zone.map_or(0, |zone| zone.offset_at(utc.timestamp()));
    utc.with_timezone(
        &FixedOffset::east_opt(seconds).unwrap_or(FixedOffset::east_opt(0).expect("no offset is an offset")),
    )
}

#[cfg(test)]
mod tests {
    use elasticjob::api::{blocking_item_handler, item_handler};

    use super::*;

    fn configuration() -> JobConfiguration {
        let job = JobConfiguration::builder("local", 2).cron("0 0 3 * * ?").time_zone("Asia/Shanghai");
        job.sharding_item_parameters("0=a,1=b").build().expect("it is right")
    }

    #[tokio::test]
    async fn an_item_runs_once_with_its_own_parameter_and_zone() {
        let (told, mut runs) = tokio::sync::mpsc::unbounded_channel();
        let job = item_handler(move |context: ShardingContext| {
            let run = (context.sharding_parameter().map(str::to_owned), context.scheduled_at().offset().to_string());
            let sent = told.send(run).map_err(|_| "nobody listens");
            async move { sent }
        });
        LocalTask::new(job, configuration(), 1).run().await.expect("it ends well");
        assert_eq!(runs.recv().await, Some((Some("b".to_owned()), "+08:00".to_owned())));
        assert_eq!(runs.recv().await, None);
    }

    #[tokio::test]
    async fn an_error_a_panic_and_a_missing_item_are_its_result() {
        let fails = item_handler(|_| async { Err::<(), _>("half done") });
        let error = LocalTask::new(fails, configuration(), 0).run().await.expect_err("it fails");
        assert_eq!(error.to_string(), "half done");
        let panics = blocking_item_handler(|_| -> JobResult { panic!("the table is gone") });
        let error = LocalTask::new(panics.clone(), configuration(), 0).run().await.expect_err("it panics");
        assert!(error.to_string().contains("panicked"), "{error}");
        let error = LocalTask::new(panics, configuration(), 2).run().await.expect_err("there is no such item");
        assert_eq!(error.to_string(), "job 'local' has no item 2: it has 2, from 0");
    }
}
