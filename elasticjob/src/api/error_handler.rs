//! Error handlers: code that is called when a part of a job fails.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use chrono::{DateTime, FixedOffset};

use super::{JobResult, RunInfo};
use crate::config::{BoundOptions, Invalid, JobConfiguration, OptionNames, caught};
use crate::fire::Hook;
use crate::ident::{InstanceId, JobName, ShardingItem};

/// The setting that names a handler.
const SETTING: &str = "job-error-handler-type";

/// A failure of a job, and its cause. Its `Display` is the text that the handlers of ElasticJob send.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct JobFailure {
    /// The job as it is configured now.
    pub configuration: Arc<JobConfiguration>,
    /// The instance it failed on.
    pub instance: InstanceId,
    /// The part that failed.
    pub what: Failed,
    /// The run of a fire that failed. `None` for the check of the clock, for fires that did not begin and for a start.
    pub run: Option<Arc<RunInfo>>,
    /// The cause, with all its causes; for a panic its message and place.
    pub error: String,
    /// The time at which it was noticed, in the zone of the job.
    pub at: DateTime<FixedOffset>,
}

/// The part of a job that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failed {
    /// An item: it returned an error, it panicked, or it was cut off before its end.
    Item(ShardingItem),
    /// A listener.
    Listener {
        /// Its type name.
        type_name: String,
        /// The hook that it was called for.
        hook: Hook,
    },
    /// The check of the clock: see `max-time-diff-seconds`.
    Clock,
    /// The coordination of the job, which ended by a bug. It starts again by itself, a limited number of times in a
    /// row.
    Coordination,
    /// The configuration in the registry, which cannot be used. The last good one stays in force. A job without a good
    /// one waits, and the failure has the configuration of the program.
    Configuration,
    /// Fires of these items, or of all that the instance had or would have had when the list is empty: no instance began them, and
    /// none will. Of a manual trigger it may be unknown whether an item ran for it; the text says so.
    Fires(Vec<ShardingItem>),
}

impl JobFailure {
    /// A failure without a run. Made by the runtime, and by tests that call a handler themselves.
    pub fn new(
        configuration: Arc<JobConfiguration>,
        instance: InstanceId,
        what: Failed,
        error: impl Into<String>,
        at: DateTime<FixedOffset>,
    ) -> Self {
        Self { configuration, instance, what, run: None, error: error.into(), at }
    }

    /// The same failure with its run.
    #[must_use]
    pub fn of_run(self, run: Arc<RunInfo>) -> Self {
        Self { run: Some(run), ..self }
    }

    /// Name of the job.
    pub fn job_name(&self) -> &JobName {
        self.configuration.job_name()
    }

    /// A property of the job (`props`), where handlers have their options. `None` when it is not set.
    pub fn prop(&self, key: &str) -> Option<&str> {
        self.configuration.prop(key)
    }
}

/// One line for readers.
impl fmt::Display for JobFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { instance, what, run, error, at, .. } = self;
        write!(f, "Job '{}': {what} failed on {instance} at {}", self.job_name(), at.to_rfc3339())?;
        if let Some(run) = run {
            write!(f, " ({run})")?;
        }
        write!(f, ": {error}")
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Item(item) => write!(f, "item {item}"),
            Self::Listener { type_name, hook } => write!(f, "listener {type_name} {hook} the items"),
            Self::Clock => f.write_str("the check of the clock"),
            Self::Coordination => f.write_str("the coordination of the job"),
            Self::Configuration => f.write_str("the use of the configuration in the registry"),
            Self::Fires(items) if items.is_empty() => f.write_str("the begin of fires"),
            Self::Fires(items) => write!(f, "the begin of fires of items {items:?}"),
        }
    }
}

/// The code that is called when a part of a job fails. Jobs name it in `job-error-handler-type`; its options stand in
/// their `props`.
///
/// The library calls it concurrently with the job, on the runtime of the program: however long it takes, the job goes
/// on. An error or a panic of the handler is logged, together with the failure that it was to report. A job that is
/// shut down waits for it until the grace time of the shutdown is over, or for a few seconds where less of that time is
/// left. A program adds its own ones with
/// [`register_error_handler!`](crate::register_error_handler), or by hand with
/// [`CatalogBuilder::error_handler`](crate::spi::CatalogBuilder::error_handler).
///
/// # Examples
/// ```
/// use elasticjob::api::{JobErrorHandler, JobFailure, JobResult};
///
/// /// Calls the operator on duty.
/// struct Pager;
///
/// impl JobErrorHandler for Pager {
///     fn type_name(&self) -> &str {
///         "PAGER"
///     }
///
///     async fn handle(&self, failure: &JobFailure) -> JobResult {
///         let duty = failure.prop("pager.duty").unwrap_or("everybody");
///         println!("{duty}: {failure}");
///         Ok(())
///     }
/// }
///
/// elasticjob::register_error_handler!(Pager);
/// ```
pub trait JobErrorHandler: Send + Sync + 'static {
    /// The name in `job-error-handler-type`, unique in the program. The library asks for it once.
    fn type_name(&self) -> &str;

    /// The problems of the options of a job that names this handler. A job with problems is not started, and a change
    /// of its configuration that has problems is refused. Must not block. Default: no problems.
    fn check(&self, configuration: &JobConfiguration) -> Vec<Invalid> {
        let _ = configuration;
        Vec::new()
    }

    /// The problems of these options that only the host shows, such as a file that cannot be read. The library asks for
    /// them when the job is made, not at a change of its configuration; the check may take as long as reading a file
    /// takes. A job with problems is not started. Default: no problems.
    fn check_at_start(&self, configuration: &JobConfiguration) -> Vec<Invalid> {
        let _ = configuration;
        Vec::new()
    }

    /// The names of its options. A property that begins like one of them and is not one of them is a likely mistake,
    /// and the library warns of it at start. Default: none, so that it warns of nothing.
    fn options(&self) -> OptionNames {
        &[]
    }

    /// The options that the registry center does not decide alone: secrets, and the targets that they are sent to.
    /// Default: none.
    fn bound_options(&self) -> &'static [BoundOptions] {
        &[]
    }

    /// Handles a failure.
    fn handle(&self, failure: &JobFailure) -> impl Future<Output = JobResult> + Send;
}

/// An error handler of any type.
pub struct AnyJobErrorHandler {
    name: Box<str>,
    options: OptionNames,
    bound: &'static [BoundOptions],
    handler: Box<dyn Handle>,
}

impl AnyJobErrorHandler {
    /// Wraps an implementation.
    pub fn new(handler: impl JobErrorHandler) -> Self {
        let (name, options, bound) = (handler.type_name().into(), handler.options(), handler.bound_options());
        Self { name, options, bound, handler: Box::new(handler) }
    }

    /// The name in `job-error-handler-type`.
    pub fn type_name(&self) -> &str {
        &self.name
    }

    /// The problems of the options of a job that names this handler.
    pub fn check(&self, configuration: &JobConfiguration) -> Vec<Invalid> {
        caught(SETTING, || self.handler.check(configuration))
    }

    /// The problems of these options that only this host shows.
    pub fn check_at_start(&self, configuration: &JobConfiguration) -> Vec<Invalid> {
        caught(SETTING, || self.handler.check_at_start(configuration))
    }

    /// The names of its options.
    pub fn options(&self) -> OptionNames {
        self.options
    }

    /// The options that the registry center does not decide alone.
    pub fn bound_options(&self) -> &'static [BoundOptions] {
        self.bound
    }

    /// Calls the handler.
    pub(crate) async fn handle(&self, failure: &JobFailure) -> JobResult {
        self.handler.handle(failure).await
    }
}

impl fmt::Debug for AnyJobErrorHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AnyJobErrorHandler").field(&self.name).finish()
    }
}

/// A handler, called through a pointer.
trait Handle: Send + Sync {
    fn check(&self, configuration: &JobConfiguration) -> Vec<Invalid>;
    fn check_at_start(&self, configuration: &JobConfiguration) -> Vec<Invalid>;
    fn handle<'a>(&'a self, failure: &'a JobFailure) -> Pin<Box<dyn Future<Output = JobResult> + Send + 'a>>;
}

impl<H: JobErrorHandler> Handle for H {
    fn check(&self, configuration: &JobConfiguration) -> Vec<Invalid> {
        JobErrorHandler::check(self, configuration)
    }

    fn check_at_start(&self, configuration: &JobConfiguration) -> Vec<Invalid> {
        JobErrorHandler::check_at_start(self, configuration)
    }

    fn handle<'a>(&'a self, failure: &'a JobFailure) -> Pin<Box<dyn Future<Output = JobResult> + Send + 'a>> {
        Box::pin(JobErrorHandler::handle(self, failure))
    }
}

#[cfg(test)]
mod tests {
    use crate::api::context::fixture::context;

    use super::*;

    #[test]
    fn what_jobs_and_handlers_are_told_can_be_logged() {
        let props = [("email.password", "hunter2"), ("wechat.webhook", "https://h/hunter2"), ("email.host", "mail")];
        let context = context("job", "token=hunter2", "", &props);
        let (configuration, instance) = (Arc::new(context.configuration().clone()), context.instance_id().clone());
        let failure = JobFailure::new(configuration, instance, Failed::Clock, "late", context.scheduled_at());
        for shown in [format!("{context:?}"), format!("{failure:?}")] {
            assert!(shown.contains("mail") && !shown.contains("hunter2"), "{shown}");
        }
    }
}
