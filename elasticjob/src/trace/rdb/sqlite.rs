//! SQLite.

use chrono::NaiveDateTime;
use sqlx::error::{DatabaseError, ErrorKind};
use sqlx::{QueryBuilder, Sqlite};

use super::by_row::{self, by_row};
use super::cells::Cells;
use super::dialect::{Dialect, Table};

impl Dialect for Sqlite {
    type Time = NaiveDateTime;

    const CREATE_EXECUTION_LOG: &'static [&'static str] = &[
        "CREATE TABLE IF NOT EXISTS JOB_EXECUTION_LOG (
        id VARCHAR(40) NOT NULL,
        job_name VARCHAR(100) NOT NULL,
        task_id VARCHAR(255) NOT NULL,
        hostname VARCHAR(255) NOT NULL,
        ip VARCHAR(50) NOT NULL,
        sharding_item INT NOT NULL,
        execution_source VARCHAR(20) NOT NULL,
        failure_cause VARCHAR(4000) NULL,
        is_success INT NOT NULL,
        start_time TIMESTAMP NULL,
        complete_time TIMESTAMP NULL,
        run_id VARCHAR(40) NULL,
        scheduled_at BIGINT NULL,
        instance_id VARCHAR(255) NULL,
        attempt VARCHAR(50) NULL,
        PRIMARY KEY (id))",
        "CREATE INDEX IF NOT EXISTS START_TIME_INDEX ON JOB_EXECUTION_LOG (start_time, id)",
        "CREATE INDEX IF NOT EXISTS JOB_NAME_START_TIME_INDEX ON JOB_EXECUTION_LOG (job_name, start_time, id)",
    ];

    const CREATE_STATUS_TRACE_LOG: &'static [&'static str] = &[
        "CREATE TABLE IF NOT EXISTS JOB_STATUS_TRACE_LOG (
        id VARCHAR(40) NOT NULL,
        job_name VARCHAR(100) NOT NULL,
        original_task_id VARCHAR(255) NOT NULL,
        task_id VARCHAR(255) NOT NULL,
        slave_id VARCHAR(50) NOT NULL,
        execution_type VARCHAR(20) NOT NULL,
        sharding_item VARCHAR(100) NOT NULL,
        state VARCHAR(20) NOT NULL,
        message VARCHAR(4000) NULL,
        creation_time TIMESTAMP NULL,
        run_id VARCHAR(40) NULL,
        scheduled_at BIGINT NULL,
        instance_id VARCHAR(255) NULL,
        attempt VARCHAR(50) NULL,
        PRIMARY KEY (id))",
        "CREATE INDEX IF NOT EXISTS TASK_ID_STATE_INDEX ON JOB_STATUS_TRACE_LOG (task_id, state)",
        "CREATE INDEX IF NOT EXISTS CREATION_TIME_INDEX ON JOB_STATUS_TRACE_LOG (creation_time, id)",
        "CREATE INDEX IF NOT EXISTS JOB_NAME_CREATION_TIME_INDEX ON JOB_STATUS_TRACE_LOG (job_name, creation_time, id)",
    ];

    const COMPLETE_EXECUTION: &'static str = " ON CONFLICT (id) DO UPDATE SET is_success = excluded.is_success, \
        failure_cause = excluded.failure_cause, complete_time = excluded.complete_time \
        WHERE excluded.complete_time IS NOT NULL";

    const KEEP_STATUS: &'static str = " ON CONFLICT (id) DO NOTHING";

    const EXACT_JOB_NAME: Option<&'static str> = None;

    const SECOND_OF_START: &'static str = "SUBSTR(start_time, 1, 19)";

    const KEEPS_INSTANTS: bool = false;
    const IS_REMOTE: bool = false;

    const KEEPS_INSERTS: bool = true;

    fn next_rows(rows: usize) -> usize {
        by_row::next_rows(rows)
    }

    fn insert<R>(head: String, rows: Vec<R>, put: impl Fn(R, &mut dyn Cells)) -> QueryBuilder<Self> {
        by_row(head, rows, put)
    }

    fn rows_affected(result: &Self::QueryResult) -> u64 {
        result.rows_affected()
    }

    fn delete(table: Table, limit: u64) -> (String, String) {
        let Table { name, time, .. } = table;
        (
            format!("DELETE FROM {name} WHERE rowid IN (SELECT rowid FROM {name} WHERE {time} <= "),
            format!(" LIMIT {limit})"),
        )
    }

    fn is_missing_table(error: &dyn DatabaseError) -> bool {
        error.message().contains("no such table")
    }

    /// It knows no users: where rows can be written, columns can be added.
    fn is_not_permitted(_: &dyn DatabaseError) -> bool {
        false
    }

    fn refuses(error: &dyn DatabaseError) -> bool {
        error.kind() != ErrorKind::Other
    }
}
