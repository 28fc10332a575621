//! MySQL and MariaDB.

use chrono::{DateTime, Utc};
use sqlx::error::{DatabaseError, ErrorKind};
use sqlx::mysql::MySqlDatabaseError;
use sqlx::{MySql, QueryBuilder};

use super::by_row::{self, by_row};
use super::cells::Cells;
use super::dialect::{Dialect, Table, create_decision_log, create_run_log};

/// "Incorrect string value": a character that the character set of a table does not have.
const INCORRECT_STRING: u16 = 1366;

/// "... command denied to user ... for table", "... for database", and "you need the ... privilege".
const NOT_PERMITTED: [u16; 3] = [1142, 1044, 1227];

fn number(error: &dyn DatabaseError) -> Option<u16> {
    error.try_downcast_ref::<MySqlDatabaseError>().map(MySqlDatabaseError::number)
}

impl Dialect for MySql {
    type Time = DateTime<Utc>;

    // Completing a row also uses up a number of `auto_id`, which is INT in tables that Java created.
    const CREATE_EXECUTION_LOG: &'static [&'static str] = &["CREATE TABLE IF NOT EXISTS JOB_EXECUTION_LOG (
        auto_id BIGINT NOT NULL AUTO_INCREMENT,
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
        PRIMARY KEY (auto_id),
        UNIQUE KEY `id` (`id`),
        INDEX START_TIME_INDEX (start_time, id),
        INDEX JOB_NAME_START_TIME_INDEX (job_name, start_time, id)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4"];

    const CREATE_STATUS_TRACE_LOG: &'static [&'static str] = &["CREATE TABLE IF NOT EXISTS JOB_STATUS_TRACE_LOG (
        auto_id BIGINT NOT NULL AUTO_INCREMENT,
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
        PRIMARY KEY (auto_id),
        INDEX TASK_ID_STATE_INDEX (task_id(128), state),
        INDEX CREATION_TIME_INDEX (creation_time, id),
        INDEX JOB_NAME_CREATION_TIME_INDEX (job_name, creation_time, id)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4"];

    const CREATE_DECISION_LOG: &'static [&'static str] = &[create_decision_log!(
        "MEDIUMTEXT",
        ",
        INDEX DECIDED_AT_INDEX (decided_at, id),
        INDEX JOB_NAME_DECIDED_AT_INDEX (job_name, decided_at, id)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4"
    )];

    const KEEP_DECISION: &'static str = " ON DUPLICATE KEY UPDATE id = VALUES(id)";

    const CREATE_RUN_LOG: &'static [&'static str] = &[create_run_log!(
        "MEDIUMTEXT",
        ",
        INDEX LOGGED_AT_INDEX (logged_at)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4"
    )];

    const KEEP_LINE: &'static str = " ON DUPLICATE KEY UPDATE line_number = VALUES(line_number)";

    // MySQL evaluates from left to right: columns that other assignments read come last.
    const COMPLETE_EXECUTION: &'static str = " ON DUPLICATE KEY UPDATE \
        is_success = IF(VALUES(complete_time) IS NULL, is_success, VALUES(is_success)), \
        failure_cause = IF(VALUES(complete_time) IS NULL, failure_cause, VALUES(failure_cause)), \
        complete_time = COALESCE(VALUES(complete_time), complete_time)";

    // The table of ElasticJob has no key on `id`.
    const KEEP_STATUS: &'static str = "";

    // The character set is that of the database where Java created the table.
    const EXACT_JOB_NAME: Option<&'static str> = Some("CONVERT(job_name USING utf8mb4) COLLATE utf8mb4_bin");

    // It keeps whole seconds.
    const SECOND_OF_START: &'static str = "start_time";

    const KEEPS_INSTANTS: bool = true;

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
        (format!("DELETE FROM {name} WHERE {time} <= "), format!(" LIMIT {limit}"))
    }

    fn is_missing_table(error: &dyn DatabaseError) -> bool {
        error.code().is_some_and(|code| code == "42S02")
    }

    fn is_not_permitted(error: &dyn DatabaseError) -> bool {
        number(error).is_some_and(|number| NOT_PERMITTED.contains(&number))
    }

    fn refuses(error: &dyn DatabaseError) -> bool {
        let is_data = error.code().is_some_and(|code| code.starts_with("22"));
        error.kind() != ErrorKind::Other || is_data || number(error) == Some(INCORRECT_STRING)
    }
}
