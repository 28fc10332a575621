//! A job function as the attribute registers it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use super::{Beans, IntoJobResult, JobResult, MissingBean, ShardingContext};
use crate::config::{ConfigurationCheck, JobSettings};

/// The run of one item.
pub type ItemFuture = Pin<Box<dyn Future<Output = JobResult> + Send + 'static>>;

/// Runs an item: what a job function becomes once its arguments are found. Cheap to clone.
#[derive(Clone)]
pub struct ItemHandler {
    run: Arc<dyn Fn(ShardingContext) -> ItemFuture + Send + Sync>,
    check: ConfigurationCheck,
}

impl ItemHandler {
    /// A handler made of a function.
    pub fn new(run: impl Fn(ShardingContext) -> ItemFuture + Send + Sync + 'static) -> Self {
        Self { run: Arc::new(run), check: ConfigurationCheck::default() }
    }

    /// A handler that needs something of the configuration. A job whose configuration does not have it is not started,
    /// and a change that takes it away is refused.
    #[must_use]
    pub fn checked_by(self, check: ConfigurationCheck) -> Self {
        Self { check, ..self }
    }

    /// The run of an item.
    pub fn run(&self, context: ShardingContext) -> ItemFuture {
        (self.run)(context)
    }

    /// What it needs of a configuration.
    pub fn check(&self) -> &ConfigurationCheck {
        &self.check
    }
}

impl fmt::Debug for ItemHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ItemHandler").finish_non_exhaustive()
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
        Box::pin(async move { run.await.into_job_result() })
    })
}

/// A job function found when linking. Made by `#[elastic_job]`.
#[derive(Debug, Clone, Copy)]
pub struct JobDescriptor {
    /// Name of the job: the option `name`, else the name of the function.
    pub name: &'static str,
    /// Path of the function, for example `my_app::jobs::sync_orders`: what `elastic-job-class` refers to. The name of
    /// the function alone is enough where it is unique.
    pub function: &'static str,
    /// File and line of the function.
    pub place: &'static str,
    /// The settings that the attribute gives.
    pub settings: fn() -> JobSettings,
    /// Finds the arguments of the function among what the application provides.
    pub bind: fn(&Beans) -> Result<ItemHandler, Vec<MissingBean>>,
}
