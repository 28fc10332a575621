//! The decision log.

use chrono::TimeDelta;
use elasticjob::ident::{InstanceId, JobName};
use elasticjob::trace::rdb::{DataSource, RdbOptions, RdbTracingStorage};
use elasticjob::trace::{
    AnyTraceReader, DecisionFilter, DecisionKind, JobDecisionEvent, PageRequest, ReadError, TraceReader,
    TracingStorage, WriteError,
};

use super::events::{decided, decision, end, execution, moment, start};
use super::history::{reader_of, write};
use super::tables::open;
use crate::databases::Database;

pub(super) async fn a_decision_is_kept_once_and_read_as_it_was_written(database: Database) {
    let event = decision("a", DecisionKind::Skipped);
    let fire = JobDecisionEvent {
        scheduled_at: None,
        sharding_items: Vec::new(),
        instance: None,
        related_instance: None,
        reason: "x".repeat(5_000),
        at: moment() - TimeDelta::milliseconds(1),
        ..decision("b", DecisionKind::Missed)
    };
    for _ in 0..2 {
        // The same event may come again after an answer that was lost.
        write(&database, &[decided(event.clone()), decided(fire.clone())]).await;
    }
    let reader = reader_of(database.url()).await;
    let page = reader.decisions(&DecisionFilter::default(), &PageRequest::default()).await.expect("it is read");
    let [read, other] = &page.records[..] else { panic!("{page:?}") };
    assert_eq!((read.id.as_str(), read.job_name.as_str(), read.kind.as_str()), ("a", "settle", "SKIPPED"));
    assert_eq!((read.at, read.scheduled_at, read.scheduled_until), (moment(), Some(moment()), None));
    assert_eq!(read.sharding_items, [3, 4]);
    assert_eq!(
        (read.instance.as_deref(), read.related_instance.as_deref()),
        (Some("192.0.2.2@-@7"), Some("192.0.2.3@-@9"))
    );
    assert_eq!(read.reason, event.reason.replace('\0', "\u{fffd}"));
    assert_eq!(read.detail, event.detail);
    assert_eq!((other.id.as_str(), other.instance.as_ref(), other.reason.len()), ("b", None, 4_000));
    assert!(other.sharding_items.is_empty() && other.scheduled_at.is_none());
}

async fn found(reader: &AnyTraceReader, change: impl FnOnce(&mut DecisionFilter)) -> String {
    let mut filter = DecisionFilter::default();
    change(&mut filter);
    let page = reader.decisions(&filter, &PageRequest::default()).await.expect("it is read");
    page.records.iter().map(|record| record.id.as_str()).collect()
}

pub(super) async fn decisions_are_found_by_fire_kind_time_and_page(database: Database) {
    let later = |seconds: i64| moment() + TimeDelta::seconds(seconds);
    let missed = JobDecisionEvent {
        scheduled_at: Some(later(-60)),
        scheduled_until: Some(later(60)),
        at: later(1),
        ..decision("b", DecisionKind::Missed)
    };
    let elected = JobDecisionEvent {
        scheduled_at: None,
        at: later(2),
        sharding_items: vec![4, 12, 5],
        instance: Some(InstanceId::of_process("192.0.2.9", 7)),
        ..decision("c", DecisionKind::Elected)
    };
    let other = JobName::new("Settle").expect("a name");
    let of_other = JobDecisionEvent { job_name: other.clone(), at: later(3), ..decision("d", DecisionKind::Skipped) };
    let events = [decision("a", DecisionKind::Skipped), missed, elected, of_other];
    write(&database, &events.map(decided)).await;
    let reader = reader_of(database.url()).await;
    assert_eq!(found(&reader, |_| {}).await, "dcba");
    assert_eq!(found(&reader, |filter| filter.job = Some(other)).await, "d");
    assert_eq!(found(&reader, |filter| filter.fire = Some(moment())).await, "dba");
    assert_eq!(found(&reader, |filter| filter.fire = Some(later(-60))).await, "b");
    assert_eq!(found(&reader, |filter| filter.fire = Some(later(59))).await, "b");
    assert_eq!(found(&reader, |filter| filter.fire = Some(later(60))).await, "", "that one is run instead");
    assert_eq!(found(&reader, |filter| filter.from = Some(later(2))).await, "dc");
    assert_eq!(found(&reader, |filter| filter.until = Some(later(2))).await, "ba");
    let here = InstanceId::of_process("192.0.2.9", 7);
    assert_eq!(found(&reader, |filter| filter.item = Some(12)).await, "c", "not item 1 or 2");
    assert_eq!(found(&reader, |filter| filter.item = Some(5)).await, "c", "the last of several");
    assert_eq!(found(&reader, |filter| filter.item = Some(3)).await, "dba", "the first of several");
    assert_eq!(found(&reader, |filter| filter.item = Some(1)).await, "", "neither 12 nor 1 of it");
    assert_eq!(found(&reader, |filter| filter.instance = Some(here)).await, "c");
    assert_eq!(found(&reader, |filter| filter.ip = Some("192.0.2.9".to_owned())).await, "c");
    assert_eq!(found(&reader, |filter| filter.ip = Some("192_0_2_9".to_owned())).await, "");
    let kinds = vec![DecisionKind::Missed, DecisionKind::Elected];
    assert_eq!(found(&reader, |filter| filter.kinds = kinds).await, "cb");

    let (mut request, mut ids) = (PageRequest::default().limit(1), String::new());
    while ids.len() < 5 {
        let page = reader.decisions(&DecisionFilter::default(), &request).await.expect("it is read");
        ids.extend(page.records.into_iter().map(|record| record.id));
        let Some(next) = page.next else { break };
        request = request.after(next);
    }
    assert_eq!(ids, "dcba");
}

pub(super) async fn an_account_that_may_not_create_tables_traces_all_but_decisions(database: Database) {
    open(&database).await;
    database.execute("DROP TABLE JOB_DECISION_LOG").await;
    let url = database.url_of_writer().await;
    let source = DataSource::new(&url).expect("the URL is right");
    let storage = RdbTracingStorage::connect(&source, RdbOptions::default()).await.expect("it can be traced to");
    let events = [decided(decision("a", DecisionKind::Skipped)), execution(start("a")), execution(end("a", None))];
    storage.write(&events).await.expect("it is written");
    assert_eq!(database.count("JOB_EXECUTION_LOG").await, 1);
    let reader = reader_of(&url).await;
    let error = reader.decisions(&DecisionFilter::default(), &PageRequest::default()).await.expect_err("no table");
    assert!(matches!(error, ReadError::NoTable { table: "JOB_DECISION_LOG", .. }), "{error}");
}

/// An administrator made the table and granted nothing on it.
pub(super) async fn an_account_that_may_not_write_decisions_traces_all_but_them(database: Database) {
    open(&database).await;
    let url = database.url_of_writer_to(&["JOB_EXECUTION_LOG", "JOB_STATUS_TRACE_LOG"]).await;
    let source = DataSource::new(&url).expect("the URL is right");
    let storage = RdbTracingStorage::connect(&source, RdbOptions::default()).await.expect("it can be traced to");
    let events = [decided(decision("a", DecisionKind::Skipped)), execution(start("a")), execution(end("a", None))];
    storage.write(&events).await.expect("it is written");
    assert!(!storage.keeps_decisions());
    assert_eq!(database.count("JOB_EXECUTION_LOG").await, 1);
    assert_eq!(database.count("JOB_DECISION_LOG").await, 0);
}

pub(super) async fn a_table_of_decisions_that_is_dropped_stops_nothing_else(database: Database) {
    let storage = open(&database).await;
    assert!(storage.keeps_decisions());
    database.execute("DROP TABLE JOB_DECISION_LOG").await;
    let events = [decided(decision("a", DecisionKind::Skipped)), execution(start("a")), execution(end("a", None))];
    storage.write(&events).await.expect("it is written");
    assert!(!storage.keeps_decisions());
    assert_eq!(database.count("JOB_EXECUTION_LOG").await, 1);
}

pub(super) async fn decisions_alone_that_cannot_be_written_count_as_lost(database: Database) {
    let storage = open(&database).await;
    database.execute("DROP TABLE JOB_DECISION_LOG").await;
    let error = storage.write(&[decided(decision("a", DecisionKind::Operator))]).await.expect_err("it is not written");
    assert!(matches!(error, WriteError::Refused(_)), "{error}");
}
