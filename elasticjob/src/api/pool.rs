//! Pools: how many items of a job run at a time.

/// Limits the items of a job that run at a time in one process. Jobs name it in
/// `job-executor-thread-pool-size-provider-type`.
///
/// Items are futures, not threads: a pool is a limit, and an item that waits for its turn costs no thread. For the
/// registry center an item that waits for its turn has begun. An item that was taken over goes before all items that
/// wait. Without a pool all items of an async job start together; plain functions, which block a thread, have the pool
/// `CPU`.
///
/// A program adds its own ones with
/// [`register_pool_size_provider!`](crate::register_pool_size_provider), or by hand with
/// [`CatalogBuilder::pool_size_provider`](crate::spi::CatalogBuilder::pool_size_provider).
///
/// # Examples
/// ```
/// use elasticjob::api::PoolSizeProvider;
///
/// /// As many as the database takes.
/// struct Database;
///
/// impl PoolSizeProvider for Database {
///     fn type_name(&self) -> &str {
///         "DATABASE"
///     }
///
///     fn size(&self) -> usize {
///         8
///     }
/// }
///
/// elasticjob::register_pool_size_provider!(Database);
/// ```
#[doc(alias = "JobExecutorThreadPoolSizeProvider")]
pub trait PoolSizeProvider: Send + Sync {
    /// The name in `job-executor-thread-pool-size-provider-type`, unique in the program. The library asks for it once.
    fn type_name(&self) -> &str;

    /// How many items of one job run at a time; 0 counts as 1. The library asks for it when a job first runs, and again
    /// when its configuration names another type. Must not block.
    fn size(&self) -> usize;
}
