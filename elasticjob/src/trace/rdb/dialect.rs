//! The differences between the databases.

use chrono::{DateTime, NaiveDateTime, Utc};
use sqlx::QueryBuilder;
use sqlx::error::{DatabaseError, ErrorKind};

use super::cells::Cells;

/// One of the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) name: &'static str,
    /// The columns of ElasticJob in order.
    pub(super) columns: &'static [&'static str],
    /// The columns of this implementation.
    pub(super) own: &'static [OwnColumn],
    /// The column with the time that says how old a row is.
    pub(super) time: &'static str,
    /// Whether that column has milliseconds since 1970 instead of a time of the database.
    pub(super) in_milliseconds: bool,
}

impl Table {
    /// The columns of ElasticJob that are not among `columns`.
    pub(super) fn missing(self, columns: &[String]) -> Vec<&'static str> {
        self.columns.iter().copied().filter(|column| !columns.iter().any(|known| known == column)).collect()
    }
}

/// A column that only this implementation has. Every one may be empty, as Java does not write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OwnColumn {
    RunId,
    /// The scheduled time of the fire in milliseconds since 1970 in UTC, on every database.
    ScheduledAt,
    InstanceId,
    /// The attempt that began the run, as the record of the item has it.
    Attempt,
}

impl OwnColumn {
    /// All, in the order of the tables, after those of ElasticJob.
    pub(super) const ALL: &'static [Self] = &[Self::RunId, Self::ScheduledAt, Self::InstanceId, Self::Attempt];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::RunId => "run_id",
            Self::ScheduledAt => "scheduled_at",
            Self::InstanceId => "instance_id",
            Self::Attempt => "attempt",
        }
    }

    /// The statement that adds it to a table which lacks it.
    pub(super) fn add_to(self, table: Table) -> String {
        let kind = match self {
            Self::RunId => "VARCHAR(40)",
            Self::ScheduledAt => "BIGINT",
            Self::InstanceId => "VARCHAR(255)",
            Self::Attempt => "VARCHAR(50)",
        };
        format!("ALTER TABLE {} ADD COLUMN {} {kind} NULL", table.name, self.name())
    }

    /// Those that are among `columns`.
    pub(super) fn among(columns: &[String]) -> Vec<Self> {
        Self::ALL.iter().copied().filter(|own| columns.iter().any(|known| known == own.name())).collect()
    }
}

/// A column of the table of states that ElasticJob created before 3.0.5. It must have a value.
pub(super) const SOURCE: &str = "source";

pub(super) const EXECUTION_LOG: Table = Table {
    name: "JOB_EXECUTION_LOG",
    columns: &[
        "id",
        "job_name",
        "task_id",
        "hostname",
        "ip",
        "sharding_item",
        "execution_source",
        "failure_cause",
        "is_success",
        "start_time",
        "complete_time",
    ],
    own: OwnColumn::ALL,
    time: "start_time",
    in_milliseconds: false,
};

pub(super) const STATUS_TRACE_LOG: Table = Table {
    name: "JOB_STATUS_TRACE_LOG",
    columns: &[
        "id",
        "job_name",
        "original_task_id",
        "task_id",
        "slave_id",
        "execution_type",
        "sharding_item",
        "state",
        "message",
        "creation_time",
    ],
    own: OwnColumn::ALL,
    time: "creation_time",
    in_milliseconds: false,
};

/// The table that only this implementation has.
pub(super) const DECISION_LOG: Table = Table {
    name: "JOB_DECISION_LOG",
    columns: &[
        "id",
        "job_name",
        "decided_at",
        "kind",
        "scheduled_at",
        "scheduled_until",
        "sharding_items",
        "instance_id",
        "related_instance",
        "reason",
        "detail",
    ],
    own: &[],
    time: "decided_at",
    in_milliseconds: true,
};

/// The statement that creates [`DECISION_LOG`]: with the type of long texts, and what follows the primary key.
macro_rules! create_decision_log {
    ($text:literal, $rest:literal) => {
        concat!(
            "CREATE TABLE IF NOT EXISTS JOB_DECISION_LOG (
        id VARCHAR(40) NOT NULL,
        job_name VARCHAR(100) NOT NULL,
        decided_at BIGINT NOT NULL,
        kind VARCHAR(40) NOT NULL,
        scheduled_at BIGINT NULL,
        scheduled_until BIGINT NULL,
        sharding_items ",
            $text,
            " NOT NULL,
        instance_id VARCHAR(255) NULL,
        related_instance VARCHAR(255) NULL,
        reason ",
            $text,
            " NOT NULL,
        detail ",
            $text,
            " NOT NULL,
        PRIMARY KEY (id)",
            $rest
        )
    };
}
#[cfg(feature = "tracing-mysql")]
pub(super) use create_decision_log;

/// The table of the logs of runs, which only this implementation has, and only where they are kept.
pub(super) const RUN_LOG: Table = Table {
    name: "JOB_RUN_LOG",
    columns: &["execution_id", "line_number", "job_name", "logged_at", "log_level", "target", "message", "left_out"],
    own: &[],
    time: "logged_at",
    in_milliseconds: true,
};

/// The statement that creates [`RUN_LOG`]: with the type of long texts, and what follows the primary key.
macro_rules! create_run_log {
    ($text:literal, $rest:literal) => {
        concat!(
            "CREATE TABLE IF NOT EXISTS JOB_RUN_LOG (
        execution_id VARCHAR(40) NOT NULL,
        line_number INT NOT NULL,
        job_name VARCHAR(100) NOT NULL,
        logged_at BIGINT NOT NULL,
        log_level VARCHAR(5) NOT NULL,
        target VARCHAR(200) NOT NULL,
        message ",
            $text,
            " NOT NULL,
        left_out INT NOT NULL,
        PRIMARY KEY (execution_id, line_number)",
            $rest
        )
    };
}
#[cfg(feature = "tracing-mysql")]
pub(super) use create_run_log;

/// A time as the database shows it.
pub(super) struct Shown(pub(super) NaiveDateTime);

impl From<NaiveDateTime> for Shown {
    fn from(time: NaiveDateTime) -> Self {
        Self(time)
    }
}

impl From<DateTime<Utc>> for Shown {
    fn from(time: DateTime<Utc>) -> Self {
        Self(time.naive_utc())
    }
}

/// The statements and errors of one database.
pub(super) trait Dialect: sqlx::Database + sqlx::database::HasStatementCache {
    /// The type of a time that is read.
    type Time: Into<Shown>;

    /// Creates [`EXECUTION_LOG`], with indexes on its time, and on job and time, which Java's table does not have.
    /// Both go on to `id`, so that pages of rows are read in the order of an index.
    const CREATE_EXECUTION_LOG: &'static [&'static str];
    /// Creates [`STATUS_TRACE_LOG`], with Java's index and the same ones.
    const CREATE_STATUS_TRACE_LOG: &'static [&'static str];
    /// Creates [`DECISION_LOG`].
    const CREATE_DECISION_LOG: &'static [&'static str] = &[
        create_decision_log!("TEXT", ")"),
        "CREATE INDEX IF NOT EXISTS DECIDED_AT_INDEX ON JOB_DECISION_LOG (decided_at, id)",
        "CREATE INDEX IF NOT EXISTS JOB_NAME_DECIDED_AT_INDEX ON JOB_DECISION_LOG (job_name, decided_at, id)",
    ];
    /// Follows the values of decisions: a row that exists stays.
    const KEEP_DECISION: &'static str = " ON CONFLICT (id) DO NOTHING";
    /// Creates [`RUN_LOG`].
    const CREATE_RUN_LOG: &'static [&'static str] =
        &[create_run_log!("TEXT", ")"), "CREATE INDEX IF NOT EXISTS LOGGED_AT_INDEX ON JOB_RUN_LOG (logged_at)"];
    /// Follows the values of lines: a row that exists stays.
    const KEEP_LINE: &'static str = " ON CONFLICT (execution_id, line_number) DO NOTHING";
    /// Follows the values of executions: an end completes the row of its start, and no later event undoes an end.
    const COMPLETE_EXECUTION: &'static str;
    /// Follows the values of states: a row that exists stays. Empty where the database could not find such a row.
    const KEEP_STATUS: &'static str;
    /// The column `job_name` as one that tells capitals apart; `None` where it does so by itself.
    const EXACT_JOB_NAME: Option<&'static str>;
    /// The start of a run, cut to its second.
    const SECOND_OF_START: &'static str;
    /// Whether times are instants; then the wall-clock time of UTC is written.
    const KEEPS_INSTANTS: bool;
    /// Whether the database is another process. The connection of a read that is given up is closed then: the database goes on
    /// with the read, or is away, and the pool would wait for it without a limit.
    const IS_REMOTE: bool = true;

    /// Whether a connection keeps the statements that insert rows.
    const KEEPS_INSERTS: bool;

    /// How many of so many rows the next statement inserts; at least one.
    fn next_rows(rows: usize) -> usize;

    /// The statement that inserts rows, up to what follows them. `put` gives the values of a row.
    fn insert<R>(head: String, rows: Vec<R>, put: impl Fn(R, &mut dyn Cells)) -> QueryBuilder<Self>;

    /// How many rows a statement changed.
    fn rows_affected(result: &Self::QueryResult) -> u64;

    /// Removes at most `limit` rows that are as old as the time pushed after the first part, or older.
    fn delete(table: Table, limit: u64) -> (String, String);

    /// Whether the database says that a table does not exist.
    fn is_missing_table(error: &dyn DatabaseError) -> bool;

    /// Whether the database says that the user may not do that.
    fn is_not_permitted(error: &dyn DatabaseError) -> bool;

    /// Whether the database refuses the values, which no new attempt would change.
    fn refuses(error: &dyn DatabaseError) -> bool {
        // 22: data exceptions, such as a text that is too long.
        error.kind() != ErrorKind::Other || error.code().is_some_and(|code| code.starts_with("22"))
    }
}
