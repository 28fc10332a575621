//! Starts a job that follows a schedule or runs after other jobs.

use std::sync::Arc;

use super::checks::of_type;
use super::{Bootstrap, StartError};
use crate::api::ItemHandler;
use crate::config::JobConfiguration;
use crate::registry::RegistryCenter;
use crate::runtime::environment::JobEnvironment;
use crate::runtime::handle::{ScheduleJob, ShutdownMode};

/// A job with a schedule, before and after its start.
///
/// # Examples
/// ```
/// use elasticjob::api::{ShardingContext, item_handler};
/// use elasticjob::config::JobConfiguration;
/// use elasticjob::runtime::{JobEnvironment, ScheduleJobBootstrap, ShutdownMode};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let environment = JobEnvironment::builder().build()?;
/// let registry = environment.embedded_registry();
/// let configuration = JobConfiguration::builder("sync-orders", 3).cron("0/5 * * * * ?").build()?;
/// let handler = item_handler(|context: ShardingContext| async move {
///     println!("item {}", context.sharding_item());
/// });
/// let mut job = ScheduleJobBootstrap::new(&environment, registry, configuration, handler)?;
/// job.schedule().await?;
/// job.shutdown(ShutdownMode::Graceful).await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ScheduleJobBootstrap(Bootstrap);

impl ScheduleJobBootstrap {
    /// Makes the job without starting it. Nothing is written to the registry yet.
    ///
    /// # Errors
    /// [`StartError`] when the configuration has no schedule, or asks for something that this program does not have.
    pub fn new(
        environment: &JobEnvironment,
        registry: Arc<dyn RegistryCenter>,
        configuration: JobConfiguration,
        handler: ItemHandler,
    ) -> Result<Self, StartError> {
        if !configuration.fires_by_itself() {
            let job = configuration.job_name().clone();
            return Err(StartError::Kind { job, reason: "a scheduled job needs `cron` or `depends-on`" });
        }
        Bootstrap::new(environment, registry, configuration, handler).map(Self)
    }

    /// Makes a job of a type that the environment's [catalog](JobEnvironment::catalog) has, which needs no code: `SCRIPT`,
    /// `HTTP`, or an own one.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new); the type does not exist, or the configuration names another type.
    ///
    /// # Examples
    /// ```
    /// # use elasticjob::config::JobConfiguration;
    /// # use elasticjob::runtime::{JobEnvironment, ScheduleJobBootstrap};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let environment = JobEnvironment::builder().build()?;
    /// # let registry = environment.embedded_registry();
    /// let backup = JobConfiguration::builder("backup", 1).cron("0 30 2 * * ?").prop("script.command.line", "/opt/backup.sh");
    /// let job = ScheduleJobBootstrap::of_type(&environment, registry, "SCRIPT", backup.build()?)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn of_type(
        environment: &JobEnvironment,
        registry: Arc<dyn RegistryCenter>,
        job_type: &str,
        configuration: JobConfiguration,
    ) -> Result<Self, StartError> {
        let (configuration, handler) = of_type(environment, job_type, configuration)?;
        Self::new(environment, registry, configuration, handler)
    }

    /// The handle. It can be used before the start: until then it answers that the job is not running.
    pub fn handle(&self) -> ScheduleJob {
        ScheduleJob::new(self.0.handle.clone())
    }

    /// Joins the group and follows the schedule from now on. Completes when the instance is registered. Dropping the
    /// future before that gives the start up: the job leaves again, as by [`ShutdownMode::Now`].
    ///
    /// # Errors
    /// [`StartError`] says why the group refused the job. After [`StartError::WaitsForConfiguration`] the job still
    /// tries to join.
    pub async fn schedule(&mut self) -> Result<(), StartError> {
        self.0.start().await
    }

    /// Leaves the group and completes when the job has left. Items that run may finish first, see [`ShutdownMode`].
    /// Then it waits for error handlers that still report failures: for the rest of the grace time, and 3 s at the
    /// least. Failures that they have not reported by then are logged.
    pub async fn shutdown(&mut self, mode: ShutdownMode) {
        self.0.shutdown(mode).await;
    }
}
