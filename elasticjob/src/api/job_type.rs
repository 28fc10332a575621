//! Types of jobs: a type runs the items of jobs that have no function of their own.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use super::{ItemHandler, JobError, JobKind, JobResult, ShardingContext, item_handler};
use crate::config::{BoundOptions, ConfigurationCheck, Invalid, JobConfiguration, OptionNames, caught};

/// Runs the items of all jobs of a type, which name it in `elastic-job-type`. The `props` of each job have what differs
/// from job to job.
///
/// `SCRIPT` and `HTTP` are built in. A program adds its own ones with
/// [`register_job_type!`](crate::register_job_type), or by hand with
/// [`CatalogBuilder::job_type`](crate::spi::CatalogBuilder::job_type). The `TypedJobItemExecutor` of Java.
///
/// # Examples
/// ```
/// use elasticjob::api::{JobResult, ShardingContext, JobType};
/// use elasticjob::config::{Invalid, JobConfiguration};
///
/// /// Empties a table.
/// struct Truncate;
///
/// impl JobType for Truncate {
///     fn type_name(&self) -> &str {
///         "TRUNCATE"
///     }
///
///     fn check(&self, configuration: &JobConfiguration) -> Vec<Invalid> {
///         let missing = Invalid::prop("truncate.table", "is missing: give the name of the table");
///         configuration.prop("truncate.table").is_none().then_some(missing).into_iter().collect()
///     }
///
///     async fn process(&self, context: ShardingContext) -> JobResult {
///         let table = context.prop("truncate.table").ok_or("no table")?;
///         println!("item {} empties {table}", context.sharding_item());
///         Ok(())
///     }
/// }
///
/// elasticjob::register_job_type!(Truncate);
/// ```
#[doc(alias = "TypedJobItemExecutor")]
pub trait JobType: Send + Sync + 'static {
    /// The name in `elastic-job-type`, unique in the program. The library asks for it once.
    fn type_name(&self) -> &str;

    /// The problems of the configuration of a job of this type. A job with problems is not started, and a change of its
    /// configuration that has problems is refused. Must not block. Default: no problems.
    fn check(&self, configuration: &JobConfiguration) -> Vec<Invalid> {
        let _ = configuration;
        Vec::new()
    }

    /// The names of its options. A property that begins like one of them and is not one of them is a likely mistake,
    /// and the library warns of it at start. Default: none, so that it warns of nothing.
    fn options(&self) -> OptionNames {
        &[]
    }

    /// The options that the registry center does not decide alone: commands, addresses that are requested, secrets and
    /// the targets that they are sent to. Default: none.
    fn bound_options(&self) -> &'static [BoundOptions] {
        &[]
    }

    /// Runs an item, like the function of a job.
    fn process(&self, context: ShardingContext) -> impl Future<Output = JobResult> + Send;
}

/// A type of jobs of any implementation.
pub struct AnyJobType {
    name: Box<str>,
    handler: ItemHandler,
}

impl AnyJobType {
    /// Wraps an implementation.
    pub fn new(executor: impl JobType) -> Self {
        let (name, options, bound) = (executor.type_name().into(), executor.options(), executor.bound_options());
        let executor = Arc::new(executor);
        let checked = Arc::clone(&executor);
        let handler = item_handler(move |context| {
            let executor = Arc::clone(&executor);
            async move { executor.process(context).await }
        });
        let check =
            ConfigurationCheck::new(move |configuration| caught("elastic-job-type", || checked.check(configuration)));
        Self { name, handler: handler.checked_by(check).with_options(options).with_bound_options(bound) }
    }

    /// A type of jobs whose handler is made of their code. It refuses a job without code.
    pub(crate) fn of_code(kind: JobKind) -> Self {
        let reason = match kind {
            JobKind::Simple => {
                "SIMPLE is the type of jobs that are a function, and none has the name of this one; name the function with \
                 `elastic-job-class`"
            }
            JobKind::Dataflow => {
                "DATAFLOW is the type of jobs that have the functions `fetch` and `process`, and none has the name of this \
                 one; name the type that has them with `elastic-job-class`"
            }
        };
        let handler = item_handler(move |_| async move { JobResult::Err(JobError::message(reason)) });
        let check = ConfigurationCheck::new(move |_| vec![Invalid::new("elastic-job-type", reason)]);
        Self { name: kind.type_name().into(), handler: handler.checked_by(check) }
    }

    /// The name in `elastic-job-type`.
    pub fn type_name(&self) -> &str {
        &self.name
    }

    /// Runs the items of a job of this type.
    pub fn handler(&self) -> &ItemHandler {
        &self.handler
    }
}

impl fmt::Debug for AnyJobType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AnyJobType").field(&self.name).finish()
    }
}
