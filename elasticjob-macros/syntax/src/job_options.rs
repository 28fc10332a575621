//! The options of `#[elastic_job]`: the settings of a job, and two about the attribute itself.
//!
//! The attribute reads them by this table, the library writes the table of its documentation from it, and a test there
//! compares it with the settings of a job.

/// An option.
#[derive(Debug)]
pub struct JobOption {
    /// Its name, which is also the name of the field of the settings it fills.
    pub name: &'static str,
    /// A shorter name for it.
    pub short: Option<&'static str>,
    /// What other editions of ElasticJob call it; for suggestions only.
    pub elsewhere: Option<&'static str>,
    /// What it may be set to.
    pub kind: OptionKind,
    /// What it takes, in one word for the documentation.
    pub takes: &'static str,
    /// What it does, as Markdown.
    pub meaning: &'static str,
    /// What counts where it is not set, as Markdown.
    pub default: &'static str,
}

/// What an option may be set to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionKind {
    /// Any text.
    Text,
    /// A text that says something; where nothing is to be said the option is left out.
    Name,
    /// `true` or `false`.
    Flag,
    /// A whole number from 1.
    Count,
    /// A whole number, negative ones too.
    Number,
    /// Names in brackets.
    Names,
    /// Pairs of texts in braces.
    Props,
    /// A path to a crate or module.
    Path,
}

impl JobOption {
    /// Whether the option is meant by `written`.
    pub fn answers_to(&self, written: &str) -> bool {
        self.name == written || self.short == Some(written)
    }

    /// How the option is written, for a message.
    pub fn example(&self, written: &str) -> String {
        let value = match self.name {
            "cron" => "\"0/5 * * * * ?\"",
            "time_zone" => "\"Asia/Shanghai\"",
            "sharding_item_parameters" => "\"0=Beijing,1=Shanghai\"",
            _ => match self.kind {
                OptionKind::Text | OptionKind::Name => "\"...\"",
                OptionKind::Flag => "true",
                OptionKind::Count => "3",
                OptionKind::Number => "10",
                OptionKind::Names => "[\"...\"]",
                OptionKind::Props => "{ \"key\" = \"value\" }",
                OptionKind::Path => "::path::to::elasticjob",
            },
        };
        format!("`{written} = {value}`")
    }

    /// What the option takes, for a message.
    pub fn expected(&self) -> &'static str {
        match self.kind {
            OptionKind::Text | OptionKind::Name => "a string literal",
            OptionKind::Flag => "`true` or `false`",
            OptionKind::Count => "a whole number from 1 to 2147483647",
            OptionKind::Number => "a whole number from -2147483648 to 2147483647",
            OptionKind::Names => "string literals in brackets",
            OptionKind::Props => "pairs of string literals in braces",
            OptionKind::Path => "a path",
        }
    }
}

/// All options, in the order of the documentation.
pub const JOB_OPTIONS: &[JobOption] = &[
    JobOption {
        name: "name",
        short: None,
        elsewhere: Some("job_name"),
        kind: OptionKind::Text,
        takes: "text",
        meaning: "Name of the job, unique in the namespace. Not blank, without `/` and `@-@`.",
        default: "name of the function or type",
    },
    JobOption {
        name: "cron",
        short: None,
        elsewhere: None,
        kind: OptionKind::Name,
        takes: "text",
        meaning: "When it fires: a Quartz cron expression of 6 or 7 fields, seconds first. Without one the job is a one-off job that runs when it is triggered.",
        default: "none",
    },
    JobOption {
        name: "time_zone",
        short: None,
        elsewhere: None,
        kind: OptionKind::Name,
        takes: "text",
        meaning: "The zone the expression is meant in: a name of the IANA database or an offset as `GMT+8:00`.",
        default: "zone of the host",
    },
    JobOption {
        name: "sharding_total_count",
        short: None,
        elsewhere: None,
        kind: OptionKind::Count,
        takes: "number from 1",
        meaning: "How many items each fire is split into.",
        default: "none, has to be set here or in the configuration",
    },
    JobOption {
        name: "sharding_item_parameters",
        short: Some("params"),
        elsewhere: None,
        kind: OptionKind::Text,
        takes: "text",
        meaning: "Parameters of items, `0=Beijing,1=Shanghai`.",
        default: "none",
    },
    JobOption {
        name: "job_parameter",
        short: None,
        elsewhere: None,
        kind: OptionKind::Text,
        takes: "text",
        meaning: "A parameter for all items.",
        default: "empty",
    },
    JobOption {
        name: "monitor_execution",
        short: None,
        elsewhere: None,
        kind: OptionKind::Flag,
        takes: "flag",
        meaning: "Runs are recorded in the registry, so that no item runs twice at a time. Costs two requests a fire; for jobs that fire every few moments `false` may be better.",
        default: "`true`",
    },
    JobOption {
        name: "failover",
        short: None,
        elsewhere: None,
        kind: OptionKind::Flag,
        takes: "flag",
        meaning: "What an instance had begun and not finished when it died, or was cut off by its shutdown, is begun again at once by another one. Part of the work may have been done. Needs `monitor_execution`.",
        default: "`false`",
    },
    JobOption {
        name: "misfire",
        short: None,
        elsewhere: None,
        kind: OptionKind::Flag,
        takes: "flag",
        meaning: "A fire that comes while the one before still runs is made up for right after it; of several only the latest.",
        default: "`true`",
    },
    JobOption {
        name: "max_late_begin_seconds",
        short: None,
        elsewhere: None,
        kind: OptionKind::Number,
        takes: "seconds from 1",
        meaning: "How late a fire may begin that no instance began in time. Needs `monitor_execution`. -1: until the next fire, or 10 s where `misfire` is off.",
        default: "-1",
    },
    JobOption {
        name: "max_time_diff_seconds",
        short: None,
        elsewhere: None,
        kind: OptionKind::Number,
        takes: "seconds",
        meaning: "Largest difference allowed between the clocks of the host and of the registry; while it is larger the job does not start and fires are skipped. Negative: not checked.",
        default: "60",
    },
    JobOption {
        name: "reconcile_interval_minutes",
        short: None,
        elsewhere: None,
        kind: OptionKind::Number,
        takes: "minutes",
        meaning: "How often the leader looks at all nodes of the job again, for what no event told of. Below 1: never.",
        default: "10",
    },
    JobOption {
        name: "job_sharding_strategy_type",
        short: None,
        elsewhere: None,
        kind: OptionKind::Name,
        takes: "text",
        meaning: "How items are spread over instances: `AVG_ALLOCATION`, `ODEVITY`, `ROUND_ROBIN`, `SINGLE_SHARDING_BALANCE`, or the type name of an own strategy.",
        default: "`AVG_ALLOCATION`",
    },
    JobOption {
        name: "job_executor_thread_pool_size_provider_type",
        short: None,
        elsewhere: Some("job_executor_service_handler_type"),
        kind: OptionKind::Name,
        takes: "text",
        meaning: "How many items run at a time in one process: `CPU`, `SINGLE_THREAD` or the type name of an own pool.",
        default: "none: all items of an async job, `CPU` for a plain function",
    },
    JobOption {
        name: "job_error_handler_type",
        short: None,
        elsewhere: None,
        kind: OptionKind::Name,
        takes: "text",
        meaning: "What is done when an item fails.",
        default: "`LOG`",
    },
    JobOption {
        name: "job_listener_types",
        short: Some("listeners"),
        elsewhere: None,
        kind: OptionKind::Names,
        takes: "`[\"A\", \"B\"]`",
        meaning: "Type names of the listeners around each run.",
        default: "none",
    },
    JobOption {
        name: "description",
        short: None,
        elsewhere: None,
        kind: OptionKind::Text,
        takes: "text",
        meaning: "What the job is for.",
        default: "empty",
    },
    JobOption {
        name: "props",
        short: None,
        elsewhere: None,
        kind: OptionKind::Props,
        takes: "`{ \"a.b\" = \"c\" }`",
        meaning: "Properties of the job, its error handler and listeners.",
        default: "none",
    },
    JobOption {
        name: "disabled",
        short: None,
        elsewhere: None,
        kind: OptionKind::Flag,
        takes: "flag",
        meaning: "The server is marked as disabled at each start; `false` leaves a mark that is there.",
        default: "`false`",
    },
    JobOption {
        name: "overwrite",
        short: None,
        elsewhere: None,
        kind: OptionKind::Flag,
        takes: "flag",
        meaning: "Settings of this program replace those in the registry at each start; otherwise those in the registry stand.",
        default: "`false`",
    },
    JobOption {
        name: "label",
        short: None,
        elsewhere: None,
        kind: OptionKind::Text,
        takes: "text",
        meaning: "A label that is kept with the configuration.",
        default: "none",
    },
    JobOption {
        name: "static_sharding",
        short: None,
        elsewhere: None,
        kind: OptionKind::Flag,
        takes: "flag",
        meaning: "Items stay where they are when instances come and go, also with one that is gone.",
        default: "`false`",
    },
    JobOption {
        name: "elastic_job_class",
        short: None,
        elsewhere: None,
        kind: OptionKind::Name,
        takes: "text",
        meaning: "Class name that Java instances of the same job have.",
        default: "none",
    },
    JobOption {
        name: "elastic_job_type",
        short: None,
        elsewhere: None,
        kind: OptionKind::Name,
        takes: "text",
        meaning: "`SIMPLE` of a function and `DATAFLOW` of an `impl` may be said; otherwise the type name that Java instances of the same job have. Not together with `elastic_job_class`.",
        default: "none",
    },
    JobOption {
        name: "job_bootstrap_bean_name",
        short: None,
        elsewhere: None,
        kind: OptionKind::Name,
        takes: "text",
        meaning: "Name under which the handle of the job is found.",
        default: "name of the job and `OneOffJobBootstrap` or `ScheduleJobBootstrap`",
    },
    JobOption {
        name: "registry_center_ref",
        short: Some("registry_center"),
        elsewhere: None,
        kind: OptionKind::Name,
        takes: "text",
        meaning: "Name of the registry center, where the application has several.",
        default: "the one of `elasticjob.reg-center`",
    },
    JobOption {
        name: "tracing_ref",
        short: Some("tracing"),
        elsewhere: None,
        kind: OptionKind::Name,
        takes: "text",
        meaning: "Name of the tracing, where the application has several.",
        default: "the one of `elasticjob.tracing`",
    },
    JobOption {
        name: "crate",
        short: None,
        elsewhere: None,
        kind: OptionKind::Path,
        takes: "path",
        meaning: "Where the library is found, when a dependency was renamed: `crate = ::jobs::elasticjob`.",
        default: "from where the attribute is taken",
    },
];
