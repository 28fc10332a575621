/// Syncs.
#[cfg(unix)]
#[allow(unused)]
pub async fn sync(context: ShardingContext, mut pool: Inject<Pool>) -> JobResult { Ok(()) }
const _: () = {
    #[::elasticjob::__private::linkme::distributed_slice(::elasticjob::spi::JOBS)]
    #[linkme(crate = ::elasticjob::__private::linkme)]
    static __ELASTIC_JOB: ::elasticjob::api::JobDescriptor = ::elasticjob::api::JobDescriptor {
        name: "sync-orders",
        function: ::core::concat!(::core::module_path!(), "::", "sync"),
        place: ::core::concat!(::core::file!(), ":", ::core::line!()),
        kind: ::elasticjob::api::JobKind::Simple,
        settings: || {
            let mut settings: ::elasticjob::config::JobSettings = ::core::default::Default::default();
            settings.cron = ::core::option::Option::Some(::std::borrow::ToOwned::to_owned("0/5 * * * * ?"));
            settings.sharding_total_count = ::core::option::Option::Some(3u32);
            settings.monitor_execution = ::core::option::Option::Some(false);
            settings.max_time_diff_seconds = ::core::option::Option::Some(-1i32);
            settings.job_listener_types = ::core::option::Option::Some(::std::vec![::std::borrow::ToOwned::to_owned("A")]);
            settings.props = ::core::option::Option::Some(::core::iter::FromIterator::from_iter([
                (::std::borrow::ToOwned::to_owned("a.b"), ::std::borrow::ToOwned::to_owned("c"))
            ]));
            settings
        },
        bind: |beans| {
            let mut missing = ::std::vec::Vec::new();
            let arg0 = ::elasticjob::__private::find::<ShardingContext>(
                beans, "context", ::core::option::Option::None, &mut missing
            );
            let arg1 = ::elasticjob::__private::find::<Inject<Pool> >(
                beans, "pool", ::core::option::Option::Some("pool"), &mut missing
            );
            let (::core::option::Option::Some(arg0), ::core::option::Option::Some(arg1),) = (arg0, arg1,) else {
                return ::core::result::Result::Err(missing);
            };
            ::core::result::Result::Ok(::elasticjob::__private::handler::<JobResult, _, _>(
                move |context| sync(arg0(&context), arg1(&context))
            ))
        },
    };
};
