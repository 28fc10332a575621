//! Reading what was traced.

use chrono::TimeDelta;
use elasticjob::fire::ExecutionSource;
use elasticjob::ident::{InstanceId, JobName};
use elasticjob::trace::rdb::{DataSource, RdbError, RdbTraceReader};
use elasticjob::trace::{
    AnyTraceReader, DecisionFilter, DecisionRecord, ExecutionFilter, ExecutionOutcome, ExecutionRecord, ExecutionType,
    JobEvent, JobExecutionEvent, JobStatusTraceEvent, Page, PageRequest, ReadError, StateFilter, StateRecord,
    TaskState, TraceReader, TracingStorage,
};

use super::events::{attempt, end, execution, moment, start, state, status};
use super::tables::{OWN, open, open_with, options};
use crate::databases::{Database, Kind};

pub(super) async fn reader_of(url: &str) -> AnyTraceReader {
    let source = DataSource::new(url).expect("the URL is right");
    AnyTraceReader::new(RdbTraceReader::connect(&source, None).await.expect("it can be read"))
}

pub(super) async fn write(database: &Database, events: &[JobEvent]) {
    open(database).await.write(events).await.expect("it is written");
}

/// The ids of the first page.
async fn found(reader: &AnyTraceReader, change: impl FnOnce(&mut ExecutionFilter)) -> String {
    let mut filter = ExecutionFilter::default();
    change(&mut filter);
    let page = reader.executions(&filter, &PageRequest::default()).await.expect("it is read");
    assert_eq!(page.next, None);
    page.records.iter().map(|record| record.id.as_str()).collect()
}

pub(super) async fn a_run_is_read_as_it_was_written(database: Database) {
    let storage = open(&database).await;
    let batch = [execution(start("a")), execution(end("b", None)), execution(end("c", Some("no disk")))];
    storage.write(&batch).await.expect("it is written");
    storage.write(&[status(state("s", TaskState::Error))]).await.expect("it is written");
    let reader = reader_of(database.url()).await;
    let page = reader.executions(&ExecutionFilter::default(), &PageRequest::default()).await.expect("it is read");
    let [failed, well, running] = &page.records[..] else { panic!("{page:?}") };
    // MySQL keeps whole seconds.
    let kept = |time: chrono::DateTime<chrono::Utc>| match database.kind() {
        Kind::Mariadb => time.timestamp_millis() / 1_000 * 1_000,
        _ => time.timestamp_millis(),
    };
    let event = start("a");
    assert_eq!(
        (running.id.as_str(), well.id.as_str(), failed.id.as_str(), page.next.as_ref()),
        ("a", "b", "c", None),
        "of the same time, the largest id first"
    );
    for record in &page.records {
        assert_eq!((record.job_name.as_str(), record.task_id.as_str()), ("settle", event.task_id.as_str()));
        assert_eq!((record.hostname.as_str(), record.ip.as_str(), record.sharding_item), ("host", "192.0.2.2", 3));
        assert_eq!((record.source.as_str(), record.run_id.as_deref()), ("NORMAL_TRIGGER", Some("run")));
        assert_eq!(record.start_time.timestamp_millis(), kept(moment()));
        assert_eq!(record.scheduled_at, Some(moment()), "in milliseconds on every database");
        assert_eq!(record.instance.as_deref(), Some(event.instance.as_str()));
        assert_eq!(record.attempt, Some(attempt().to_string()));
    }
    assert_eq!((running.outcome, running.complete_time), (ExecutionOutcome::NoEnd, None));
    let ended = Some(kept(moment() + TimeDelta::seconds(2)));
    assert_eq!(
        (well.outcome, well.complete_time.map(|at| at.timestamp_millis())),
        (ExecutionOutcome::Succeeded, ended)
    );
    assert_eq!((failed.outcome, failed.failure_cause.as_deref()), (ExecutionOutcome::Failed, Some("no disk")));

    let page = reader.states(&StateFilter::default(), &PageRequest::default()).await.expect("it is read");
    let [read] = &page.records[..] else { panic!("{page:?}") };
    assert_eq!((read.id.as_str(), read.state.as_str(), read.execution_type.as_str()), ("s", "TASK_ERROR", "READY"));
    assert_eq!((read.sharding_items.as_str(), read.message.as_str(), read.ip.as_str()), ("[3, 4]", "", "192.0.2.2"));
    assert_eq!((read.creation_time.timestamp_millis(), read.scheduled_at), (kept(moment()), Some(moment())));
    assert_eq!((read.instance.as_deref(), read.run_id.as_deref()), (Some(event.instance.as_str()), Some("run")));
}

pub(super) async fn each_filter_finds_its_runs(database: Database) {
    let other = |name: &str| JobName::new(name).expect("a name");
    let minute = |minutes: i64| moment() + TimeDelta::minutes(minutes);
    write(
        &database,
        &[
            execution(end("a", None)),
            execution(JobExecutionEvent { job_name: other("Settle"), ..end("b", None) }),
            execution(JobExecutionEvent { sharding_item: 7, ..end("c", Some("no disk")) }),
            execution(JobExecutionEvent { start_time: minute(10), ..start("d") }),
            execution(JobExecutionEvent { source: ExecutionSource::Failover, ..end("e", None) }),
            execution(JobExecutionEvent { instance: InstanceId::of_process("192.0.2.2", 77), ..end("f", None) }),
            execution(JobExecutionEvent {
                run_id: "other".into(),
                instance: InstanceId::of_process("192.0.2.9", 7),
                ..end("g", None)
            }),
        ],
    )
    .await;
    let reader = reader_of(database.url()).await;
    assert_eq!(found(&reader, |_| {}).await, "dgfecba");
    assert_eq!(found(&reader, |filter| filter.job = Some(other("Settle"))).await, "b", "capitals count");
    assert_eq!(found(&reader, |filter| filter.item = Some(7)).await, "c");
    assert_eq!(
        found(&reader, |filter| filter.outcome = Some(ExecutionOutcome::Failed)).await,
        "c",
        "one that runs has not failed"
    );
    assert_eq!(found(&reader, |filter| filter.outcome = Some(ExecutionOutcome::NoEnd)).await, "d");
    assert_eq!(found(&reader, |filter| filter.outcome = Some(ExecutionOutcome::Succeeded)).await, "gfeba");
    assert_eq!(found(&reader, |filter| filter.ip = Some("192.0.2.9".to_owned())).await, "g");
    let patterns = |patterns: &[&str]| patterns.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(found(&reader, |filter| filter.jobs = patterns(&["S%", "s_ttle"])).await, "", "these are no wildcards");
    assert!(found(&reader, |filter| filter.jobs = patterns(&["x", "Set*e"])).await.contains('b'));
    assert_eq!(found(&reader, |filter| filter.jobs = patterns(&["x", "*"])).await, "dgfecba");
    assert_eq!(found(&reader, |filter| filter.from = Some(minute(10))).await, "d");
    assert_eq!(found(&reader, |filter| filter.until = Some(minute(9))).await, "gfecba");
    let range = |filter: &mut ExecutionFilter| (filter.from, filter.until) = (Some(minute(-1)), Some(minute(1)));
    assert_eq!(found(&reader, range).await, "gfecba");
    assert_eq!(found(&reader, |filter| filter.source = Some(ExecutionSource::Failover)).await, "e");
    assert_eq!(found(&reader, |filter| filter.run_id = Some("other".to_owned())).await, "g");
    assert_eq!(found(&reader, |filter| filter.task_id = Some("of no task".to_owned())).await, "");
    let of_all = |filter: &mut ExecutionFilter| filter.task_id = Some(start("a").task_id.to_string());
    assert_eq!(found(&reader, of_all).await, "dgfecba");
    let instance = InstanceId::of_process("192.0.2.2", 77);
    assert_eq!(found(&reader, |filter| filter.instance = Some(instance.clone())).await, "f");
    let both = |filter: &mut ExecutionFilter| (filter.item, filter.outcome) = (Some(3), Some(ExecutionOutcome::Failed));
    assert_eq!(found(&reader, both).await, "");
    let one_by_one = ByRecords(reader_of(database.url()).await);
    let count = async |most, change: fn(&mut ExecutionFilter)| {
        let mut filter = ExecutionFilter::default();
        change(&mut filter);
        let by_reader = reader.count(&filter, most).await.expect("it is counted");
        assert_eq!(one_by_one.count(&filter, most).await, Ok(by_reader), "most {most}");
        (by_reader.runs, by_reader.failed, by_reader.no_end)
    };
    assert_eq!(count(10, |_| {}).await, (7, 1, 1));
    assert_eq!(count(7, |_| {}).await, (7, 1, 1));
    assert_eq!(count(4, |_| {}).await, (4, 0, 1), "the last ones");
    assert_eq!(count(10, |filter| filter.item = Some(7)).await, (1, 1, 0));
    assert_eq!(count(10, |filter| filter.item = Some(8)).await, (0, 0, 0));

    let failover = JobStatusTraceEvent { execution_type: ExecutionType::Failover, ..state("y", TaskState::Running) };
    write(&database, &[status(state("x", TaskState::Error)), status(failover)]).await;
    let states = async |change: fn(&mut StateFilter)| {
        let mut filter = StateFilter::of_job(other("settle"));
        change(&mut filter);
        let page = reader.states(&filter, &PageRequest::default()).await.expect("it is read");
        page.records.iter().map(|record| record.id.as_str()).collect::<String>()
    };
    assert_eq!(states(|_| {}).await, "yx");
    assert_eq!(states(|filter| filter.state = Some(TaskState::Error)).await, "x");
    assert_eq!(states(|filter| filter.ip = Some("192.0.2.9".to_owned())).await, "");
    assert_eq!(states(|filter| filter.task_id = Some("of no task".to_owned())).await, "");
    assert_eq!(states(|filter| filter.task_id = Some(state("x", TaskState::Error).task_id.to_string())).await, "yx");
    assert_eq!(states(|filter| filter.jobs = vec!["other*".to_owned()]).await, "");
    assert_eq!(states(|filter| filter.execution_type = Some(ExecutionType::Failover)).await, "y");
    assert_eq!(states(|filter| filter.until = Some(moment() - TimeDelta::minutes(1))).await, "");
    assert_eq!(states(|filter| filter.state_name = Some("TASK_ERROR".to_owned())).await, "x");
    // A state that only another program writes.
    database.execute("UPDATE JOB_STATUS_TRACE_LOG SET state = 'TASK_LOST' WHERE id = 'y'".to_owned()).await;
    assert_eq!(states(|filter| filter.state_name = Some("TASK_LOST".to_owned())).await, "y");
    let contradiction = |filter: &mut StateFilter| {
        (filter.state, filter.state_name) = (Some(TaskState::Error), Some("TASK_LOST".to_owned()));
    };
    assert_eq!(states(contradiction).await, "");
}

/// A reader that cannot count: the default of the interface reads the records.
pub(super) struct ByRecords(pub(super) AnyTraceReader);

impl TraceReader for ByRecords {
    async fn executions(
        &self,
        filter: &ExecutionFilter,
        page: &PageRequest,
    ) -> Result<Page<ExecutionRecord>, ReadError> {
        self.0.executions(filter, page).await
    }

    async fn states(&self, filter: &StateFilter, page: &PageRequest) -> Result<Page<StateRecord>, ReadError> {
        self.0.states(filter, page).await
    }

    async fn decisions(&self, filter: &DecisionFilter, page: &PageRequest) -> Result<Page<DecisionRecord>, ReadError> {
        self.0.decisions(filter, page).await
    }
}

/// Reads page after page, and calls `between` after each.
async fn all_pages(reader: &AnyTraceReader, limit: u32, mut between: impl AsyncFnMut(u32)) -> Vec<String> {
    let (mut ids, mut request) = (Vec::new(), PageRequest::default().limit(limit));
    for number in 1.. {
        let page: Page<_> = reader.executions(&ExecutionFilter::default(), &request).await.expect("it is read");
        assert!(page.records.len() <= limit as usize);
        ids.extend(page.records.into_iter().map(|record| record.id));
        let Some(next) = page.next else { return ids };
        between(number).await;
        // As it goes through an address of a page.
        let next: elasticjob::trace::Cursor = next.to_string().parse().expect("it is a cursor");
        request = request.after(next);
    }
    unreachable!("the pages end")
}

pub(super) async fn pages_have_every_run_once_while_others_are_written_and_removed(database: Database) {
    // Many of the same time, as items of a fire are.
    let event = |number: i64| JobExecutionEvent {
        start_time: moment() + TimeDelta::milliseconds(300 * (number / 4)),
        ..end(&format!("{number:03}"), None)
    };
    let events: Vec<JobEvent> = (0..95).map(|number| execution(event(number))).collect();
    write(&database, &events).await;
    let reader = reader_of(database.url()).await;
    let expected: Vec<String> = (0..95).rev().map(|number| format!("{number:03}")).collect();
    assert_eq!(all_pages(&reader, 10, async |_| {}).await, expected);
    assert_eq!(all_pages(&reader, 95, async |_| {}).await, expected);
    assert_eq!(all_pages(&reader, 1_000, async |_| panic!("one page has them all")).await, expected);
    let disturbed = all_pages(&reader, 10, async |number| {
        // A newer one, and the one that the cursor was made of goes.
        let newer =
            JobExecutionEvent { start_time: moment() + TimeDelta::hours(1), ..end(&format!("new{number}"), None) };
        write(&database, &[execution(newer)]).await;
        database.execute(format!("DELETE FROM JOB_EXECUTION_LOG WHERE id = '{:03}'", 95 - 10 * number)).await;
    })
    .await;
    assert_eq!(disturbed, expected);
}

pub(super) async fn tables_of_java_are_read_and_say_what_they_do_not_have(database: Database) {
    open(&database).await;
    for table in ["JOB_EXECUTION_LOG", "JOB_STATUS_TRACE_LOG"] {
        for column in OWN {
            database.execute(format!("ALTER TABLE {table} DROP COLUMN {column}")).await;
        }
    }
    let one = if database.kind() == Kind::Postgresql { "TRUE" } else { "1" };
    for (id, process) in [("a", "7"), ("b", "77")] {
        database
            .execute(format!(
                "INSERT INTO JOB_EXECUTION_LOG (id, job_name, task_id, hostname, ip, sharding_item, execution_source, is_success, \
                 start_time, complete_time) VALUES ('{id}', 'settle', 'settle@-@0@-@READY@-@10.0.0.1@-@{process}', 'h', '10.0.0.1', \
                 0, 'NORMAL_TRIGGER', {one}, '2026-01-15 11:34:56', '2026-01-15 11:34:57')"
            ))
            .await;
    }
    let reader = reader_of(database.url()).await;
    let java = |process| Some(InstanceId::of_process("10.0.0.1", process));
    assert_eq!(found(&reader, |filter| filter.instance = java(7)).await, "a");
    let page = reader.executions(&ExecutionFilter::default(), &PageRequest::default()).await.expect("it is read");
    let record = &page.records[0];
    assert_eq!((record.id.as_str(), record.outcome), ("b", ExecutionOutcome::Succeeded));
    assert_eq!((&record.run_id, record.scheduled_at, &record.instance, &record.attempt), (&None, None, &None, &None));
    let mut filter = ExecutionFilter::default();
    filter.run_id = Some("run".to_owned());
    let error = reader.executions(&filter, &PageRequest::default()).await.expect_err("it cannot be known");
    assert!(matches!(error, ReadError::NoColumn { column: "run_id", .. }), "{error}");

    // The columns are there and empty, as a program was started since.
    open(&database).await;
    let reader = reader_of(database.url()).await;
    assert_eq!(found(&reader, |filter| filter.instance = java(77)).await, "b");
    assert_eq!(found(&reader, |filter| filter.run_id = Some("run".to_owned())).await, "");
}

pub(super) async fn a_reader_makes_nothing_and_says_what_is_not_there(database: Database) {
    let reader = reader_of(database.url()).await;
    for _ in 0..2 {
        let error =
            reader.executions(&ExecutionFilter::default(), &PageRequest::default()).await.expect_err("no table");
        assert!(matches!(error, ReadError::NoTable { table: "JOB_EXECUTION_LOG", .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains("no program has traced") && !text.contains("open sesame"), "{text}");
    }
    // Once there are tables, the same reader reads them.
    write(&database, &[execution(end("a", None))]).await;
    assert_eq!(found(&reader, |_| {}).await, "a");

    if database.kind() == Kind::Sqlite {
        let elsewhere = format!("{}-elsewhere", database.url());
        let source = DataSource::new(&elsewhere).expect("the URL is right");
        let error = RdbTraceReader::connect(&source, None).await.expect_err("there is no such file");
        assert!(matches!(error, RdbError::Connect { .. }), "{error}");
        assert!(!std::path::Path::new(elsewhere.trim_start_matches("sqlite:")).exists());
    } else {
        let reader = reader_of(&database.url_of_writer().await).await;
        assert_eq!(found(&reader, |_| {}).await, "a", "an account that may not alter tables reads");
    }
}

pub(super) async fn times_are_read_by_the_zone_they_were_written_by(database: Database) {
    let zone = Some("Asia/Shanghai".parse().expect("a zone"));
    let storage = open_with(&database, options(|options| options.time_zone = zone)).await;
    storage.write(&[execution(end("a", None))]).await.expect("it is written");
    let source = DataSource::new(database.url()).expect("the URL is right");
    let reader = AnyTraceReader::new(RdbTraceReader::connect(&source, zone).await.expect("it can be read"));
    let page = reader.executions(&ExecutionFilter::default(), &PageRequest::default()).await.expect("it is read");
    assert_eq!(page.records[0].start_time.timestamp(), moment().timestamp());
    let around = |filter: &mut ExecutionFilter| {
        (filter.from, filter.until) = (Some(moment() - TimeDelta::seconds(1)), Some(moment() + TimeDelta::seconds(1)));
    };
    assert_eq!(found(&reader, around).await, "a");
}

pub(super) async fn runs_are_found_by_the_fire_that_they_are_of(database: Database) {
    let next = Some(moment() + TimeDelta::milliseconds(1));
    write(
        &database,
        &[execution(end("a", None)), execution(JobExecutionEvent { scheduled_at: next, ..end("b", None) })],
    )
    .await;
    let reader = reader_of(database.url()).await;
    assert_eq!(found(&reader, |filter| filter.scheduled_at = Some(moment())).await, "a");
    assert_eq!(found(&reader, |filter| filter.scheduled_at = next).await, "b");
    database.execute("ALTER TABLE JOB_EXECUTION_LOG DROP COLUMN scheduled_at").await;
    let reader = reader_of(database.url()).await;
    let mut filter = ExecutionFilter::default();
    filter.scheduled_at = next;
    let error = reader.executions(&filter, &PageRequest::default()).await.expect_err("it cannot be known");
    assert!(matches!(error, ReadError::NoColumn { column: "scheduled_at", .. }), "{error}");
}
