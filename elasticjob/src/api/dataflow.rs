//! Dataflow jobs: a job fetches data, then processes them.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use super::{ItemHandler, JobError, JobResult, ShardingContext, item_handler};
use crate::config::{JobKind, is_streaming};
use crate::log::debug;

/// A job that fetches data and processes them. The `DataflowJob` of Java.
///
/// # Rounds
///
/// A run of an item is one round: `fetch`, and `process` unless nothing was fetched. With `streaming.process: true` in
/// the `props` of the job another round follows, until nothing is fetched or
/// [a stop is wanted](ShardingContext::stop_wanted): the leader is about to reshard, the instance is leaving, the
/// server or the item is disabled, the properties of the job changed. Then the round under way is completed, and the
/// item has ended well; the next fire fetches the rest. Fires that come while a stream goes on are misfires. A stream
/// keeps its slot in the pool of the job: an item without a slot waits until another item has ended.
///
/// When the session of the instance can no longer be proven, the run is cancelled in the middle of a round, as every
/// run is.
///
/// An error of either function ends the run.
///
/// # Examples
///
/// The attribute makes a dataflow job of an `impl` with two functions, see [`elastic_job`](macro@crate::elastic_job).
/// With the builder API:
///
/// ```
/// use elasticjob::api::{Dataflow, JobError, JobResult, ShardingContext, dataflow_handler};
///
/// struct Order {
///     id: u64,
/// }
///
/// struct SettleOrders;
///
/// impl Dataflow for SettleOrders {
///     type Item = Order;
///
///     async fn fetch(&self, context: &ShardingContext) -> Result<Vec<Order>, JobError> {
///         // Of a database, those of this item that are not settled yet, at most a hundred.
///         Ok(vec![Order { id: context.sharding_item().into() }])
///     }
///
///     async fn process(&self, _context: &ShardingContext, orders: Vec<Order>) -> JobResult {
///         for order in orders {
///             println!("order {} is settled", order.id);
///         }
///         Ok(())
///     }
/// }
///
/// let handler = dataflow_handler(SettleOrders);
/// ```
#[doc(alias = "DataflowJob")]
pub trait Dataflow: Send + Sync + 'static {
    /// The type of the data.
    type Item: Send;

    /// Fetches the data to process for the item; an empty list ends the run. A `fetch` that waits for data should
    /// return when [`stop_wanted`](ShardingContext::stop_wanted) completes.
    fn fetch(&self, context: &ShardingContext) -> impl Future<Output = Result<Vec<Self::Item>, JobError>> + Send;

    /// Processes the data. Never called with an empty list.
    fn process(&self, context: &ShardingContext, data: Vec<Self::Item>) -> impl Future<Output = JobResult> + Send;
}

/// Makes a handler of a dataflow.
pub fn dataflow_handler(dataflow: impl Dataflow) -> ItemHandler {
    let dataflow = Arc::new(dataflow);
    let handler = item_handler(move |context| {
        let dataflow = Arc::clone(&dataflow);
        async move { run(&*dataflow, &context).await }
    });
    handler.checked_by(JobKind::Dataflow.check()).with_options(JobKind::Dataflow.options())
}

async fn run(dataflow: &impl Dataflow, context: &ShardingContext) -> JobResult {
    let is_streaming = is_streaming(context.configuration()).unwrap_or_default();
    let mut rounds = 0_u64;
    loop {
        let data = dataflow.fetch(context).await?;
        if data.is_empty() {
            break;
        }
        dataflow.process(context, data).await?;
        rounds += 1;
        if !is_streaming || context.is_stop_wanted() {
            break;
        }
        // Rounds that never wait for anything would keep the thread, and could not be cut off: this gives the thread
        // back once a round.
        tokio::task::yield_now().await;
    }
    debug!(job = %context.job_name(), item = context.sharding_item(), rounds, "the dataflow has ended");
    Ok(())
}

/// A type that the function `fetch` of a job may return: data, or a result whose error can be displayed. The error is
/// reported with its causes as [`IntoJobResult`](super::IntoJobResult) says.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not what `fetch` of a dataflow job may return",
    label = "return `Vec<T>` or `Result<Vec<T>, E>` where `E: Display`"
)]
pub trait IntoFetched {
    /// The type of the data.
    type Item: Send;

    /// Converts it into a result.
    ///
    /// # Errors
    /// The error of the function.
    fn into_fetched(self) -> Result<Vec<Self::Item>, JobError>;
}

impl<T: Send> IntoFetched for Vec<T> {
    type Item = T;

    fn into_fetched(self) -> Result<Vec<T>, JobError> {
        Ok(self)
    }
}

impl<T: Send, E: fmt::Display> IntoFetched for Result<Vec<T>, E> {
    type Item = T;

    fn into_fetched(self) -> Result<Vec<T>, JobError> {
        self.map_err(|error| JobError::displayed(&error))
    }
}

#[cfg(test)]
mod tests;
