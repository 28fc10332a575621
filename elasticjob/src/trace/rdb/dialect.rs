//! What differs between the databases.

use sqlx::error::{DatabaseError, ErrorKind};

/// One of the two tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) name: &'static str,
    /// Those of ElasticJob in order, then [`RUN_ID`].
    pub(super) columns: &'static [&'static str],
    /// The one that says how old a row is.
    pub(super) time: &'static str,
}

impl Table {
    /// Those of its columns that are not among these.
    pub(super) fn missing(self, columns: &[String]) -> Vec<&'static str> {
        self.columns.iter().copied().filter(|column| !columns.iter().any(|known| known == column)).collect()
    }
}

/// Our own column.
pub(super) const RUN_ID: &str = "run_id";

/// A column that states have in tables that ElasticJob made before 3.0.5, where it must have a value.
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

/// A database as the tables need it.
pub(super) trait Dialect: sqlx::Database + sqlx::database::HasStatementCache {
    /// Creates [`EXECUTION_LOG`], with an index on its time, which that of Java has not.
    const CREATE_EXECUTION_LOG: &'static [&'static str];
    /// Creates [`STATUS_TRACE_LOG`], with the index of Java and one on its time.
    const CREATE_STATUS_TRACE_LOG: &'static [&'static str];
    /// After the values of executions: an end completes the row of its start, and nothing undoes an end.
    const COMPLETE_EXECUTION: &'static str;
    /// After the values of states: what is there already stays. Empty where nothing would find that.
    const KEEP_STATUS: &'static str;
    /// Whether times are instants, so that the wall-clock time of UTC is what is written.
    const KEEPS_INSTANTS: bool;

    /// How many rows a statement changed.
    fn rows_affected(result: &Self::QueryResult) -> u64;

    /// Removes at most `limit` rows that are as old as what is pushed after the first part, or older.
    fn delete(table: Table, limit: u64) -> (String, String);

    /// Whether the database says that a table does not exist.
    fn is_missing_table(error: &dyn DatabaseError) -> bool;

    /// Whether the database refuses values, which it will always do.
    fn refuses(error: &dyn DatabaseError) -> bool {
        // 22: data exceptions, such as a text that is too long.
        error.kind() != ErrorKind::Other || error.code().is_some_and(|code| code.starts_with("22"))
    }
}
