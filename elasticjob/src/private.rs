//! What the code that `#[elastic_job]` generates refers to. It changes without notice: use [`api`](crate::api).
//!
//! A wrong type is named once in that code, as the parameter of one function, and what that returns has no bound on it:
//! so it is reported once, where it stands.

use std::future::Future;

pub use linkme;

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

/// Makes a handler of the functions of a dataflow job. `R` is what `fetch` returns, `P` what `process` returns.
pub fn dataflow_handler<R, P, F, Fetching, G, Processing>(fetch: F, process: G) -> ItemHandler
where
    R: IntoFetched + 'static,
    P: IntoJobResult + 'static,
    F: Fn(ShardingContext) -> Fetching + Send + Sync + 'static,
    Fetching: Future<Output = R> + Send + 'static,
    G: Fn(ShardingContext, Vec<R::Item>) -> Processing + Send + Sync + 'static,
    Processing: Future<Output = P> + Send + 'static,
{
    crate::api::dataflow_handler(Functions { fetch, process })
}

/// The functions of a dataflow job, with their arguments found.
struct Functions<F, G> {
    fetch: F,
    process: G,
}

impl<R, P, F, Fetching, G, Processing> Dataflow for Functions<F, G>
where
    R: IntoFetched + 'static,
    P: IntoJobResult + 'static,
    F: Fn(ShardingContext) -> Fetching + Send + Sync + 'static,
    Fetching: Future<Output = R> + Send + 'static,
    G: Fn(ShardingContext, Vec<R::Item>) -> Processing + Send + Sync + 'static,
    Processing: Future<Output = P> + Send + 'static,
{
    type Item = R::Item;

    async fn fetch(&self, context: &ShardingContext) -> Result<Vec<R::Item>, JobError> {
        (self.fetch)(context.clone()).await.into_fetched()
    }

    async fn process(&self, context: &ShardingContext, data: Vec<R::Item>) -> JobResult {
        (self.process)(context.clone(), data).await.into_job_result()
    }
}
