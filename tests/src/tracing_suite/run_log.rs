//! The logs of runs.

use chrono::{TimeDelta, Utc};
use elasticjob::ident::JobName;
use elasticjob::trace::rdb::{DataSource, RdbOptions, RdbTracingStorage, Retention};
use elasticjob::trace::{
    AnyTraceReader, DecisionKind, JobLogEvent, LogFilter, LogLevel, LogRecord, ReadError, TraceReader, TracingStorage,
    WriteError,
};

use super::events::{decided, decision, end, execution, line, logged, start};
use super::history::reader_of;
use super::tables::{open_with, options};
use crate::databases::Database;

fn kept() -> RdbOptions {
    options(|options| options.run_log = Some(Retention::default()))
}

fn of_run(run: &str) -> LogFilter {
    LogFilter::of_run(JobName::new("settle").expect("a name"), run)
}

async fn read(reader: &AnyTraceReader, filter: &LogFilter) -> Vec<LogRecord> {
    reader.log(filter, 1_000).await.expect("it is read")
}

/// The numbers of the lines that a filter leaves.
async fn found(reader: &AnyTraceReader, change: impl FnOnce(&mut LogFilter)) -> Vec<u32> {
    let mut filter = of_run("a");
    change(&mut filter);
    read(reader, &filter).await.iter().map(|line| line.line).collect()
}

pub(super) async fn lines_are_kept_once_and_read_in_their_order_by_run_job_level_and_text(database: Database) {
    let storage = open_with(&database, kept()).await;
    let late =
        JobLogEvent { level: LogLevel::Error, left_out: 37, message: "50% of no disk".to_owned(), ..line("a", 10) };
    let gap = JobLogEvent { target: String::new(), message: String::new(), left_out: 2, ..line("a", 11) };
    let batch = [line("a", 2), late, line("b", 1), line("a", 1), gap].map(logged);
    for _ in 0..2 {
        // The same event may come again after an answer that was lost.
        storage.write(&batch).await.expect("it is written");
    }
    let reader = reader_of(database.url()).await;
    let lines = read(&reader, &of_run("a")).await;
    assert_eq!(lines.iter().map(|line| line.line).collect::<Vec<_>>(), [1, 2, 10, 11]);
    let (first, event) = (&lines[0], line("a", 1));
    assert_eq!((first.at, first.level.as_str(), first.target.as_str()), (event.at, "INFO", "billing::settle"));
    assert_eq!(first.message, event.message.replace('\0', "\u{fffd}"));
    assert_eq!(lines.iter().map(|line| line.left_out).collect::<Vec<_>>(), [0, 0, 37, 2]);
    assert!(lines[3].is_gap() && !lines[2].is_gap());
    assert_eq!(found(&reader, |filter| filter.after = 2).await, [10, 11]);
    assert_eq!(found(&reader, |filter| filter.level = Some(LogLevel::Warn)).await, [10]);
    assert_eq!(found(&reader, |filter| filter.contains = Some("50% of".to_owned())).await, [10]);
    assert_eq!(found(&reader, |filter| filter.contains = Some("5%k".to_owned())).await, [0; 0], "it is no pattern");
    let other = |name: &str| JobName::new(name).expect("a name");
    assert_eq!(found(&reader, |filter| filter.job = other("Settle")).await, [0; 0], "not of another job");
    assert_eq!(reader.log(&of_run("a"), 2).await.expect("it is read").len(), 2);
}

pub(super) async fn there_is_no_table_of_logs_unless_they_are_kept(database: Database) {
    let storage = open_with(&database, RdbOptions::default()).await;
    assert!(storage.keeps_decisions() && !storage.keeps_run_logs());
    let reader = reader_of(database.url()).await;
    let error = reader.log(&of_run("a"), 1).await.expect_err("no table");
    assert!(matches!(error, ReadError::NoTable { table: "JOB_RUN_LOG", .. }), "{error}");
    // A tracing that keeps none posts none; they do no harm.
    storage.write(&[logged(line("a", 1)), execution(start("a"))]).await.expect("the rest is written");
    assert_eq!(database.count("JOB_EXECUTION_LOG").await, 1);
}

pub(super) async fn an_account_that_may_not_create_the_table_of_logs_traces_all_but_them(database: Database) {
    open_with(&database, RdbOptions::default()).await;
    let url = database.url_of_writer().await;
    let source = DataSource::new(&url).expect("the URL is right");
    let storage = RdbTracingStorage::connect(&source, kept()).await.expect("it can be traced to");
    assert!(!storage.keeps_run_logs());
    let events = [logged(line("a", 1)), execution(start("a")), execution(end("a", None))];
    storage.write(&events).await.expect("it is written");
    assert_eq!(database.count("JOB_EXECUTION_LOG").await, 1);
}

pub(super) async fn a_table_of_logs_that_is_dropped_stops_nothing_else(database: Database) {
    let storage = open_with(&database, kept()).await;
    assert!(storage.keeps_run_logs());
    database.execute("DROP TABLE JOB_RUN_LOG").await;
    let events = [
        logged(line("a", 1)),
        decided(decision("d", DecisionKind::Skipped)),
        execution(start("a")),
        execution(end("a", None)),
    ];
    storage.write(&events).await.expect("the rest is written");
    assert!(storage.keeps_decisions() && !storage.keeps_run_logs());
    assert_eq!((database.count("JOB_EXECUTION_LOG").await, database.count("JOB_DECISION_LOG").await), (1, 1));

    let again = open_with(&database, kept()).await;
    database.execute("DROP TABLE JOB_RUN_LOG").await;
    let error = again.write(&[logged(line("a", 1))]).await.expect_err("it is not written");
    assert!(matches!(error, WriteError::Refused(_)), "{error}");
}

pub(super) async fn lines_that_are_too_old_or_too_many_are_removed_by_rules_of_their_own(database: Database) {
    let old = JobLogEvent { at: Utc::now() - TimeDelta::days(10), ..line("old", 1) };
    let new =
        (1..=5).map(|number| JobLogEvent { at: Utc::now() + TimeDelta::seconds(number.into()), ..line("new", number) });
    let events: Vec<_> = new.chain([old]).map(logged).collect();
    let week = options(|options| options.run_log.get_or_insert_default().days = Some(7));
    let storage = open_with(&database, week).await;
    storage.write(&events).await.expect("it is written");
    storage.clean().await.expect("it is removed");
    assert_eq!(database.count("JOB_RUN_LOG").await, 5);
    let three = options(|options| options.run_log.get_or_insert_default().rows = Some(3));
    open_with(&database, three).await.clean().await.expect("it is removed");
    let reader = reader_of(database.url()).await;
    let left = read(&reader, &of_run("new")).await;
    assert_eq!(left.iter().map(|line| line.line).collect::<Vec<_>>(), [3, 4, 5]);
}
