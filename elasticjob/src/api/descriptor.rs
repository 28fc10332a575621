//! A job function as the attribute registers it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use super::{Beans, IntoJobResult, JobResult, MissingBean, ShardingContext};
use crate::config::JobSettings;

/// The run of one item.
pub type ItemFuture = Pin<Box<dyn Future<Output = JobResult> + Send + 'static>>;

/// Runs an item: what a job function becomes once its arguments are found.
pub type ItemHandler = Arc<dyn Fn(ShardingContext) -> ItemFuture + Send + Sync + 'static>;

/// Makes a handler of an async function or closure that takes the sharding context.
pub fn item_handler<F, Fut>(function: F) -> ItemHandler
where
    F: Fn(ShardingContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoJobResult> + Send + 'static,
{
    Arc::new(move |context| {
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
