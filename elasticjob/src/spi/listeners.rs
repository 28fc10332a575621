//! Registering listeners when the program is linked.

/// Makes an [`ElasticJobListener`](crate::api::ElasticJobListener) known to the program when it is linked: jobs can name
/// it in `job-listener-types`, every instance calls it.
///
/// Takes an expression that makes it; stands wherever items stand. Nothing refers to it, so a library crate has to be
/// named by the program: `use my_listeners as _;`. An example is with the trait.
#[macro_export]
macro_rules! register_listener {
    ($listener:expr $(,)?) => {
        $crate::__register_listener!(every_instance, $listener);
    };
}

/// Makes a [`DistributeOnceElasticJobListener`](crate::api::DistributeOnceElasticJobListener) known to the program when it
/// is linked, as [`register_listener!`](crate::register_listener) does the other kind.
#[macro_export]
macro_rules! register_once_listener {
    ($listener:expr $(,)?) => {
        $crate::__register_listener!(once, $listener);
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __register_listener {
    ($kind:ident, $listener:expr) => {
        const _: () = {
            #[$crate::__private::linkme::distributed_slice($crate::spi::LISTENERS)]
            #[linkme(crate = $crate::__private::linkme)]
            static LINKED: $crate::spi::LinkedType<$crate::api::JobListener> = $crate::spi::LinkedType {
                place: ::core::concat!(::core::file!(), ":", ::core::line!()),
                make: || ::std::sync::Arc::new($crate::api::JobListener::$kind($listener)),
            };
        };
    };
}
