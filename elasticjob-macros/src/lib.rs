//! The `#[elastic_job]` attribute. Take it from `elasticjob_starter::prelude` or as `elasticjob::elastic_job`, not from
//! this crate.

mod args;
mod check;
#[allow(dead_code, reason = "the library uses all of it")]
mod cron;
mod errors;
mod expand;
mod item;
mod zones;

use proc_macro::TokenStream;
use syn::parse_quote;

/// Registers a function as a job when the program is linked, and checks its settings when it is compiled. On an `impl` with
/// two functions it makes a dataflow job.
///
/// ```
/// use elasticjob::api::{Inject, JobResult, ShardingContext};
/// use elasticjob::elastic_job;
///
/// struct Shop;
///
/// #[elastic_job(cron = "0/5 * * * * ?", sharding_total_count = 3, params = "0=Beijing,1=Shanghai,2=Guangzhou")]
/// async fn sync_orders(context: ShardingContext, shop: Inject<Shop>) -> JobResult {
///     let region = context.sharding_parameter().unwrap_or("everywhere");
///     println!("orders of {region} since {}", context.scheduled_at());
///     Ok(())
/// }
/// ```
///
/// # The function
///
/// It is an `async fn`, or a plain `fn` that then runs on a thread for blocking work. It stays what it is: it can be called as if the attribute were not there. It is private or public, in
/// a module, in the body of another function, in a library, a test or an example. It is not generic and has no `self`.
/// It returns `()`, `JobResult` or `Result<(), E>` where `E: Display`. Its future is `Send`.
///
/// Its arguments are found when the program starts, and all that cannot be found is reported then, together:
/// - `ShardingContext`: the item, its parameter, the scheduled time and more;
/// - `Inject<T>`: a value that the application provides by type, or by name with `#[bean("name")]` before the argument;
/// - `CancellationToken`: fires when the run has to end;
/// - `#[bean("name")] job: OneOffJob` or `ScheduleJob`: the handle of another job.
///
/// A library crate whose name stands nowhere in the program is not linked, and neither are its jobs:
/// `use my_jobs as _;` in `main.rs` makes them appear.
///
/// # Dataflow jobs
///
/// On an `impl` of a type, with a function `fetch` that returns what there is to do, and a function `process` that does
/// it:
///
/// ```
/// use elasticjob::api::{Inject, JobResult, ShardingContext};
/// use elasticjob::elastic_job;
///
/// struct Order(u64);
/// struct Shop;
///
/// struct SettleOrders;
///
/// #[elastic_job(cron = "0/5 * * * * ?", sharding_total_count = 2, props = { "streaming.process" = "true" })]
/// impl SettleOrders {
///     async fn fetch(context: ShardingContext, shop: Inject<Shop>) -> Result<Vec<Order>, String> {
///         Ok(vec![])
///     }
///
///     async fn process(shop: Inject<Shop>, orders: Vec<Order>) -> JobResult {
///         Ok(())
///     }
/// }
/// ```
///
/// Both are `async`, have no `self`, and arguments as above; the last one of `process` is what `fetch` returned.
/// `fetch` returns `Vec<T>` or `Result<Vec<T>, E>` where `E: Display`. Other items of the `impl` are left alone. The job
/// has the name of the type. When a run goes on for more than one round, and what ends it, is told at `Dataflow` in
/// `elasticjob::api`.
///
/// # Options
///
/// All are optional: a bare `#[elastic_job]` takes everything from the configuration. What the configuration sets wins
/// over the attribute, and the attribute over the default.
///
/// | option | value | meaning | default |
/// |---|---|---|---|
/// | `name` | text | Name of the job, unique in the namespace. Not blank, without `/` and `@-@`. | name of the function or type |
/// | `cron` | text | When it fires: a Quartz cron expression of 6 or 7 fields, seconds first. Without one the job is a one-off job that runs when it is triggered. | none |
/// | `time_zone` | text | The zone the expression is meant in: a name of the IANA database or an offset as `GMT+8:00`. | zone of the host |
/// | `sharding_total_count` | number from 1 | How many items each fire is split into. | none, has to be set here or in the configuration |
/// | `sharding_item_parameters` | text | Parameters of items, `0=Beijing,1=Shanghai`. Also written `params`. | none |
/// | `job_parameter` | text | A parameter for all items. | empty |
/// | `monitor_execution` | flag | Runs are recorded in the registry, so that no item runs twice at a time. Costs two requests a fire; for jobs that fire every few moments `false` may be better. | `true` |
/// | `failover` | flag | What an instance had begun and not finished when it died, or was cut off by its shutdown, is begun again at once by another one. Part of the work may have been done. Needs `monitor_execution`. | `false` |
/// | `misfire` | flag | A fire that comes while the one before still runs is made up for right after it; of several only the latest. | `true` |
/// | `max_late_begin_seconds` | seconds from 1 | How late a fire may begin that no instance began in time. Needs `monitor_execution`. -1: until the next fire, or 10 s where `misfire` is off. | -1 |
/// | `max_time_diff_seconds` | seconds | Largest difference allowed between the clocks of the host and of the registry; while it is larger the job does not start and fires are skipped. Negative: not checked. | 60 |
/// | `reconcile_interval_minutes` | minutes | How often the leader looks at all nodes of the job again, for what no event told of. Below 1: never. | 10 |
/// | `job_sharding_strategy_type` | text | How items are spread over instances: `AVG_ALLOCATION`, `ODEVITY`, `ROUND_ROBIN`, `SINGLE_SHARDING_BALANCE`, or the type name of an own strategy. | `AVG_ALLOCATION` |
/// | `job_executor_thread_pool_size_provider_type` | text | How many items run at a time in one process: `CPU`, `SINGLE_THREAD` or the type name of an own pool. | none: all items of an async job, `CPU` for a plain function |
/// | `job_error_handler_type` | text | What is done when an item fails. | `LOG` |
/// | `job_listener_types` | `["A", "B"]` | Type names of the listeners around each run. Also written `listeners`. | none |
/// | `description` | text | What the job is for. | empty |
/// | `props` | `{ "a.b" = "c" }` | Properties of the job, its error handler and listeners. | none |
/// | `disabled` | flag | The server is marked as disabled at each start; `false` leaves a mark that is there. | `false` |
/// | `overwrite` | flag | Settings of this program replace those in the registry at each start; otherwise those in the registry stand. | `false` |
/// | `label` | text | A label that is kept with the configuration. | none |
/// | `static_sharding` | flag | Items stay where they are when instances come and go, also with one that is gone. | `false` |
/// | `elastic_job_class` | text | Class name that Java instances of the same job have. | none |
/// | `elastic_job_type` | text | `SIMPLE` of a function and `DATAFLOW` of an `impl` may be said; otherwise the type name that Java instances of the same job have. Not together with `elastic_job_class`. | none |
/// | `job_bootstrap_bean_name` | text | Name under which the handle of the job is found. | name of the job and `OneOffJobBootstrap` or `ScheduleJobBootstrap` |
/// | `registry_center_ref` | text | Name of the registry center, where the application has several. Also written `registry_center`. | the one of `elasticjob.reg-center` |
/// | `tracing_ref` | text | Name of the tracing, where the application has several. Also written `tracing`. | the one of `elasticjob.tracing` |
/// | `crate` | path | Where the library is found, when a dependency was renamed: `crate = ::jobs::elasticjob`. | from where the attribute is taken |
///
/// Texts are string literals, flags `true` or `false`.
///
/// The option counts at the first start of a job in a namespace, or with `overwrite`; then the registry center keeps the
/// configuration. A value whose feature this version does not have is an error when the program starts that names the
/// option; the README lists them under "Not in this version". So is `failover` without `monitor_execution`, already when
/// compiling where both stand in the attribute.
///
/// # What is checked when compiling
///
/// Unknown and repeated options, values of the wrong type, the cron expression, that it can fire at all, the name of
/// the zone, the parameters of the items, alone and against the number of items, the name of the job, options that
/// exclude each other, and the signature. All errors of a function are shown at once.
///
/// ```compile_fail
/// # use elasticjob::elastic_job;
/// #[elastic_job(cron = "0 0 25 * * ?", time_zone = "Asia/Shangai")] // no hour 25, no such zone
/// async fn nightly() {}
/// ```
#[proc_macro_attribute]
pub fn elastic_job(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(parse_quote!(::elasticjob), args.into(), item.into()).into()
}

/// The same for crates that depend on the starter alone. The starter exports it as `elastic_job`.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn __starter_elastic_job(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(parse_quote!(::elasticjob_starter::elasticjob), args.into(), item.into()).into()
}
