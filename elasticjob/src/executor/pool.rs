//! Pools that limit how many items of a job run at a time.

use std::sync::Arc;
use std::thread::available_parallelism;

use tokio_util::sync::CancellationToken;

use super::turns::{Turn, Turns};
use crate::api::PoolSizeProvider;
use crate::config::{Invalid, JobConfiguration};
use crate::fire::ExecutionSource;
use crate::log::apart;
use crate::panics::catch_blocking;
use crate::type_registry::{ByType, TypeOrigin};

/// The pools that a process has.
pub type ThreadPools = ByType<dyn PoolSizeProvider>;

/// The pool of blocking code when the configuration names no pool.
pub const CPU: &str = "CPU";

/// The pool for items that must not run beside each other.
pub const SINGLE_THREAD: &str = "SINGLE_THREAD";

/// Holds the number of processors at the time it was made: finding it out takes system calls.
struct Cpu(usize);

impl PoolSizeProvider for Cpu {
    fn type_name(&self) -> &str {
        CPU
    }

    fn size(&self) -> usize {
        2 * self.0
    }
}

struct SingleThread;

impl PoolSizeProvider for SingleThread {
    fn type_name(&self) -> &str {
        SINGLE_THREAD
    }

    fn size(&self) -> usize {
        1
    }
}

impl ThreadPools {
    /// The pools of ElasticJob.
    pub fn built_in() -> Self {
        let mut pools = Self::new("thread pool");
        let all: [Arc<dyn PoolSizeProvider>; 2] =
            [Arc::new(Cpu(available_parallelism().map_or(1, usize::from))), Arc::new(SingleThread)];
        for pool in all {
            let name = pool.type_name().to_owned();
            pools.add(&name, TypeOrigin::BuiltIn, pool).expect("each has its own name");
        }
        pools
    }

    /// The problem of a configuration that names a pool which does not exist.
    pub fn problem(&self, configuration: &JobConfiguration) -> Option<Invalid> {
        let unknown = self.get(configuration.thread_pool_type()?).err()?;
        Some(Invalid::new("job-executor-thread-pool-size-provider-type", unknown.message()))
    }
}

/// How many items at a time a pool has room for: one at the least.
fn size_of(name: &str, provider: &dyn PoolSizeProvider) -> usize {
    let size = catch_blocking(|| provider.size()).unwrap_or_else(|panic| {
        // The coordination of all jobs asks here: it does not wait for the log.
        let name = name.to_owned();
        apart(move || {
            crate::log::error!(pool = name, "the pool did not return its size: items run one at a time: {panic}");
        });
        1
    });
    size.max(1)
}

/// The slots of the items of one job.
#[derive(Debug, Clone)]
pub struct Slots {
    /// `None` where the configuration names no pool.
    pool: Option<Box<str>>,
    /// How many items the job has.
    total: u32,
    /// `None` where no item has to wait.
    turns: Option<Arc<Turns>>,
}

impl Slots {
    /// The slots of a configuration. Runs that go on keep their slots: as long as the pool is the same, they count
    /// among the slots of the next runs. A pool that does not exist any more counts as a pool of one slot, so that
    /// never more items run at a time than it had allowed.
    pub fn after(last: Option<Self>, pools: &ThreadPools, configuration: &JobConfiguration) -> Self {
        let total = configuration.sharding_total_count();
        match last.filter(|last| last.pool.as_deref() == configuration.thread_pool_type()) {
            Some(last) if last.total == total || last.turns.is_some() => Self { total, ..last },
            _ => Self::of(pools, configuration),
        }
    }

    /// The slots of a configuration, all free.
    pub(super) fn of(pools: &ThreadPools, configuration: &JobConfiguration) -> Self {
        let pool = configuration.thread_pool_type();
        let name = pool.unwrap_or(CPU);
        let size = pools.get(name).ok().map_or(1, |provider| size_of(name, &**provider));
        let total = configuration.sharding_total_count();
        // Where no pool is named there is often a slot for each item: then runs that began before a change of the total
        // count need not be counted.
        let turns = (pool.is_some() || size < total as usize).then(|| Turns::new(size));
        Self { pool: pool.map(Into::into), total, turns }
    }

    /// The queues in which an item waits for its turn: before its work is made, and before code that blocks. A pool
    /// that the configuration names limits all work, the default pool only code that blocks. An item that was taken
    /// over does not wait for the default pool: it is late already, and no configuration asked for that limit.
    pub(super) fn queues(&self, source: ExecutionSource) -> (Queue, Queue) {
        let queue = |turns| Queue { turns, source };
        match &self.pool {
            Some(_) => (queue(self.turns.clone()), queue(None)),
            None => (queue(None), queue(self.turns.clone().filter(|_| source != ExecutionSource::Failover))),
        }
    }
}

/// The queue in which an item waits for its turn.
pub(super) struct Queue {
    /// `None` where the item need not wait.
    turns: Option<Arc<Turns>>,
    source: ExecutionSource,
}

impl Queue {
    /// Waits for the turn of an item. `None` when the item was cancelled before: then it is not started at all.
    pub(super) async fn slot(self, token: &CancellationToken) -> Option<Slot> {
        let slot = match self.turns.map(|turns| turns.take(self.source)) {
            None => Slot(None),
            Some(Ok(turn)) => Slot(Some(turn)),
            // Boxed, as hardly any item waits: an item that does not wait should not keep room for it.
            Some(Err(turn)) => Slot(Some(Box::pin(token.run_until_cancelled(turn)).await?.ok()?)),
        };
        // Items that are cancelled together pass their slots to each other.
        (!token.is_cancelled()).then_some(slot)
    }
}

/// The slot of an item, taken until this is dropped.
#[derive(Debug)]
pub(super) struct Slot(#[expect(dead_code, reason = "it is held, not read")] Option<Turn>);

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
        let run = first.queues(ExecutionSource::NormalTrigger).0.slot(&token).await.expect("it is free");
        let more = Slots::after(Some(first), &pools, &configuration(SINGLE_THREAD, 2));
        let free = |slots: &Slots| slots.turns.as_ref().map(|turns| turns.free());
        assert_eq!(free(&more), Some(0));
        drop(run);
        assert_eq!(free(&more), Some(1));
        let unnamed = JobConfiguration::builder("reports", 1).build().expect("it is valid");
        let other = Slots::after(Some(more), &pools, &unnamed);
        assert_eq!(free(&other), None, "without a pool");
    }
}
