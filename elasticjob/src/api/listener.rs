//! Listeners: code that is called before and after the items of a job.

mod context;
mod dynamic;

use std::future::Future;
use std::time::Duration;

use super::JobResult;
pub use context::{ListenerContext, ListenerRound};
pub use dynamic::AnyJobListener;

/// A listener that every instance calls around its items of a fire.
///
/// It is found by its type name, which `job-listener-types` of a job names (`listeners = ["..."]` in the attribute). Use
/// it for what belongs to the host: files to fetch before, to delete after.
///
/// ```
/// use elasticjob::api::{JobListener, JobResult, ListenerContext};
///
/// struct TemporaryFiles;
///
/// impl JobListener for TemporaryFiles {
///     fn type_name(&self) -> &str {
///         "temporary-files"
///     }
///
///     async fn after_job_executed(&self, context: &ListenerContext) -> JobResult {
///         std::fs::remove_dir_all(std::env::temp_dir().join(context.job_name().as_str()))?;
///         Ok(())
///     }
/// }
///
/// elasticjob::register_listener!(TemporaryFiles);
/// ```
///
/// # When it is called
///
/// Around the items that one instance runs for one fire: also when it makes up for a missed fire, and when it takes over
/// lost items. Java calls it for a fire without items, too; this implementation does not. The items start when the last
/// listener before them has returned, and the run is over when the last one after them has: until then the next fire
/// counts as missed.
///
/// # When it fails
///
/// The error or panic of a listener is logged with the listener, the job and the fire, and the run goes on as if the
/// listener had returned.
///
/// When a run is cut off, because its session can no longer be proven or the grace time of a shutdown is over, the
/// token of the context fires, and the future of the call is dropped a moment later. Listeners that were not called by
/// then are not called any more, also not after the items.
#[doc(alias = "ElasticJobListener")]
pub trait JobListener: Send + Sync + 'static {
    /// The name in `job-listener-types`. Always the same one.
    fn type_name(&self) -> &str;

    /// The order of the calls, before and after the items: ascending, and by the order in the configuration for equal
    /// numbers. Default: the largest number.
    fn order(&self) -> i32 {
        i32::MAX
    }

    /// Called before the items start. Java: `beforeJobExecuted`.
    fn before_job_executed(&self, context: &ListenerContext) -> impl Future<Output = JobResult> + Send {
        let _ = context;
        async { Ok(()) }
    }

    /// Called when all items have ended, well or not. Java: `afterJobExecuted`.
    fn after_job_executed(&self, context: &ListenerContext) -> impl Future<Output = JobResult> + Send {
        let _ = context;
        async { Ok(()) }
    }
}

/// A listener that one instance calls on behalf of the whole group, once before and once after all items of a fire. The
/// `AbstractDistributeOnceElasticJobListener` of Java.
///
/// Found as a [`JobListener`] is. Use it for what belongs to all items together: a table to fill before, a report to
/// write after.
///
/// ```
/// use std::time::Duration;
///
/// use elasticjob::api::{OnceJobListener, JobResult, ListenerContext};
///
/// struct CloseOfBusiness;
///
/// impl OnceJobListener for CloseOfBusiness {
///     fn type_name(&self) -> &str {
///         "close-of-business"
///     }
///
///     fn completed_timeout(&self) -> Duration {
///         Duration::from_secs(600)
///     }
///
///     async fn at_last_completed(&self, context: &ListenerContext) -> JobResult {
///         println!("all items of {} are through", context.scheduled_at());
///         Ok(())
///     }
/// }
///
/// elasticjob::register_once_listener!(CloseOfBusiness);
/// ```
///
/// # Which items it waits for
///
/// *Before*: the items of the fire that an instance is about to begin. It does not wait for items that are disabled,
/// that have no owner, whose owner is gone, disabled or came after the fire, or that are busy with another fire or to
/// be made up for later, nor for items that have not begun 10 seconds after the wait began. All items of the group wait
/// until the call has returned.
///
/// *After*: the items of the fire that were begun, wherever they run. With failover, an item that was lost with its
/// instance counts until an instance that took it over ends it; without failover it does not count.
///
/// Each of the two is called at most once for a fire. When the instance that calls it dies, it is not called again; the
/// other instances log that and go on. Items that join a fire later, taken over or made up for, do not cause another
/// call.
///
/// A job with such a listener is always monitored, whatever `monitor-execution` says: the marks of running items show
/// which items to wait for.
#[doc(alias = "AbstractDistributeOnceElasticJobListener")]
pub trait OnceJobListener: Send + Sync + 'static {
    /// The name in `job-listener-types`. Always the same one.
    fn type_name(&self) -> &str;

    /// The order of the calls, before and after the items: ascending, and by the order in the configuration for equal
    /// numbers. Default: the largest number.
    fn order(&self) -> i32 {
        i32::MAX
    }

    /// How long an instance waits before its items: for the other items to begin, and for the call to return. After
    /// that it reports an error, and its items start without the call. Default: zero, no limit. Java:
    /// `startedTimeoutMilliseconds`.
    fn started_timeout(&self) -> Duration {
        Duration::ZERO
    }

    /// How long an instance waits after its items: for the other items to end, and for the call to return. After that
    /// it reports an error, and its run is over. Default: zero, no limit. Java: `completedTimeoutMilliseconds`.
    fn completed_timeout(&self) -> Duration {
        Duration::ZERO
    }

    /// Called once, when the last item has begun and before any item starts. Java: `doBeforeJobExecutedAtLastStarted`.
    #[doc(alias = "doBeforeJobExecutedAtLastStarted")]
    fn at_last_started(&self, context: &ListenerContext) -> impl Future<Output = JobResult> + Send {
        let _ = context;
        async { Ok(()) }
    }

    /// Called once, when the last item has ended. Java: `doAfterJobExecutedAtLastCompleted`.
    #[doc(alias = "doAfterJobExecutedAtLastCompleted")]
    fn at_last_completed(&self, context: &ListenerContext) -> impl Future<Output = JobResult> + Send {
        let _ = context;
        async { Ok(()) }
    }
}
