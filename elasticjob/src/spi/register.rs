//! Macros that register implementations when the program is linked.

/// Makes a sharding strategy known to the program when it is linked: jobs can name it in `job-sharding-strategy-type`.
///
/// It takes an expression whose type is a [`ShardingStrategy`](crate::api::ShardingStrategy), and can be used wherever
/// an item is allowed. No code refers to the registration, so the program has to name a library crate that has one:
/// `use my_strategies as _;`. The documentation of the trait has an example.
#[macro_export]
macro_rules! register_sharding_strategy {
    ($strategy:expr $(,)?) => {
        $crate::__register!(SHARDING_STRATEGIES: dyn $crate::api::ShardingStrategy, $strategy);
    };
}

/// Makes a [`JobListener`](crate::api::JobListener) known to the program when it is linked: jobs can name it in
/// `job-listener-types`, and every instance calls it.
///
/// It takes an expression that makes the listener, and can be used wherever an item is allowed. No code refers to the
/// registration, so the program has to name a library crate that has one: `use my_listeners as _;`. The documentation
/// of the trait has an example.
#[macro_export]
macro_rules! register_listener {
    ($listener:expr $(,)?) => {
        $crate::__register!(LISTENERS: $crate::api::AnyJobListener, $crate::api::AnyJobListener::every_instance($listener));
    };
}

/// Makes a [`OnceJobListener`](crate::api::OnceJobListener) known to the program when
/// it is linked, in the same way as [`register_listener!`](crate::register_listener).
#[macro_export]
macro_rules! register_once_listener {
    ($listener:expr $(,)?) => {
        $crate::__register!(LISTENERS: $crate::api::AnyJobListener, $crate::api::AnyJobListener::once($listener));
    };
}

/// Makes a pool known to the program when it is linked: jobs can name it in
/// `job-executor-thread-pool-size-provider-type`.
///
/// It takes an expression whose type is a
/// [`PoolSizeProvider`](crate::api::PoolSizeProvider), and can be used wherever an
/// item is allowed. No code refers to the registration, so the program has to name a library crate that has one:
/// `use my_pools as _;`. The documentation of the trait has an example.
#[doc(alias = "JobExecutorThreadPoolSizeProvider")]
#[macro_export]
macro_rules! register_pool_size_provider {
    ($pool:expr $(,)?) => {
        $crate::__register!(THREAD_POOLS: dyn $crate::api::PoolSizeProvider, $pool);
    };
}

/// Makes a storage for tracing known to the program when it is linked: `elasticjob.tracing.type` can name it.
///
/// It takes an expression whose type is a [`TracingStorage`](crate::trace::TracingStorage), and can be used wherever an
/// item is allowed. No code refers to the registration, so the program has to name a library crate that has one:
/// `use my_storages as _;`. The documentation of the trait has an example.
#[macro_export]
macro_rules! register_tracing_storage {
    ($storage:expr $(,)?) => {
        $crate::__register!(TRACING_STORAGES: $crate::trace::AnyTracingStorage, $crate::trace::AnyTracingStorage::new($storage));
    };
}

/// Makes a type of jobs known to the program when it is linked: jobs can name it in `elastic-job-type`.
///
/// It takes an expression whose type is a [`JobType`](crate::api::JobType), and can be used
/// wherever an item is allowed. No code refers to the registration, so the program has to name a library crate that has
/// one: `use my_types as _;`. The documentation of the trait has an example.
#[macro_export]
macro_rules! register_job_type {
    ($executor:expr $(,)?) => {
        $crate::__register!(JOB_TYPES: $crate::api::AnyJobType, $crate::api::AnyJobType::new($executor));
    };
}

/// Makes an error handler known to the program when it is linked: jobs can name it in `job-error-handler-type`.
///
/// It takes an expression whose type is a [`JobErrorHandler`](crate::api::JobErrorHandler), and can be used wherever an
/// item is allowed. No code refers to the registration, so the program has to name a library crate that has one:
/// `use my_handlers as _;`. The documentation of the trait has an example.
#[macro_export]
macro_rules! register_error_handler {
    ($handler:expr $(,)?) => {
        $crate::__register!(ERROR_HANDLERS: $crate::api::AnyJobErrorHandler, $crate::api::AnyJobErrorHandler::new($handler));
    };
}

/// The common part of the macros above. The place in messages is the place of the outermost macro.
#[doc(hidden)]
#[macro_export]
macro_rules! __register {
    ($slice:ident: $type:ty, $value:expr) => {
        const _: () = {
            #[$crate::__private::linkme::distributed_slice($crate::spi::$slice)]
            #[linkme(crate = $crate::__private::linkme)]
            static LINKED: $crate::spi::LinkedType<$type> = $crate::spi::LinkedType {
                place: ::core::concat!(::core::file!(), ":", ::core::line!()),
                make: || ::std::sync::Arc::new($value),
            };
        };
    };
}
