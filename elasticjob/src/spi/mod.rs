//! What was linked into the program, and the catalog of it.

mod catalog;
mod listeners;

use std::fmt;
use std::sync::Arc;

use linkme::distributed_slice;

pub use crate::by_type::{ByType, TypeClash, TypeOrigin, UnknownType};
pub use catalog::{Catalog, CatalogBuilder, CatalogError};

use crate::api::{
    ErrorHandler, JobDescriptor, JobExecutorThreadPoolSizeProvider, JobListener, JobType, ShardingStrategy,
};
use crate::trace::JobTracingStorage;

/// The job functions of the program. Filled when linking, by `#[elastic_job]`.
///
/// A crate that nobody names is not linked: `use my_jobs as _;` makes its jobs appear.
#[distributed_slice]
pub static JOBS: [JobDescriptor];

/// The own sharding strategies of the program. Filled when linking, by
/// [`register_sharding_strategy!`](crate::register_sharding_strategy).
#[distributed_slice]
pub static SHARDING_STRATEGIES: [LinkedType<dyn ShardingStrategy>];

/// The listeners of the program. Filled when linking, by [`register_listener!`](crate::register_listener) and
/// [`register_once_listener!`](crate::register_once_listener).
#[distributed_slice]
pub static LISTENERS: [LinkedType<JobListener>];

/// The own pools of the program. Filled when linking, by
/// [`register_thread_pool_size_provider!`](crate::register_thread_pool_size_provider).
#[distributed_slice]
pub static THREAD_POOLS: [LinkedType<dyn JobExecutorThreadPoolSizeProvider>];

/// The own storages for tracing of the program. Filled when linking, by
/// [`register_tracing_storage!`](crate::register_tracing_storage).
#[distributed_slice]
pub static TRACING_STORAGES: [LinkedType<JobTracingStorage>];

/// The own types of jobs of the program. Filled when linking, by [`register_job_type!`](crate::register_job_type).
#[distributed_slice]
pub static JOB_TYPES: [LinkedType<JobType>];

/// The own error handlers of the program. Filled when linking, by
/// [`register_error_handler!`](crate::register_error_handler).
#[distributed_slice]
pub static ERROR_HANDLERS: [LinkedType<ErrorHandler>];

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

/// Makes a sharding strategy known to the program when it is linked: jobs can name it in `job-sharding-strategy-type`.
///
/// Takes an expression whose type is a [`ShardingStrategy`]; stands wherever items stand. Nothing refers to it, so a
/// library crate has to be named by the program: `use my_strategies as _;`. An example is with [`ShardingStrategy`].
#[macro_export]
macro_rules! register_sharding_strategy {
    ($strategy:expr $(,)?) => {
        const _: () = {
            #[$crate::__private::linkme::distributed_slice($crate::spi::SHARDING_STRATEGIES)]
            #[linkme(crate = $crate::__private::linkme)]
            static LINKED: $crate::spi::LinkedType<dyn $crate::api::ShardingStrategy> = $crate::spi::LinkedType {
                place: ::core::concat!(::core::file!(), ":", ::core::line!()),
                make: || ::std::sync::Arc::new($strategy),
            };
        };
    };
}

/// Makes a pool known to the program when it is linked: jobs can name it in
/// `job-executor-thread-pool-size-provider-type`.
///
/// Takes an expression whose type is a [`JobExecutorThreadPoolSizeProvider`]; stands wherever items stand. Nothing refers
/// to it, so a library crate has to be named by the program: `use my_pools as _;`. An example is with
/// [`JobExecutorThreadPoolSizeProvider`].
#[macro_export]
macro_rules! register_thread_pool_size_provider {
    ($pool:expr $(,)?) => {
        const _: () = {
            #[$crate::__private::linkme::distributed_slice($crate::spi::THREAD_POOLS)]
            #[linkme(crate = $crate::__private::linkme)]
            static LINKED: $crate::spi::LinkedType<dyn $crate::api::JobExecutorThreadPoolSizeProvider> =
                $crate::spi::LinkedType {
                    place: ::core::concat!(::core::file!(), ":", ::core::line!()),
                    make: || ::std::sync::Arc::new($pool),
                };
        };
    };
}

/// Makes a storage for tracing known to the program when it is linked: `elasticjob.tracing.type` can name it.
///
/// Takes an expression whose type is a [`TracingStorage`](crate::trace::TracingStorage); stands wherever items stand.
/// Nothing refers to it, so a library crate has to be named by the program: `use my_storages as _;`. An example is with
/// the trait.
#[macro_export]
macro_rules! register_tracing_storage {
    ($storage:expr $(,)?) => {
        const _: () = {
            #[$crate::__private::linkme::distributed_slice($crate::spi::TRACING_STORAGES)]
            #[linkme(crate = $crate::__private::linkme)]
            static LINKED: $crate::spi::LinkedType<$crate::trace::JobTracingStorage> = $crate::spi::LinkedType {
                place: ::core::concat!(::core::file!(), ":", ::core::line!()),
                make: || ::std::sync::Arc::new($crate::trace::JobTracingStorage::new($storage)),
            };
        };
    };
}

/// Makes a type of jobs known to the program when it is linked: jobs can name it in `elastic-job-type`.
///
/// Takes an expression whose type is a [`TypedJobItemExecutor`](crate::api::TypedJobItemExecutor); stands wherever items
/// stand. Nothing refers to it, so a library crate has to be named by the program: `use my_types as _;`. An example is
/// with the trait.
#[macro_export]
macro_rules! register_job_type {
    ($executor:expr $(,)?) => {
        const _: () = {
            #[$crate::__private::linkme::distributed_slice($crate::spi::JOB_TYPES)]
            #[linkme(crate = $crate::__private::linkme)]
            static LINKED: $crate::spi::LinkedType<$crate::api::JobType> = $crate::spi::LinkedType {
                place: ::core::concat!(::core::file!(), ":", ::core::line!()),
                make: || ::std::sync::Arc::new($crate::api::JobType::new($executor)),
            };
        };
    };
}

/// Makes an error handler known to the program when it is linked: jobs can name it in `job-error-handler-type`.
///
/// Takes an expression whose type is a [`JobErrorHandler`](crate::api::JobErrorHandler); stands wherever items stand.
/// Nothing refers to it, so a library crate has to be named by the program: `use my_handlers as _;`. An example is with
/// the trait.
#[macro_export]
macro_rules! register_error_handler {
    ($handler:expr $(,)?) => {
        const _: () = {
            #[$crate::__private::linkme::distributed_slice($crate::spi::ERROR_HANDLERS)]
            #[linkme(crate = $crate::__private::linkme)]
            static LINKED: $crate::spi::LinkedType<$crate::api::ErrorHandler> = $crate::spi::LinkedType {
                place: ::core::concat!(::core::file!(), ":", ::core::line!()),
                make: || ::std::sync::Arc::new($crate::api::ErrorHandler::new($handler)),
            };
        };
    };
}
