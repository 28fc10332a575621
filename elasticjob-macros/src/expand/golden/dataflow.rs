impl Orders {
    async fn fetch(db: Inject<Db>) -> Result<Vec<Order>, DbError> { Ok(vec![]) }
    async fn process(context: ShardingContext, db: Inject<Self>, orders: Vec<Order>) {}
}
const _: () = {
    #[::elasticjob::__private::linkme::distributed_slice(::elasticjob::spi::JOBS)]
    #[linkme(crate = ::elasticjob::__private::linkme)]
    static __ELASTIC_JOB: ::elasticjob::api::JobDescriptor = ::elasticjob::api::JobDescriptor {
        name: "Orders",
        function: ::core::concat!(::core::module_path!(), "::", "Orders"),
        place: ::core::concat!(::core::file!(), ":", ::core::line!()),
        kind: ::elasticjob::api::JobKind::Dataflow,
        settings: || {
            let mut settings: ::elasticjob::config::JobSettings = ::core::default::Default::default();
            settings.cron = ::core::option::Option::Some(::std::borrow::ToOwned::to_owned("0/5 * * * * ?"));
            settings
        },
        bind: |beans| {
            let mut missing = ::std::vec::Vec::new();
            let arg0 = ::elasticjob::__private::find::<Inject<Db> >(
                beans, "db", ::core::option::Option::None, &mut missing
            );
            let arg1 = ::elasticjob::__private::find::<ShardingContext>(
                beans, "context", ::core::option::Option::None, &mut missing
            );
            let arg2 = ::elasticjob::__private::find::<Inject<Orders> >(
                beans, "db", ::core::option::Option::Some("main"), &mut missing
            );
            let (
                ::core::option::Option::Some(arg0), ::core::option::Option::Some(arg1),
                ::core::option::Option::Some(arg2),
            ) = (arg0, arg1, arg2,) else {
                return ::core::result::Result::Err(missing);
            };
            ::core::result::Result::Ok(
                ::elasticjob::__private::fetch::<Result<Vec<Order>, DbError>, _, _>(
                    move |context| <Orders>::fetch(arg0(&context))
                )
                .process::<(), _, _>(move |context, data| <Orders>::process(arg1(&context), arg2(&context), data))
            )
        },
    };
};
