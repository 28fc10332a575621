//! What the code that `#[elastic_job]` generates refers to. It changes without notice: use [`api`](crate::api).
//!
//! A wrong type is named once in that code, as the parameter of one function, and what that returns has no bound on it:
//! so it is reported once, where it stands.

use std::future::Future;
use std::pin::Pin;

pub use {linkme, tracing};

pub use crate::log;

use crate::api::{
    ArgumentSite, Beans, Dataflow, IntoFetched, IntoJobResult, ItemHandler, JobArgument, JobError, JobResult,
    MissingBean, ShardingContext,
};

/// Makes an argument for one run of one item.
pub type Take<T> = Box<dyn Fn(&ShardingContext) -> T + Send + Sync>;

/// Finds an argument, or adds what is missing to the list.
pub fn find<T: JobArgument + 'static>(
    beans: &Beans,
    name: &'static str,
    bean: Option<&'static str>,
    missing: &mut Vec<MissingBean>,
) -> Option<Take<T>> {
    let bound = T::bind(beans, ArgumentSite { name, bean });
    // The two functions of a dataflow job may miss the same.
    let bound = bound
        .map_err(|problem| {
            if !missing.contains(&problem) {
                missing.push(problem)
            }
        })
        .ok()?;
    Some(Box::new(move |context| T::take(&bound, context)))
}

/// Makes a handler of an async job function that returns `R`.
pub fn handler<R, F, Fut>(run: F) -> ItemHandler
where
    R: IntoJobResult + 'static,
    F: Fn(ShardingContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = R> + Send + 'static,
{
    crate::api::item_handler(run)
}

/// Makes a handler of a job function that blocks and returns `R`.
pub fn blocking_handler<R, F>(run: F) -> ItemHandler
where
    R: IntoJobResult + 'static,
    F: Fn(ShardingContext) -> R + Send + Sync + 'static,
{
    crate::api::blocking_item_handler(run)
}

/// The function that fetches `T`s, of a dataflow job.
pub struct Fetch<T>(Fetching<T>);

type Fetching<T> = Box<dyn Fn(ShardingContext) -> Boxed<Result<Vec<T>, JobError>> + Send + Sync>;

/// Takes a function that returns `R`.
pub fn fetch<R, F, Fut>(run: F) -> Fetch<R::Item>
where
    R: IntoFetched + 'static,
    F: Fn(ShardingContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = R> + Send + 'static,
{
    Fetch(Box::new(move |context| {
        let run = run(context);
        Box::pin(async move { run.await.into_fetched() })
    }))
}

impl<T: Send + 'static> Fetch<T> {
    /// Makes a handler with the function that processes what was fetched, and returns `R`.
    pub fn process<R, F, Fut>(self, run: F) -> ItemHandler
    where
        R: IntoJobResult + 'static,
        F: Fn(ShardingContext, Vec<T>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = R> + Send + 'static,
    {
        let process = move |context, data| -> Boxed<JobResult> {
            let run = run(context, data);
            Box::pin(async move { run.await.into_job_result() })
        };
        crate::api::dataflow_handler(Functions { fetch: self, process: Box::new(process) })
    }
}

/// The functions of a dataflow job, with their arguments found.
struct Functions<T> {
    fetch: Fetch<T>,
    process: Box<dyn Fn(ShardingContext, Vec<T>) -> Boxed<JobResult> + Send + Sync>,
}

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

impl<T: Send + 'static> Dataflow for Functions<T> {
    type Item = T;

    async fn fetch(&self, context: &ShardingContext) -> Result<Vec<T>, JobError> {
        (self.fetch.0)(context.clone()).await
    }

    async fn process(&self, context: &ShardingContext, data: Vec<T>) -> JobResult {
        (self.process)(context.clone(), data).await
    }
}
