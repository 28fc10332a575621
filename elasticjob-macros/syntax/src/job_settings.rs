//! The settings of a job: one row each.
//!
//! Each row is the source of the option of the attribute `#[elastic_job]`, of the key in settings files with its line
//! in `docs/settings.md`, of the field of the library's `JobSettings`, of the setter of its builder, and of the key in
//! the registry center. The effect of a setting is implemented where the setting is used.

use crate::job_option::{JobOption, OptionKind, Unset};

/// Passes the rows to the macro `$then`. The settings in `configuration` describe the job; those in `program` describe
/// how the program that has the job handles it.
///
/// A row is `field = "key-in-files": Kind, "meaning", unset, "example" { further fields of JobOption }`, where `unset`
/// is the default: a value, or words.
#[macro_export]
macro_rules! each_job_setting {
    ($then:ident) => {
        $then! {
            configuration {
                cron = "cron": Name,
                    "When it fires: a Quartz cron expression of 6 or 7 fields, seconds first. Without one the job is a one-off job, \
                     which runs when it is triggered.",
                    words "a one-off job", "0 0 3 * * ?" { see: Some("[the dialect](cron.md)"), java: Some("cron") }
                time_zone = "time-zone": Name,
                    "The zone that the expression is meant in: a name of the IANA database, or an offset as `GMT+8:00`.",
                    words "that of the host", "Asia/Shanghai" { java: Some("timeZone") }
                depends_on = "depends-on": Names,
                    "The jobs that it runs after, instead of by a schedule: `JOB`, `JOB when failed` or `JOB when ended`. A fire of it \
                     comes when the fires of all these jobs for the same scheduled time have ended so; with `JOB items same` or \
                     `JOB when ended items same` each item begins when the item with its number has. Needs monitored execution, \
                     also of these jobs.",
                    words "none", "extract,clean-up when ended"
                    { instead_of: Some("cron"), see: Some("[jobs after jobs](dependencies.md)") }
                sharding_total_count = "sharding-total-count": Count,
                    "How many sharding items a fire is split into: at most 100,000, or 10,000 for a job with `items same` in \
                     `depends-on`.",
                    words "required, in the attribute or in the settings", "3"
                    { counts: "items", java: Some("shardingTotalCount") }
                sharding_item_parameters = "sharding-item-parameters": Text,
                    "The parameters of the items, which count from 0.",
                    words "items without parameters", "0=Beijing,1=Shanghai,2=Guangzhou"
                    { short: Some("params"), java: Some("shardingItemParameters") }
                job_parameter = "job-parameter": Text,
                    "The parameter of the whole job.",
                    words "empty", "full" { java: Some("jobParameter") }
                monitor_execution = "monitor-execution": Flag,
                    "Whether begin and end of items are recorded in the registry center: then no item runs twice at a time, and \
                     there is a fencing token. It costs two requests a fire; for jobs that fire every few moments `false` may be \
                     better.",
                    value "true", "true" { java: Some("monitorExecution") }
                failover = "failover": Flag,
                    "Whether another instance begins again at once what an instance had begun and not finished when it died, or was \
                     cut off by its shutdown. Part of the work may have been done. Needs monitored execution.",
                    value "false", "true" { see: Some("[failover](guide/failover-misfire.md#failover)"), java: Some("failover") }
                misfire = "misfire": Flag,
                    "Whether a fire that comes while the one before still runs is made up for right after it; of several only the \
                     latest.",
                    value "true", "false" { see: Some("[misfire](guide/failover-misfire.md#misfire)"), java: Some("misfire") }
                max_late_begin_seconds = "max-late-begin-seconds": Number,
                    "How late a fire may begin that no instance began in time, from 1; negative: until the next fire, or 10 s where \
                     misfire is off. Needs monitored execution.",
                    value "-1", "3600" { counts: "seconds", see: Some("[late fires](guide/failover-misfire.md#late-fires)") }
                max_time_diff_seconds = "max-time-diff-seconds": Number,
                    "How far the clock of a host may be off from that of the registry center; negative: not checked. A job does not \
                     start on a host that is further off, and fires are skipped there.",
                    value "60", "30"
                    { counts: "seconds", see: Some("[Clocks](architecture.md#clocks)"), java: Some("maxTimeDiffSeconds") }
                reconcile_interval_minutes = "reconcile-interval-minutes": Number,
                    "How often the leader lists all nodes of the job again and lets the group repair what is wrong; below 1: never.",
                    value "10", "5" {
                        counts: "minutes",
                        see: Some("[reconcile](guide/failover-misfire.md#reconcile)"),
                        java: Some("reconcileIntervalMinutes")
                    }
                job_sharding_strategy_type = "job-sharding-strategy-type": Name,
                    "How items are spread over the instances: `AVG_ALLOCATION`, `ODEVITY`, `ROUND_ROBIN`, \
                     `SINGLE_SHARDING_BALANCE`, `WHOLE`, or the type name of an own strategy (`register_sharding_strategy!`).",
                    value "AVG_ALLOCATION", "ROUND_ROBIN"
                    { see: Some("[Strategies](architecture.md#strategies)"), java: Some("jobShardingStrategyType") }
                job_executor_thread_pool_size_provider_type = "job-executor-thread-pool-size-provider-type": Name,
                    "How many items of the job run at a time in one process: `CPU` twice as many as there are processors, \
                     `SINGLE_THREAD` one, or the type name of an own pool (`register_pool_size_provider!`). What has to \
                     wait counts as begun; items that were taken over go first.",
                    words "none: all items of an async job start together; plain functions, which block a thread, have `CPU`",
                    "SINGLE_THREAD" {
                        older: &["job-executor-service-handler-type"],
                        java: Some("jobExecutorThreadPoolSizeProviderType")
                    }
                job_error_handler_type = "job-error-handler-type": Name,
                    "What is done when an item fails: `LOG`, `THROW`, `IGNORE`, `EMAIL`, `WECHAT`, `DINGTALK`, or the type name of an \
                     own handler (`register_error_handler!`).",
                    value "LOG", "IGNORE" { java: Some("jobErrorHandlerType") }
                job_listener_types = "job-listener-types": Names,
                    "The type names of the listeners that are called around the items of a fire.",
                    words "none", "audit,notify"
                    { short: Some("listeners"), see: Some("[listeners](guide/listeners.md)"), java: Some("jobListenerTypes") }
                description = "description": Text,
                    "A text for people.",
                    words "empty", "settles the day" { java: Some("description") }
                props = "props": Props,
                    "Properties of the type of the job, its error handler and listeners.",
                    words "none", "/opt/settle.sh --full" { see: Some("[below](#properties)"), java: Some("props") }
                disabled = "disabled": Flag,
                    "Whether the server is marked as disabled at each start, until an operator enables it; also where the \
                     configuration in the registry center says so. `false` leaves the mark as it is.",
                    value "false", "true" { java: Some("disabled") }
                overwrite = "overwrite": Flag,
                    "Whether the settings of this program replace those in the registry center at each start; otherwise those in the \
                     registry center stand.",
                    value "false", "true" { java: Some("overwrite") }
                label = "label": Text,
                    "Kept in the registry center for others; not used.",
                    words "none", "nightly" { java: Some("label") }
                static_sharding = "static-sharding": Flag,
                    "Whether items keep their owner when instances come and go, also an owner that is gone. They are assigned at the \
                     first fire, and when the total count or the strategy changes.",
                    value "false", "true" { see: Some("[Resharding](architecture.md#resharding)"), java: Some("staticSharding") }
                elastic_job_class = "elastic-job-class": Name,
                    "The function of the job: its name, its path, or the name of its job. Several entries may have one function. Or \
                     the name of code that the builder was given, or the class name that Java instances have.",
                    words "the function of the name of the entry", "my_app::jobs::settle"
                    { in_attribute: Some(("The class name that Java instances of the same job have.", "none")) }
                elastic_job_type = "elastic-job-type": Name,
                    "What runs the items of a job that has no function: `SCRIPT`, `HTTP`, or an own type (`register_job_type!`). \
                     `SIMPLE` and `DATAFLOW` may be said of a job that is one.",
                    words "a job with a function", "SCRIPT" {
                        instead_of: Some("elastic-job-class"),
                        see: Some("[scripts](guide/jobs.md#scripts) and [HTTP](guide/jobs.md#http)"),
                        in_attribute: Some((
                            "`SIMPLE` of a function and `DATAFLOW` of an `impl` may be said; otherwise the type name that Java \
                             instances of the same job have. Not together with `elastic_job_class`.",
                            "none"
                        ))
                    }
            }
            program {
                job_bootstrap_bean_name = "job-bootstrap-bean-name": Name,
                    "The name that the handle of the job is asked for by.",
                    words "the name of the job and `OneOffJobBootstrap`, with a schedule `ScheduleJobBootstrap`", "settleBean" {}
                registry_center_ref = "registry-center-ref": Name,
                    "The registry center that has the job: a name below `elasticjob.reg-centers`, or one that the program gives its \
                     builder.",
                    words "that of `elasticjob.reg-center`, which is also called `default`", "default"
                    { short: Some("registry_center") }
                tracing_ref = "tracing-ref": Name,
                    "Where the runs of the job are traced to: a name below `elasticjob.tracings`.",
                    words "that of `elasticjob.tracing`, which is also called `default`", "default" { short: Some("tracing") }
            }
        }
    };
}

macro_rules! unset {
    (value $value:literal) => {
        Unset::Value($value)
    };
    (words $words:literal) => {
        Unset::Words($words)
    };
}

macro_rules! table {
    ($($group:ident { $(
        $field:ident = $key:literal: $kind:ident, $meaning:literal, $how:ident $unset:literal, $example:literal
        { $($more:ident: $what:expr),* }
    )* })*) => {
        /// All settings, in the order of the documentation.
        pub const JOB_SETTINGS: &[JobOption] = &[$($(JobOption {
            $($more: $what,)*
            ..JobOption::new(stringify!($field), $key, OptionKind::$kind, $meaning, unset!($how $unset), $example)
        },)*)*];
    };
}

each_job_setting!(table);

/// The key in the registry center of the setting with this field; `None` where it has none.
pub const fn java_key(field: &str) -> Option<&'static str> {
    let mut at = 0;
    while at < JOB_SETTINGS.len() {
        if is_same(JOB_SETTINGS[at].name, field) {
            return JOB_SETTINGS[at].java;
        }
        at += 1;
    }
    None
}

/// `==` of two texts, which no constant can use.
const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}
