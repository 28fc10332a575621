//! Pools that limit how many items of a job run at a time.

use std::sync::Arc;
use std::thread::available_parallelism;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::api::JobExecutorThreadPoolSizeProvider;
use crate::by_type::{ByType, TypeOrigin};
use crate::config::{CPU, Invalid, JobConfiguration};
use crate::unwind::catch_blocking;

/// The pools that a process has.
pub type ThreadPools = ByType<dyn JobExecutorThreadPoolSizeProvider>;

/// The pool for items that must not run beside each other.
pub const SINGLE_THREAD: &str = "SINGLE_THREAD";

/// As many as there were when it was made: to find out takes system calls.
struct Cpu(usize);

impl JobExecutorThreadPoolSizeProvider for Cpu {
    fn type_name(&self) -> &str {
        CPU
    }

    fn size(&self) -> usize {
        2 * self.0
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
        let all: [Arc<dyn JobExecutorThreadPoolSizeProvider>; 2] =
            [Arc::new(Cpu(available_parallelism().map_or(1, usize::from))), Arc::new(SingleThread)];
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

/// How many items at a time a pool has room for: at least one.
fn size_of(name: &str, provider: &dyn JobExecutorThreadPoolSizeProvider) -> usize {
    let size = catch_blocking(|| provider.size()).unwrap_or_else(|panic| {
        crate::log::error!(pool = name, "the pool does not tell its size, so that items run one at a time: {panic}");
        1
    });
    size.clamp(1, Semaphore::MAX_PERMITS)
}

/// The slots of the items of one job.
#[derive(Debug, Clone)]
pub struct Slots {
    /// `None` for the default one: most jobs have it.
    pool: Option<Box<str>>,
    /// How many items the job has.
    total: u32,
    /// `None` where there is one of the default pool for each item.
    free: Option<Arc<Semaphore>>,
}

impl Slots {
    /// Those of a configuration. Runs go on in the slots that they have: as long as the pool is the same, they count
    /// among those of the next runs. A pool that there is not any more is one of a single slot: nothing of a job runs too
    /// often for it.
    pub fn after(last: Option<Self>, pools: &ThreadPools, configuration: &JobConfiguration) -> Self {
        let total = configuration.sharding_total_count();
        match last.filter(|last| last.pool() == configuration.thread_pool_type()) {
            Some(last) if last.total == total || last.free.is_some() => Self { total, ..last },
            _ => Self::of(pools, configuration),
        }
    }

    /// All free.
    pub(super) fn of(pools: &ThreadPools, configuration: &JobConfiguration) -> Self {
        let pool = configuration.thread_pool_type();
        let size = pools.get(pool).ok().map_or(1, |provider| size_of(pool, &**provider));
        let total = configuration.sharding_total_count();
        // Of the default pool there are so many that runs from before a change of the total count need not be counted.
        let free = (pool != CPU || size < total as usize).then(|| Arc::new(Semaphore::new(size)));
        Self { pool: (pool != CPU).then(|| pool.into()), total, free }
    }

    fn pool(&self) -> &str {
        self.pool.as_deref().unwrap_or(CPU)
    }

    /// What an item waits with for its turn.
    pub(super) fn queue(&self) -> Queue {
        Queue(self.free.clone())
    }
}

/// Where an item waits for its turn.
pub(super) struct Queue(Option<Arc<Semaphore>>);

impl Queue {
    /// The turn of an item; `None` when it was cancelled before: then it is not started at all.
    pub(super) async fn slot(self, token: &CancellationToken) -> Option<Slot> {
        let slot = match self.0 {
            None => Slot(None),
            Some(free) => match Arc::clone(&free).try_acquire_owned() {
                Ok(slot) => Slot(Some(slot)),
                // Hardly any item waits: those that do not shall not have room for it.
                Err(_) => Slot(Some(Box::pin(token.run_until_cancelled(free.acquire_owned())).await?.ok()?)),
            },
        };
        // Those who are cancelled together give each other their slots.
        (!token.is_cancelled()).then_some(slot)
    }
}

/// A slot that an item has taken, until this is dropped.
#[derive(Debug)]
pub(super) struct Slot(#[expect(dead_code, reason = "it is held, not read")] Option<OwnedSemaphorePermit>);

#[cfg(test)]
mod tests {
    use super::*;

    fn configuration(pool: &str, total: u32) -> JobConfiguration {
        let builder = JobConfiguration::builder("reports", total).job_executor_thread_pool_size_provider_type(pool);
        builder.build().expect("it is valid")
    }

    #[tokio::test]
    async fn runs_count_among_the_slots_of_their_pool_when_the_total_count_changes() {
        let pools = ThreadPools::built_in();
        let token = CancellationToken::new();
        let first = Slots::of(&pools, &configuration(SINGLE_THREAD, 1));
        let run = first.queue().slot(&token).await.expect("it is free");
        let more = Slots::after(Some(first), &pools, &configuration(SINGLE_THREAD, 2));
        let free = |slots: &Slots| slots.free.as_ref().map(|free| free.available_permits());
        assert_eq!(free(&more), Some(0));
        drop(run);
        assert_eq!(free(&more), Some(1));
        let other = Slots::after(Some(more), &pools, &configuration(CPU, 1));
        assert_eq!(free(&other), None, "another pool");
    }
}
