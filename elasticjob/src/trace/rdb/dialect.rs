//! The differences between the databases.

use sqlx::error::{DatabaseError, ErrorKind};

/// One of the two tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) name: &'static str,
    /// The columns of ElasticJob in order, then [`RUN_ID`].
    pub(super) columns: &'static [&'static str],
    /// The column with the time that says how old a row is.
    pub(super) time: &'static str,
}

impl Table {
    /// The columns of this table that are not among `columns`.
    pub(super) fn missing(self, columns: &[String]) -> Vec<&'static str> {
        self.columns.iter().copied().filter(|column| !columns.iter().any(|known| known == column)).collect()
    }
}

/// The column that only this implementation has.
pub(super) const RUN_ID: &str = "run_id";

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
        RUN_ID,
    ],
    time: "start_time",
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
        RUN_ID,
    ],
    time: "creation_time",
};

/// The statements and errors of one database.
pub(super) trait Dialect: sqlx::Database + sqlx::database::HasStatementCache {
    /// Creates [`EXECUTION_LOG`], with an index on its time, which Java's table does not have.
    const CREATE_EXECUTION_LOG: &'static [&'static str];
    /// Creates [`STATUS_TRACE_LOG`], with Java's index and one on its time.
    const CREATE_STATUS_TRACE_LOG: &'static [&'static str];
    /// Follows the values of executions: an end completes the row of its start, and no later event undoes an end.
    const COMPLETE_EXECUTION: &'static str;
    /// Follows the values of states: a row that exists stays. Empty where the database could not find such a row.
    const KEEP_STATUS: &'static str;
    /// Whether times are instants; then the wall-clock time of UTC is written.
    const KEEPS_INSTANTS: bool;

    /// How many rows a statement changed.
    fn rows_affected(result: &Self::QueryResult) -> u64;

    /// Removes at most `limit` rows that are as old as the time pushed after the first part, or older.
    fn delete(table: Table, limit: u64) -> (String, String);

    /// Whether the database says that a table does not exist.
    fn is_missing_table(error: &dyn DatabaseError) -> bool;

    /// Whether the database refuses the values, which no new attempt would change.
    fn refuses(error: &dyn DatabaseError) -> bool {
        // 22: data exceptions, such as a text that is too long.
        error.kind() != ErrorKind::Other || error.code().is_some_and(|code| code.starts_with("22"))
    }
}
