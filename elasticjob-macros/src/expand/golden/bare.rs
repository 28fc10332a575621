async fn tick() {}
const _: () = {
    #[::elasticjob::__private::linkme::distributed_slice(::elasticjob::spi::JOBS)]
    #[linkme(crate = ::elasticjob::__private::linkme)]
    static __ELASTIC_JOB: ::elasticjob::api::JobDescriptor = ::elasticjob::api::JobDescriptor {
        name: "tick",
        function: ::core::concat!(::core::module_path!(), "::", "tick"),
        place: ::core::concat!(::core::file!(), ":", ::core::line!()),
        kind: ::elasticjob::api::JobKind::Simple,
        settings: ::core::default::Default::default,
        bind: |_| ::core::result::Result::Ok(::elasticjob::__private::handler::<(), _, _>(|_| tick())),
    };
};
