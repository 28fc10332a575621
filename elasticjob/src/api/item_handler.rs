//! The handler of a job, which runs its items.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use super::{IntoJobResult, JobResult, ShardingContext};
use crate::config::{BoundOptions, ConfigurationCheck, Invalid, JobConfiguration, OptionNames};

/// The run of one item.
pub type ItemFuture = Pin<Box<dyn Future<Output = JobResult> + Send + 'static>>;

/// The run of one item that blocks its thread.
pub type BlockingItem = Box<dyn FnOnce() -> JobResult + Send + 'static>;

/// The run of one item, not begun yet.
pub enum ItemWork {
    /// A future. It is dropped when the run is cut off.
    Async(ItemFuture),
    /// A function that blocks. It runs on a thread of its own, and nothing can stop it from outside.
    Blocking(BlockingItem),
}

/// Runs an item. A job function becomes a handler once its arguments are found. Cheap to clone.
#[derive(Clone)]
pub struct ItemHandler {
    work: Arc<dyn Fn(ShardingContext) -> ItemWork + Send + Sync>,
    check: ConfigurationCheck,
    options: OptionNames,
    bound: &'static [BoundOptions],
}

impl ItemHandler {
    /// A handler made of a function.
    pub fn new(work: impl Fn(ShardingContext) -> ItemWork + Send + Sync + 'static) -> Self {
        Self { work: Arc::new(work), check: ConfigurationCheck::default(), options: &[], bound: &[] }
    }

    /// A handler with a check of the configuration. A job whose configuration does not pass is not started, and a
    /// change of the configuration that does not pass is refused.
    #[must_use]
    pub fn checked_by(self, check: ConfigurationCheck) -> Self {
        Self { check, ..self }
    }

    /// A handler that reads these options. At the start of a job the library warns of a property that looks like one of
    /// them and is not one of them.
    #[must_use]
    pub fn with_options(self, options: OptionNames) -> Self {
        Self { options, ..self }
    }

    /// A handler with options that the registry center does not decide alone.
    #[must_use]
    pub fn with_bound_options(self, bound: &'static [BoundOptions]) -> Self {
        Self { bound, ..self }
    }

    /// A handler that has each run wrapped, with the same checks and options: for what belongs around the runs of all jobs,
    /// such as spans of a tracing. `wrap` is called when the work is made, which may be before it begins: an item may have to
    /// wait for its turn.
    #[must_use]
    pub fn around(self, wrap: impl Fn(&ShardingContext, ItemWork) -> ItemWork + Send + Sync + 'static) -> Self {
        let work = self.work;
        let wrapped = move |context: ShardingContext| {
            let made = work(context.clone());
            wrap(&context, made)
        };
        Self { work: Arc::new(wrapped), ..self }
    }

    /// The run of an item.
    pub fn work(&self, context: ShardingContext) -> ItemWork {
        (self.work)(context)
    }

    /// The check of the configuration.
    pub fn check(&self) -> &ConfigurationCheck {
        &self.check
    }

    /// The problems of the configuration of a program, without those that it leaves to the registry center.
    pub fn problems_of_program(&self, configuration: &JobConfiguration) -> Vec<Invalid> {
        let mut problems = self.check.problems(configuration);
        problems.retain(|problem| !configuration.leaves_to_registry(problem, self.bound));
        problems
    }

    /// The options that the registry center does not decide alone.
    pub fn bound_options(&self) -> &'static [BoundOptions] {
        self.bound
    }

    /// The options that it reads.
    pub fn options(&self) -> OptionNames {
        self.options
    }
}

impl fmt::Debug for ItemHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ItemHandler").finish_non_exhaustive()
    }
}

impl fmt::Debug for ItemWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Async(_) => "Async",
            Self::Blocking(_) => "Blocking",
        })
    }
}

/// Makes a handler of an async function or closure that takes the sharding context.
pub fn item_handler<F, Fut>(function: F) -> ItemHandler
where
    F: Fn(ShardingContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoJobResult> + Send + 'static,
{
    ItemHandler::new(move |context| {
        let run = function(context);
        ItemWork::Async(Box::pin(async move { run.await.into_job_result() }))
    })
}

/// Makes a handler of a plain function or closure that takes the sharding context, and may block: for example with a
/// library without async, or a long computation.
///
/// Items run on the threads that tokio has for blocking work, as many at a time as the pool of the job allows. The
/// default pool is `CPU`: twice as many items as there are processors. Such a run cannot be dropped. When it is cut
/// off, only its token fires: let the function look at [`ShardingContext::is_cancelled`] every now and then. A run that
/// goes on holds its item until it returns. A shutdown stops waiting for it 10 s after the grace time at the latest;
/// the process does not end then, as tokio waits for these threads when its runtime is dropped.
///
/// # Examples
/// ```
/// use elasticjob::api::{JobResult, ShardingContext, blocking_item_handler};
///
/// let handler = blocking_item_handler(|context: ShardingContext| -> JobResult {
///     for page in 0..100 {
///         if context.is_stop_wanted() {
///             break;
///         }
///         std::fs::write(std::env::temp_dir().join(format!("page-{page}")), "...")?;
///     }
///     Ok(())
/// });
/// ```
pub fn blocking_item_handler<F, R>(function: F) -> ItemHandler
where
    F: Fn(ShardingContext) -> R + Send + Sync + 'static,
    R: IntoJobResult,
{
    let function = Arc::new(function);
    ItemHandler::new(move |context| {
        let function = Arc::clone(&function);
        ItemWork::Blocking(Box::new(move || function(context).into_job_result()))
    })
}
