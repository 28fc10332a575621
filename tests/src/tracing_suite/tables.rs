//! The tables: made, completed, refused.

use std::time::{Duration, Instant};

use elasticjob::trace::rdb::{DataSource, RdbError, RdbOptions, RdbTracingStorage};
use elasticjob::trace::{TaskState, TracingStorage};

use super::events::{attempt, end, execution, start, state, status};
use crate::databases::{Database, Kind};

const EXECUTION: [&str; 15] = [
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
    "run_id",
    "scheduled_at",
    "instance_id",
    "attempt",
];
const STATUS: [&str; 14] = [
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
    "run_id",
    "scheduled_at",
    "instance_id",
    "attempt",
];

/// The columns that tables of Java do not have.
pub(super) const OWN: [&str; 4] = ["run_id", "scheduled_at", "instance_id", "attempt"];

pub(super) async fn open(database: &Database) -> RdbTracingStorage {
    open_with(database, RdbOptions::default()).await
}

/// Options of which some are set.
pub(super) fn options(set: impl FnOnce(&mut RdbOptions)) -> RdbOptions {
    let mut options = RdbOptions::default();
    set(&mut options);
    options
}

pub(super) async fn open_with(database: &Database, options: RdbOptions) -> RdbTracingStorage {
    let source = DataSource::new(database.url()).expect("the URL is right");
    // On a machine with other work a database may take longer than a program waits for it.
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        match RdbTracingStorage::connect(&source, options).await {
            Err(error) if Instant::now() > deadline => panic!("it cannot be traced to: {error}"),
            Err(_) => {}
            Ok(storage) => return storage,
        }
    }
}

/// The columns of a table in order.
async fn columns(database: &Database, table: &str) -> Vec<String> {
    let (from, name, condition) = match database.kind() {
        Kind::Sqlite => (format!("pragma_table_info('{table}')"), "name", "1 = 1".to_owned()),
        Kind::Postgresql => {
            let condition = format!("table_name = lower('{table}')");
            ("information_schema.columns".to_owned(), "column_name", condition)
        }
        Kind::Mariadb => {
            let condition = format!("table_name = '{table}' AND table_schema = DATABASE()");
            ("information_schema.columns".to_owned(), "column_name", condition)
        }
    };
    let place = if database.kind() == Kind::Sqlite { "cid" } else { "ordinal_position" };
    let mut rows = database.rows(&from, &[place, name], &condition).await;
    rows.sort_by_key(|row| row[0].as_deref().and_then(|place| place.parse::<u32>().ok()));
    rows.into_iter().filter_map(|mut row| row.pop().flatten()).collect()
}

fn with_key(database: &Database, columns: &[&str]) -> Vec<String> {
    let key = (database.kind() == Kind::Mariadb).then_some("auto_id");
    key.into_iter().chain(columns.iter().copied()).map(str::to_owned).collect()
}

pub(super) async fn tables_are_made_as_elasticjob_has_them_by_whoever_comes_first(database: Database) {
    let together = tokio::join!(open(&database), open(&database), open(&database), open(&database));
    for storage in [together.0, together.1, together.2, together.3] {
        storage
            .write(&[status(state("same", TaskState::Running)), execution(start("same"))])
            .await
            .expect("it is written");
    }
    assert_eq!(columns(&database, "JOB_EXECUTION_LOG").await, with_key(&database, &EXECUTION));
    assert_eq!(columns(&database, "JOB_STATUS_TRACE_LOG").await, with_key(&database, &STATUS));
    for index in [
        "TASK_ID_STATE_INDEX",
        "START_TIME_INDEX",
        "JOB_NAME_START_TIME_INDEX",
        "CREATION_TIME_INDEX",
        "JOB_NAME_CREATION_TIME_INDEX",
        "DECIDED_AT_INDEX",
        "JOB_NAME_DECIDED_AT_INDEX",
    ] {
        let (from, condition) = match database.kind() {
            Kind::Sqlite => ("sqlite_master", format!("name = '{index}'")),
            Kind::Postgresql => ("pg_indexes", format!("indexname = lower('{index}')")),
            Kind::Mariadb => (
                "information_schema.statistics",
                format!("index_name = '{index}' AND seq_in_index = 1 AND table_schema = DATABASE()"),
            ),
        };
        assert_eq!(database.rows(from, &["COUNT(*)"], &condition).await, [[Some("1".to_owned())]], "{index}");
    }
}

pub(super) async fn numbers_of_rows_do_not_run_out(database: Database) {
    open(&database).await;
    if database.kind() == Kind::Mariadb {
        let ours = "column_name = 'auto_id' AND table_schema = DATABASE()";
        let types = database.rows("information_schema.columns", &["data_type"], ours).await;
        assert_eq!(types, [[Some("bigint".to_owned())], [Some("bigint".to_owned())]]);
    }
}

pub(super) async fn a_table_of_java_gets_the_columns_it_lacks_and_keeps_its_rows(database: Database) {
    open(&database).await;
    for table in ["JOB_EXECUTION_LOG", "JOB_STATUS_TRACE_LOG"] {
        for column in OWN {
            database.execute(format!("ALTER TABLE {table} DROP COLUMN {column}")).await;
        }
    }
    database
        .execute(
            "INSERT INTO JOB_STATUS_TRACE_LOG (id, job_name, original_task_id, task_id, slave_id, execution_type, \
             sharding_item, state, message) VALUES ('java', 'j', '', 't', 's', 'READY', '[0]', 'TASK_RUNNING', '')",
        )
        .await;
    // Two that start at once add the same columns.
    let (storage, _) = tokio::join!(open(&database), open(&database));
    storage
        .write(&[status(state("rust", TaskState::Running)), execution(end("rust", None))])
        .await
        .expect("it is written");
    let rows = database
        .rows("JOB_STATUS_TRACE_LOG", &["id", "run_id", "scheduled_at", "instance_id", "attempt"], "1 = 1")
        .await;
    let event = state("rust", TaskState::Running);
    let at = event.scheduled_at.expect("it has one").timestamp_millis().to_string();
    let some = |text: &str| Some(text.to_owned());
    let ours = [some("run"), some(&at), some(event.instance.as_str()), some(&attempt().to_string())];
    assert_eq!(rows[0], [some("java"), None, None, None, None]);
    assert_eq!((&rows[1][0], &rows[1][1..]), (&some("rust"), &ours[..]));
    let rows = database.rows("JOB_EXECUTION_LOG", &OWN, "1 = 1").await;
    assert_eq!(rows, [ours]);
    assert_eq!(columns(&database, "JOB_EXECUTION_LOG").await, with_key(&database, &EXECUTION));
}

/// The tables are those of Java, and the program has an account that may read and write rows and nothing more.
pub(super) async fn an_account_that_may_not_alter_tables_writes_rows_without_the_columns(database: Database) {
    open(&database).await;
    for table in ["JOB_EXECUTION_LOG", "JOB_STATUS_TRACE_LOG"] {
        for column in OWN {
            database.execute(format!("ALTER TABLE {table} DROP COLUMN {column}")).await;
        }
    }
    let source = DataSource::new(&database.url_of_writer().await).expect("the URL is right");
    let storage = RdbTracingStorage::connect(&source, RdbOptions::default()).await.expect("it can be traced to");
    let events = [status(state("rust", TaskState::Running)), execution(start("rust")), execution(end("rust", None))];
    storage.write(&events).await.expect("it is written");
    for table in ["JOB_EXECUTION_LOG", "JOB_STATUS_TRACE_LOG"] {
        assert_eq!(database.rows(table, &["id"], "1 = 1").await, [[Some("rust".to_owned())]], "{table}");
        let columns = columns(&database, table).await;
        assert!(!OWN.iter().any(|own| columns.iter().any(|column| column == own)), "{columns:?}");
    }
}

/// Another error than a missing right is one: the tables are views here.
pub(super) async fn a_view_without_the_columns_is_refused(database: Database) {
    open(&database).await;
    database.execute("ALTER TABLE JOB_EXECUTION_LOG DROP COLUMN attempt").await;
    database.execute("ALTER TABLE JOB_EXECUTION_LOG RENAME TO OF_JAVA").await;
    database.execute("CREATE VIEW JOB_EXECUTION_LOG AS SELECT * FROM OF_JAVA").await;
    let source = DataSource::new(database.url()).expect("the URL is right");
    let error = RdbTracingStorage::connect(&source, RdbOptions::default()).await.expect_err("it is refused");
    assert!(matches!(error, RdbError::Table { .. }), "{error}");
}

pub(super) async fn a_table_of_an_older_release_gets_the_source_that_it_wants(database: Database) {
    open(&database).await;
    database
        .execute("ALTER TABLE JOB_STATUS_TRACE_LOG ADD COLUMN source VARCHAR(50) NOT NULL DEFAULT 'nobody said it'")
        .await;
    open(&database).await.write(&[status(state("rust", TaskState::Running))]).await.expect("it is written");
    let rows = database.rows("JOB_STATUS_TRACE_LOG", &["source", "run_id"], "1 = 1").await;
    assert_eq!(rows, [[Some("LITE_EXECUTOR".to_owned()), Some("run".to_owned())]]);
}

pub(super) async fn a_table_of_something_else_is_refused_with_what_it_lacks(database: Database) {
    database.execute("CREATE TABLE JOB_EXECUTION_LOG (id INT, job_name VARCHAR(9), state INT)").await;
    let source = DataSource::new(database.url()).expect("the URL is right");
    let error = RdbTracingStorage::connect(&source, RdbOptions::default()).await.expect_err("it is refused");
    let RdbError::Columns { missing, .. } = &error else { panic!("{error}") };
    assert_eq!(missing.len(), EXECUTION.len() - 2 - OWN.len());
    let text = error.to_string();
    for part in ["table JOB_EXECUTION_LOG", "no column task_id, hostname", "rename or drop it"] {
        assert!(text.contains(part), "{text}");
    }
    assert!(!text.contains("open sesame"), "{text}");
}

pub(super) async fn what_cannot_be_reached_is_told_without_the_password(database: Database) {
    let secret = "swordfish";
    let url = match database.kind() {
        Kind::Sqlite => format!("{}/no/such/folder", database.url()),
        _ => database.url().replace("open%20sesame", secret),
    };
    let source = DataSource::new(&url).expect("the URL is right");
    let error = RdbTracingStorage::connect(&source, RdbOptions::default()).await.expect_err("it is refused");
    assert!(matches!(error, RdbError::Connect { .. }), "{error}");
    let shown = format!("{error} {error:?} {source:?}");
    assert!(shown.contains("cannot be used for tracing") && !shown.contains(secret), "{shown}");
}
