//! What the code that `#[elastic_job]` generates refers to. It changes without notice: use [`api`](crate::api).
//!
//! A wrong type is named once in that code, as the parameter of one function, and what that returns has no bound on it:
//! so it is reported once, where it stands.

use std::future::Future;

pub use linkme;

use crate::api::{ArgumentSite, Beans, IntoJobResult, ItemHandler, JobArgument, MissingBean, ShardingContext};

/// Makes an argument for one run of one item.
pub type Take<T> = Box<dyn Fn(&ShardingContext) -> T + Send + Sync>;

/// Finds an argument, or adds what is missing to the list.
pub fn find<T: JobArgument + 'static>(
    beans: &Beans,
    name: &'static str,
    bean: Option<&'static str>,
    missing: &mut Vec<MissingBean>,
) -> Option<Take<T>> {
    let bound = T::bind(beans, ArgumentSite { name, bean }).map_err(|problem| missing.push(problem)).ok()?;
    Some(Box::new(move |context| T::take(&bound, context)))
}

/// Makes a handler of a job function that returns `R`.
pub fn handler<R, F, Fut>(run: F) -> ItemHandler
where
    R: IntoJobResult + 'static,
    F: Fn(ShardingContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = R> + Send + 'static,
{
    crate::api::item_handler(run)
}
