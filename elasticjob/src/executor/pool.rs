//! Pools that limit how many items of a job run at a time.

use std::sync::Arc;
use std::thread::available_parallelism;

use tokio::sync::Semaphore;

use crate::api::JobExecutorThreadPoolSizeProvider;
use crate::by_type::{ByType, TypeOrigin};
use crate::config::{CPU, Invalid, JobConfiguration};

/// The pools that a process has.
pub type ThreadPools = ByType<dyn JobExecutorThreadPoolSizeProvider>;

/// The pool for items that must not run beside each other.
pub const SINGLE_THREAD: &str = "SINGLE_THREAD";

struct Cpu;

impl JobExecutorThreadPoolSizeProvider for Cpu {
    fn type_name(&self) -> &str {
        CPU
    }

    fn size(&self) -> usize {
        2 * available_parallelism().map_or(1, usize::from)
    }
}

struct SingleThread;

impl JobExecutorThreadPoolSizeProvider for SingleThread {
    fn type_name(&self) -> &str {
        SINGLE_THREAD
    }

    fn size(&self) -> usize {
        1
    }
}

impl ThreadPools {
    /// Those of ElasticJob.
    pub fn built_in() -> Self {
        let mut pools = Self::new("thread pool");
        let all: [Arc<dyn JobExecutorThreadPoolSizeProvider>; 2] = [Arc::new(Cpu), Arc::new(SingleThread)];
        for pool in all {
            let name = pool.type_name().to_owned();
            pools.add(&name, TypeOrigin::BuiltIn, pool).expect("each has its own name");
        }
        pools
    }

    /// Whether a configuration names a pool that there is not.
    pub fn problem(&self, configuration: &JobConfiguration) -> Option<Invalid> {
        let unknown = self.get(configuration.thread_pool_type()).err()?;
        Some(Invalid::new("job-executor-thread-pool-size-provider-type", unknown.to_string()))
    }
}

/// The slots of the items of one job.
#[derive(Debug, Clone)]
pub struct Slots {
    pool: Box<str>,
    free: Arc<Semaphore>,
}

impl Slots {
    /// All free. A pool that there is not any more is one of a single slot: nothing of a job runs too often for it.
    pub fn of(pools: &ThreadPools, configuration: &JobConfiguration) -> Self {
        let pool = configuration.thread_pool_type();
        let size = pools.get(pool).map_or(1, |pool| pool.size().clamp(1, Semaphore::MAX_PERMITS));
        Self { pool: pool.into(), free: Arc::new(Semaphore::new(size)) }
    }

    /// Whether these are the slots of what a configuration names.
    pub fn are_of(&self, configuration: &JobConfiguration) -> bool {
        *self.pool == *configuration.thread_pool_type()
    }

    pub(super) fn free(&self) -> &Arc<Semaphore> {
        &self.free
    }
}
