//! Cases of the values in rows.

use chrono::TimeDelta;
use elasticjob::ident::TaskId;
use elasticjob::trace::{JobStatusTraceEvent, TaskState, TracingStorage};

use super::events::{end, execution, moment, start, state, status};
use super::tables::{open, open_with, options};
use crate::databases::{Database, Kind};

fn texts<const N: usize>(row: [&str; N]) -> Vec<Option<String>> {
    row.map(|text| (text != "-").then(|| text.to_owned())).to_vec()
}

/// A truth value as the database shows it.
fn truth(database: &Database, value: bool) -> &'static str {
    match (database.kind(), value) {
        (Kind::Postgresql, true) => "true",
        (Kind::Postgresql, false) => "false",
        (_, true) => "1",
        (_, false) => "0",
    }
}

pub(super) async fn start_and_end_come_to_one_row_in_any_order_and_however_often(database: Database) {
    let storage = open(&database).await;
    let batches = [
        vec![start("a-apart")],
        vec![end("a-apart", None), end("b-overtaken", None), start("c-together"), end("c-together", Some("no disk"))],
        vec![start("b-overtaken"), start("d-running"), end("e-turned", None), start("e-turned")],
    ];
    for _ in 0..2 {
        for batch in &batches {
            let events: Vec<_> = batch.iter().cloned().map(execution).collect();
            storage.write(&events).await.expect("it is written");
        }
    }
    let (yes, no) = (truth(&database, true), truth(&database, false));
    let columns = ["id", "is_success", "failure_cause", "CASE WHEN complete_time IS NULL THEN 'runs' ELSE 'ended' END"];
    assert_eq!(
        database.rows("JOB_EXECUTION_LOG", &columns, "1 = 1").await,
        [
            texts(["a-apart", yes, "-", "ended"]),
            texts(["b-overtaken", yes, "-", "ended"]),
            texts(["c-together", no, "no disk", "ended"]),
            texts(["d-running", no, "-", "runs"]),
            texts(["e-turned", yes, "-", "ended"]),
        ]
    );
    let columns = ["job_name", "task_id", "hostname", "ip", "sharding_item", "execution_source", "run_id"];
    assert_eq!(
        database.rows("JOB_EXECUTION_LOG", &columns, "id = 'd-running'").await,
        [texts(["settle", "settle@-@3@-@READY@-@192.0.2.2@-@7", "host", "192.0.2.2", "3", "NORMAL_TRIGGER", "run"])]
    );
}

pub(super) async fn states_are_written_once_however_often(database: Database) {
    let storage = open(&database).await;
    let told = [status(state("a", TaskState::Staging)), status(state("b", TaskState::Running))];
    storage.write(&told).await.expect("it is written");
    // Refused as a whole; then the same events come again, as the writer cannot know whether they were written.
    database.execute("ALTER TABLE JOB_EXECUTION_LOG RENAME TO AWAY").await;
    let more = [told[1].clone(), status(state("c", TaskState::Finished)), execution(start("x"))];
    storage.write(&more).await.expect_err("a table is missing");
    database.execute("ALTER TABLE AWAY RENAME TO JOB_EXECUTION_LOG").await;
    storage.write(&more).await.expect("it is written");
    let columns =
        ["id", "original_task_id", "slave_id", "execution_type", "sharding_item", "state", "message", "run_id"];
    let row = |id, state| texts([id, "", "192.0.2.2", "READY", "[3, 4]", state, "", "run"]);
    assert_eq!(
        database.rows("JOB_STATUS_TRACE_LOG", &columns, "1 = 1").await,
        [row("a", "TASK_STAGING"), row("b", "TASK_RUNNING"), row("c", "TASK_FINISHED")]
    );
}

pub(super) async fn texts_that_are_too_long_or_odd_fit_their_columns(database: Database) {
    let storage = open(&database).await;
    let odd = format!("zero \0, {}", "😀é".repeat(3_000));
    let many = JobStatusTraceEvent {
        message: odd.clone(),
        sharding_items: (0..200).collect(),
        task_id: TaskId::new(&start("").job_name, 0..200, &start("").instance),
        ..state("a", TaskState::Error)
    };
    storage.write(&[status(many), execution(end("a", Some(&odd)))]).await.expect("it is written");
    let length = if database.kind() == Kind::Sqlite { "LENGTH" } else { "CHAR_LENGTH" };
    let columns = ["sharding_item", "task_id", "message"].map(|column| format!("{length}({column})"));
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    assert_eq!(database.rows("JOB_STATUS_TRACE_LOG", &columns, "1 = 1").await, [texts(["100", "255", "4000"])]);
    let cause = &database.rows("JOB_EXECUTION_LOG", &["failure_cause"], "1 = 1").await[0][0];
    let expected: String = odd.replace('\0', "\u{fffd}").chars().take(4_000).collect();
    assert_eq!(cause.as_deref(), Some(expected.as_str()));
}

pub(super) async fn times_are_those_of_the_configured_zone(database: Database) {
    let zone = Some("Asia/Shanghai".parse().expect("a zone"));
    let storage = open_with(&database, options(|options| options.time_zone = zone)).await;
    storage.write(&[execution(end("a", None)), status(state("a", TaskState::Running))]).await.expect("it is written");
    // MySQL keeps the instant, which this session sees in UTC, without what is less than a second.
    let hours = if database.kind() == Kind::Mariadb { 0 } else { 8 };
    let shown = |seconds: i64| {
        let at = (moment() + TimeDelta::hours(hours) + TimeDelta::seconds(seconds)).naive_utc();
        let format = if database.kind() == Kind::Mariadb { "%F %T" } else { "%F %T%.3f" };
        Some(at.format(format).to_string())
    };
    let rows = database.rows("JOB_EXECUTION_LOG", &["start_time", "complete_time"], "1 = 1").await;
    assert_eq!(rows, [[shown(0), shown(2)]]);
    assert_eq!(database.rows("JOB_STATUS_TRACE_LOG", &["creation_time"], "1 = 1").await, [[shown(0)]]);
}
