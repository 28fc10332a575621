//! Implementations that were linked into the program, and the catalog of them.

mod catalog;
mod register;

use std::fmt;
use std::sync::Arc;

use linkme::distributed_slice;

pub use crate::type_registry::{ByType, TypeClash, TypeOrigin, UnknownType};
pub use catalog::{Catalog, CatalogBuilder, CatalogError};

use crate::api::{AnyJobErrorHandler, AnyJobListener, AnyJobType, JobDescriptor, PoolSizeProvider, ShardingStrategy};
use crate::trace::AnyTracingStorage;

/// The job functions of the program. `#[elastic_job]` adds them when the program is linked.
///
/// A crate that the program does not name is not linked: `use my_jobs as _;` links its jobs.
#[doc(hidden)]
#[distributed_slice]
pub static JOBS: [JobDescriptor];

/// The own sharding strategies of the program. Filled when linking, by
/// [`register_sharding_strategy!`](crate::register_sharding_strategy).
#[doc(hidden)]
#[distributed_slice]
pub static SHARDING_STRATEGIES: [LinkedType<dyn ShardingStrategy>];

/// The listeners of the program. Filled when linking, by [`register_listener!`](crate::register_listener) and
/// [`register_once_listener!`](crate::register_once_listener).
#[doc(hidden)]
#[distributed_slice]
pub static LISTENERS: [LinkedType<AnyJobListener>];

/// The own pools of the program. Filled when linking, by
/// [`register_pool_size_provider!`](crate::register_pool_size_provider).
#[doc(hidden)]
#[distributed_slice]
pub static THREAD_POOLS: [LinkedType<dyn PoolSizeProvider>];

/// The own storages for tracing of the program. Filled when linking, by
/// [`register_tracing_storage!`](crate::register_tracing_storage).
#[doc(hidden)]
#[distributed_slice]
pub static TRACING_STORAGES: [LinkedType<AnyTracingStorage>];

/// The own types of jobs of the program. Filled when linking, by [`register_job_type!`](crate::register_job_type).
#[doc(hidden)]
#[distributed_slice]
pub static JOB_TYPES: [LinkedType<AnyJobType>];

/// The own error handlers of the program. Filled when linking, by
/// [`register_error_handler!`](crate::register_error_handler).
#[doc(hidden)]
#[distributed_slice]
pub static ERROR_HANDLERS: [LinkedType<AnyJobErrorHandler>];

/// An implementation that registered itself when the program was linked.
pub struct LinkedType<T: ?Sized + 'static> {
    /// File and line of the registration.
    pub place: &'static str,
    /// Makes it.
    pub make: fn() -> Arc<T>,
}

impl<T: ?Sized> fmt::Debug for LinkedType<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LinkedType").field("place", &self.place).finish_non_exhaustive()
    }
}
