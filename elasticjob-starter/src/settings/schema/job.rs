//! The settings of one job.

use super::{Kind, Schema, Setting};

pub(in super::super) const JOB: &[Setting] = &[
    Setting::value(
        "elastic-job-class",
        Kind::Text,
        "The function of the job: its name, its path, or the name of its job. Several entries may have one function. Or \
         the name of code that the builder was given, or the class name that Java instances have.",
    )
    .otherwise("the function of the name of the entry")
    .example("my_app::jobs::settle"),
    Setting::value("elastic-job-type", Kind::Text, "What runs the items of a job that has no function: `SCRIPT`, see [scripts](../README.md#scripts), `HTTP`, see \
         [HTTP](../README.md#http), or an own type (`register_job_type!`). `SIMPLE` and `DATAFLOW` may be said of a job \
         that is one.")
        .otherwise("a job with a function")
        .example("SCRIPT")
        .instead_of("elastic-job-class"),
    Setting::value("cron", Kind::Text, "When it fires, in the [Quartz dialect](cron.md).")
        .otherwise("a one-off job")
        .example("0 0 3 * * ?"),
    Setting::value("time-zone", Kind::Text, "The zone of `cron`: an IANA name, or `GMT+8:00`.")
        .otherwise("that of the host")
        .example("Europe/Berlin"),
    Setting::value("job-bootstrap-bean-name", Kind::Text, "The name that its handle is asked for by.")
        .otherwise("the name of the job and `OneOffJobBootstrap`, with `cron` `ScheduleJobBootstrap`")
        .example("settleBean"),
    Setting::value(
        "sharding-total-count",
        Kind::Whole { from: 1, to: i32::MAX as i64, unit: "items" },
        "How many sharding items a fire is split into.",
    )
    .otherwise("required, here or in the attribute")
    .example("3"),
    Setting::value("sharding-item-parameters", Kind::Text, "The parameters of the items, which count from 0. Short in the attribute: `params`.")
        .otherwise("items without parameters")
        .example("0=Beijing,1=Shanghai,2=Guangzhou"),
    Setting::value("job-parameter", Kind::Text, "The parameter of the whole job.").otherwise("empty").example("full"),
    Setting::value(
        "monitor-execution",
        Kind::Flag,
        "Whether begin and end of items are recorded: then no item runs twice at a time, and there is a fencing token. It \
         costs two registry requests a fire.",
    )
    .default("true")
    .example("true"),
    Setting::value(
        "failover",
        Kind::Flag,
        "Whether another instance begins again what a dead one had begun, see \
         [failover](../README.md#failover). Needs `monitor-execution`.",
    )
    .default("false")
    .example("true"),
    Setting::value(
        "misfire",
        Kind::Flag,
        "Whether a fire that falls into a running one is made up for right after it, see \
         [misfire](../README.md#misfire).",
    )
    .default("true")
    .example("false"),
    Setting::value(
        "max-late-begin-seconds",
        Kind::any("seconds"),
        "How late a fire may begin that no instance began in time, from 1, see [late fires](../README.md#late-fires); \
         negative: until the next fire, or 10 s where `misfire` is off. Needs `monitor-execution`.",
    )
    .default("-1")
    .example("3600"),
    Setting::value(
        "max-time-diff-seconds",
        Kind::any("seconds"),
        "How far the clock of a host may be off from that of the registry center; negative: that is not looked at. A job \
         does not start on a host that is further off, and fires are skipped there, see \
         [Clocks](architecture.md#clocks).",
    )
    .default("60")
    .example("30"),
    Setting::value(
        "reconcile-interval-minutes",
        Kind::any("minutes"),
        "How often the leader lists all nodes anew and lets the group repair what is wrong, see \
         [reconcile](../README.md#reconcile); below 1: never.",
    )
    .default("10")
    .example("5"),
    Setting::value(
        "job-sharding-strategy-type",
        Kind::Text,
        "How items are spread over the instances: `AVG_ALLOCATION`, `ODEVITY`, `ROUND_ROBIN`, `SINGLE_SHARDING_BALANCE`, or \
         an own one (`register_sharding_strategy!`), see [Strategies](architecture.md#strategies).",
    )
    .default("AVG_ALLOCATION")
    .example("ROUND_ROBIN"),
    Setting::value(
        "job-executor-thread-pool-size-provider-type",
        Kind::Text,
        "How many items of the job run at a time in one process: `CPU` twice as many as there are processors, \
         `SINGLE_THREAD` one, or an own pool (`register_thread_pool_size_provider!`). What has to wait counts as begun; \
         items that were taken over go first.",
    )
    .otherwise("none: all items of an async job start together; plain functions, which block a thread, have `CPU`")
    .example("SINGLE_THREAD")
    .alias(&["job-executor-service-handler-type"]),
    Setting::value(
        "job-error-handler-type",
        Kind::Text,
        "What is done when an item fails: `LOG`, `THROW`, `IGNORE`, `EMAIL`, `WECHAT`, `DINGTALK`, or an own one \
         (`register_error_handler!`).",
    )
    .default("LOG")
    .example("IGNORE"),
    Setting::value("job-listener-types", Kind::List, "What is called around the items of a fire, by type name. See [listeners](../README.md#listeners). Short in \
         the attribute: `listeners`.")
        .otherwise("none")
        .example("audit,notify"),
    Setting::value("description", Kind::Text, "A text for people.").otherwise("empty").example("settles the day"),
    Setting::section("props", "A property of the type of the job or of its error handler, see [below](#properties).", Schema::Props)
        .otherwise("none")
        .example("/opt/settle.sh --full"),
    Setting::value(
        "disabled",
        Kind::Flag,
        "Whether the server is marked as disabled at each start, until an operator enables it; also where the \
         configuration in the registry center says so. `false` leaves the mark as it is.",
    )
    .default("false")
    .example("true"),
    Setting::value(
        "overwrite",
        Kind::Flag,
        "Whether these settings replace those in the registry center at each start.",
    )
    .default("false")
    .example("true"),
    Setting::value("label", Kind::Text, "Kept in the registry center for others; not used.").otherwise("none").example("nightly"),
    Setting::value(
        "static-sharding",
        Kind::Flag,
        "Whether items keep their owner while instances come and go, see [Resharding](architecture.md#resharding).",
    )
    .default("false")
    .example("true"),
    Setting::value(
        "registry-center-ref",
        Kind::Text,
        "The registry center that has the job: a name below `elasticjob.reg-centers`, or one that the program gives its \
         builder. Short in the attribute: `registry_center`.",
    )
    .otherwise("that of `elasticjob.reg-center`, which is also called `default`")
    .example("default"),
    Setting::value(
        "tracing-ref",
        Kind::Text,
        "Where its runs are traced to: a name below `elasticjob.tracings`. Short in the attribute: `tracing`.",
    )
    .otherwise("`elasticjob.tracing`, which is also called `default`")
    .example("default"),
];
