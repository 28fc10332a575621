//! The section `elasticjob.tracing`.

use super::{Kind, Schema, Setting};

pub(super) const TRACING: &[Setting] = &[
    TYPE,
    DATABASE,
    Setting::value("include-job-names", Kind::List, "The jobs that are traced.")
        .otherwise("all jobs")
        .example("settle,export"),
    Setting::value("exclude-job-names", Kind::List, "The jobs that are not traced.")
        .otherwise("none")
        .example("heartbeat")
        .instead_of("include-job-names"),
    TIME_ZONE,
    QUEUE_SIZE,
    REMOVED,
    RUN_LOG,
];

/// A tracing with a name. It is used by the jobs that refer to it, so it has no list of jobs.
pub(super) const NAMED_TRACING: &[Setting] = &[TYPE, DATABASE, TIME_ZONE, QUEUE_SIZE, REMOVED, RUN_LOG];

const TYPE: Setting = Setting::value("type", Kind::Text, "`RDB`: a database; or the type name of an own storage.")
    .otherwise("nothing is traced; required where the section has anything else")
    .example("RDB");

const DATABASE: Setting = Setting::section(
    "data-source",
    "The database. Without it the sqlx pool that the application provides.",
    Schema::Section(DATA_SOURCE),
);

const TIME_ZONE: Setting = Setting::value(
    "time-zone",
    Kind::Text,
    "The zone of the times in PostgreSQL and SQLite, an IANA name or `GMT+8:00`: that of Java programs beside.",
)
.otherwise("that of the host")
.example("Asia/Shanghai");

const QUEUE_SIZE: Setting = Setting::value(
    "queue-size",
    Kind::Whole { from: 1, to: 10_000_000, unit: "events" },
    "How many events wait at most while the storage is slow or away; what comes then is lost, counted and said.",
)
.default("10000")
.example("100000");

const REMOVED: Setting = Setting::section("retention", "What is removed from the tables.", Schema::Section(RETENTION));

const RUN_LOG: Setting =
    Setting::section("run-log", "The logs of runs: what jobs log while their items run.", Schema::Section(RUN_LOGS));

const RUN_LOGS: &[Setting] = &[
    Setting::value("enabled", Kind::Flag, "Keeps them: see [the log of a run](guide/tracing.md#the-log-of-a-run).").default("false").example("true"),
    Setting::value(
        "level",
        Kind::Level,
        "Lines that matter less are not kept. `DEBUG` and `TRACE` come only as far as `ELASTICJOB_LOG` lets them into the log \
         of the program.",
    )
    .default("INFO")
    .example("WARN"),
    Setting::value(
        "max-lines",
        Kind::Whole { from: 10, to: 100_000, unit: "lines" },
        "The most lines of the run of an item: its first ones, and a tenth for its last ones.",
    )
    .default("1000")
    .example("5000"),
    Setting::value(
        "max-line-bytes",
        Kind::Whole { from: 100, to: 32_768, unit: "bytes" },
        "The most bytes of a line; the rest of it is cut off.",
    )
    .default("4096")
    .example("1000"),
    Setting::value(
        "max-bytes",
        Kind::Whole { from: 1_024, to: 64 << 20, unit: "bytes" },
        "The most bytes of the run of an item.",
    )
    .default("262144")
    .example("1048576"),
    Setting::value("days", Kind::Whole { from: 1, to: 36_500, unit: "days" }, "Lines that are older are removed.")
        .otherwise("those older than 7 days are")
        .example("30"),
    Setting::value(
        "rows",
        Kind::Whole { from: 1, to: i64::MAX, unit: "rows" },
        "How many lines of all runs are kept; the oldest are removed.",
    )
    .otherwise("any number is kept")
    .example("10000000"),
];

const DATA_SOURCE: &[Setting] = &[
    // The URL may contain a password.
    Setting::value(
        "url",
        Kind::Secret,
        "`sqlite:`, `postgres://` or `mysql://`; JDBC addresses of the three are understood. Never shown: it may have a \
         password in it.",
    )
    .otherwise("required in this section")
    .example("postgres://db:5432/jobs"),
    Setting::value("username", Kind::Text, "The user, instead of that in the URL.").otherwise("that of the URL")
        .example("settle"),
    Setting::value("password", Kind::Secret, "The password, instead of that in the URL. Never shown.")
        .otherwise("that of the URL")
        .example("${DB_PASSWORD:}"),
    Setting::value(
        "driver-class-name",
        Kind::Text,
        "For Java programs that read the same file. A Rust program takes the driver from the URL.",
    )
    .otherwise("not needed")
    .example("org.postgresql.Driver"),
];

const RETENTION: &[Setting] = &[
    Setting::value(
        "days",
        Kind::Whole { from: 1, to: 36_500, unit: "days" },
        "Rows that began longer ago are removed, in small steps.",
    )
    .otherwise("rows of any age are kept")
    .example("30"),
    Setting::value(
        "rows",
        Kind::Whole { from: 1, to: i64::MAX, unit: "rows" },
        "How many rows of each table are kept; the oldest are removed.",
    )
    .otherwise("any number is kept")
    .example("1000000"),
];
