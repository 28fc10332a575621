//! The jobs of an application, of both kinds.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use elasticjob::api::{Beans, ItemHandler, ItemWork, JobError};
use elasticjob::ident::JobName;
use elasticjob::registry::RegistryCenter;
use elasticjob::runtime::{
    JobEnvironment, JobStatus, OneOffJob, OneOffJobBootstrap, ScheduleJob, ScheduleJobBootstrap, ShutdownMode,
    StartError,
};
use tokio::sync::watch;

use crate::error::Problem;
use crate::plan::{JobCode, Plan, PlannedJob, bind};

/// A job that was made, started or not.
pub(super) enum Job {
    Schedule(ScheduleJobBootstrap),
    OneOff(OneOffJobBootstrap),
}

/// The handle of a job.
#[derive(Clone)]
pub(super) enum Handle {
    Schedule(ScheduleJob),
    OneOff(OneOffJob),
}

impl Job {
    fn make(
        job: &PlannedJob,
        environment: &JobEnvironment,
        registry: Arc<dyn RegistryCenter>,
        handler: ItemHandler,
    ) -> Result<(Self, Handle), StartError> {
        let configuration = job.configuration.clone();
        if job.is_one_off() {
            let made = OneOffJobBootstrap::new(environment, registry, configuration, handler)?;
            let handle = Handle::OneOff(made.handle());
            Ok((Job::OneOff(made), handle))
        } else {
            let made = ScheduleJobBootstrap::new(environment, registry, configuration, handler)?;
            let handle = Handle::Schedule(made.handle());
            Ok((Job::Schedule(made), handle))
        }
    }

    pub async fn start(&mut self) -> Result<(), StartError> {
        match self {
            Job::Schedule(job) => job.schedule().await,
            Job::OneOff(job) => job.start().await,
        }
    }

    /// Its name, and its status as it changes.
    pub fn status(&self) -> (JobName, watch::Receiver<JobStatus>) {
        match self {
            Job::Schedule(job) => (job.handle().name().clone(), job.handle().status()),
            Job::OneOff(job) => (job.handle().name().clone(), job.handle().status()),
        }
    }

    pub async fn shutdown(&mut self, mode: ShutdownMode) {
        match self {
            Job::Schedule(job) => job.shutdown(mode).await,
            Job::OneOff(job) => job.shutdown(mode).await,
        }
    }
}

/// The jobs of an application and their handles by bean name.
pub(super) struct Jobs {
    pub jobs: Vec<Job>,
    pub handles: BTreeMap<String, Handle>,
}

/// Makes all jobs and finds the arguments of their functions, among which are the handles of all jobs.
///
/// # Errors
/// All jobs that cannot be made, and all arguments that have no value.
pub(super) fn make(
    plan: &Plan,
    environment_of: impl Fn(&PlannedJob) -> JobEnvironment,
    registry_of: impl Fn(&PlannedJob) -> Arc<dyn RegistryCenter>,
    provided: &Beans,
) -> Result<Jobs, Vec<Problem>> {
    let mut beans = provided.clone();
    let mut made = Jobs { jobs: Vec::new(), handles: BTreeMap::new() };
    let mut problems = Vec::new();
    let mut late = Vec::new();
    for job in &plan.jobs {
        let environment = environment_of(job);
        let (slot, handler) = match &job.code {
            JobCode::Function(function) => {
                let (slot, handler) = late_handler();
                (
                    Some((*function, slot)),
                    handler.checked_by(function.kind.check()).with_options(function.kind.options()),
                )
            }
            JobCode::Given(handler) => (None, handler.clone()),
            JobCode::Type => (None, handler_of_type(job, &environment)),
        };
        #[cfg(feature = "opentelemetry")]
        let handler = crate::spans::with_spans(handler, job.type_name());
        match Job::make(job, &environment, registry_of(job), handler) {
            Ok((job_made, handle)) => {
                match handle.clone() {
                    Handle::Schedule(handle) => beans.provide_named(&job.bean_name, handle),
                    Handle::OneOff(handle) => beans.provide_named(&job.bean_name, handle),
                };
                made.jobs.push(job_made);
                made.handles.insert(job.bean_name.clone(), handle);
                late.extend(slot.map(|(function, slot)| (job, function, slot)));
            }
            Err(error) => problems.push(error.into()),
        }
    }
    for (job, function, slot) in late {
        match bind(job.configuration.job_name().as_str(), function, &beans) {
            Ok(handler) => {
                slot.get_or_init(|| handler);
            }
            Err(missing) => problems.extend(missing.into_iter().map(Problem::from)),
        }
    }
    if problems.is_empty() { Ok(made) } else { Err(problems) }
}

fn handler_of_type(job: &PlannedJob, environment: &JobEnvironment) -> ItemHandler {
    let kind = job.configuration.job_type().expect("a job without a function has a type");
    environment.catalog().job_types().get(kind).expect("a plan has types that there are").handler().clone()
}

/// A handler that is set after its job was made: its arguments may be handles of jobs.
fn late_handler() -> (Arc<OnceLock<ItemHandler>>, ItemHandler) {
    let slot: Arc<OnceLock<ItemHandler>> = Arc::default();
    let found = Arc::clone(&slot);
    let handler = ItemHandler::new(move |context| match found.get() {
        Some(handler) => handler.work(context),
        None => {
            ItemWork::Async(Box::pin(async { Err(JobError::message("the job runs before its arguments are found")) }))
        }
    });
    (slot, handler)
}
