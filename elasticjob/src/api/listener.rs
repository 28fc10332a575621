//! Listeners: what is called before and after the items of a job.

mod context;
mod dynamic;

use std::future::Future;
use std::time::Duration;

use super::JobResult;
pub use context::{ListenerContext, ListenerRound};
pub use dynamic::JobListener;

/// A listener that every instance calls around its items of a fire.
///
/// It is found by its type name, which `job-listener-types` of a job names (`listeners = ["..."]` in the attribute). Use
/// it for what belongs to the host: files to fetch before, to delete after.
///
/// ```
/// use elasticjob::api::{ElasticJobListener, JobResult, ListenerContext};
///
/// struct TemporaryFiles;
///
/// impl ElasticJobListener for TemporaryFiles {
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
/// An error or a panic is logged with the listener, the job and the fire, and the run goes on as if it had returned.
///
/// When a run is cut off, because its session can no longer be proven or a shutdown has no more patience, the token of
/// the context fires and the future is dropped a moment later. What was not called by then is not called any more, after
/// the items neither.
pub trait ElasticJobListener: Send + Sync + 'static {
    /// The name in `job-listener-types`. Always the same one.
    fn type_name(&self) -> &str;

    /// Listeners are called in ascending order, before and after the items; those of the same order as they are
    /// configured. Default: the largest number.
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
/// Found as an [`ElasticJobListener`] is. Use it for what belongs to all items together: a table to fill before, a report
/// to write after.
///
/// ```
/// use std::time::Duration;
///
/// use elasticjob::api::{DistributeOnceElasticJobListener, JobResult, ListenerContext};
///
/// struct CloseOfBusiness;
///
/// impl DistributeOnceElasticJobListener for CloseOfBusiness {
///     fn type_name(&self) -> &str {
///         "close-of-business"
///     }
///
///     fn completed_timeout(&self) -> Duration {
///         Duration::from_secs(600)
///     }
///
///     async fn do_after_job_executed_at_last_completed(&self, context: &ListenerContext) -> JobResult {
///         println!("all items of {} are through", context.scheduled_at());
///         Ok(())
///     }
/// }
///
/// elasticjob::register_once_listener!(CloseOfBusiness);
/// ```
///
/// # Who is waited for
///
/// *Before*: the items of the fire that somebody is about to begin. Not: items that are disabled, that nobody owns, whose
/// owner is gone, disabled or came after the fire, that are busy with another fire or to be made up for later, and what
/// has not begun 10 seconds after the wait began. All items of the group wait until the call has returned.
///
/// *After*: the items of the fire that were begun, wherever they run. One that was lost with its instance counts until
/// somebody who took it over ends it, when failover is on; otherwise it does not count.
///
/// Each of the two is called at most once for a fire. When the instance that calls it dies, it is not called again; the
/// others log that and go on. Items that come to a fire later, taken over or made up for, do not call it anew.
///
/// A job with such a listener is always monitored, whatever `monitor-execution` says: the marks of running items tell who
/// is waited for.
pub trait DistributeOnceElasticJobListener: Send + Sync + 'static {
    /// The name in `job-listener-types`. Always the same one.
    fn type_name(&self) -> &str;

    /// Listeners are called in ascending order, before and after the items; those of the same order as they are
    /// configured. Default: the largest number.
    fn order(&self) -> i32 {
        i32::MAX
    }

    /// How long an instance waits before its items: for the others to begin, and for the call to return. Then it reports
    /// an error, and its items start without. Default: zero, no limit. Java: `startedTimeoutMilliseconds`.
    fn started_timeout(&self) -> Duration {
        Duration::ZERO
    }

    /// How long an instance waits after its items: for those of the others to end, and for the call to return. Then it
    /// reports an error, and its run is over. Default: zero, no limit. Java: `completedTimeoutMilliseconds`.
    fn completed_timeout(&self) -> Duration {
        Duration::ZERO
    }

    /// Called once, when the last one has begun and before any item starts. Java: `doBeforeJobExecutedAtLastStarted`.
    fn do_before_job_executed_at_last_started(
        &self,
        context: &ListenerContext,
    ) -> impl Future<Output = JobResult> + Send {
        let _ = context;
        async { Ok(()) }
    }

    /// Called once, when the last item has ended. Java: `doAfterJobExecutedAtLastCompleted`.
    fn do_after_job_executed_at_last_completed(
        &self,
        context: &ListenerContext,
    ) -> impl Future<Output = JobResult> + Send {
        let _ = context;
        async { Ok(()) }
    }
}
