//! Starts a job without a schedule, which runs when it is asked to.

use std::sync::Arc;

use super::checks::of_type;
use super::{Bootstrap, StartError};
use crate::api::ItemHandler;
use crate::config::JobConfiguration;
use crate::registry::RegistryCenter;
use crate::runtime::environment::JobEnvironment;
use crate::runtime::handle::{OneOffJob, ShutdownMode};

/// A job without a schedule, before and after its start. It runs when it is asked to, see [`OneOffJob::execute`].
#[derive(Debug)]
pub struct OneOffJobBootstrap(Bootstrap);

impl OneOffJobBootstrap {
    /// Makes the job without starting it. Nothing is written to the registry yet.
    ///
    /// # Errors
    /// [`StartError`] when the configuration has a schedule, or asks for something that this program does not have.
    pub fn new(
        environment: &JobEnvironment,
        registry: Arc<dyn RegistryCenter>,
        configuration: JobConfiguration,
        handler: ItemHandler,
    ) -> Result<Self, StartError> {
        if configuration.fires_by_itself() {
            let job = configuration.job_name().clone();
            return Err(StartError::Kind { job, reason: "a one-off job must not have `cron` or `depends-on`" });
        }
        Bootstrap::new(environment, registry, configuration, handler).map(Self)
    }

    /// Makes a job of a type, as [`ScheduleJobBootstrap::of_type`](super::ScheduleJobBootstrap::of_type) does.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new); the type does not exist, or the configuration names another type.
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
    pub fn handle(&self) -> OneOffJob {
        OneOffJob::new(self.0.handle.clone())
    }

    /// Joins the group. Completes when the instance is registered. Dropping the future before that gives the start up:
    /// the job leaves again, as by [`ShutdownMode::Now`].
    ///
    /// # Errors
    /// [`StartError`] says why the group refused the job. After [`StartError::WaitsForConfiguration`] the job still
    /// tries to join.
    pub async fn start(&mut self) -> Result<(), StartError> {
        self.0.start().await
    }

    /// Leaves the group and completes when the job has left. Items that run may finish first, see [`ShutdownMode`].
    /// Then it waits for error handlers that still report failures: for the rest of the grace time, and 3 s at the
    /// least. Failures that they have not reported by then are logged.
    pub async fn shutdown(&mut self, mode: ShutdownMode) {
        self.0.shutdown(mode).await;
    }
}
