//! Removing what is too old.

use std::time::Duration;

use chrono::{TimeDelta, Utc};
use elasticjob::trace::rdb::RdbTracingStorage;
use elasticjob::trace::{
    DecisionKind, JobDecisionEvent, JobEvent, JobExecutionEvent, JobStatusTraceEvent, TaskState, TracingStorage,
};

use super::events::{decided, decision, end, execution, state, status};
use super::tables::{open_with, options};
use crate::databases::Database;

/// An execution and a state, told so long ago.
fn told(number: i64, ago: TimeDelta) -> [JobEvent; 3] {
    let at = Utc::now() - ago;
    let id = number.to_string();
    [
        execution(JobExecutionEvent { start_time: at, complete_time: Some(at), ..end(&id, None) }),
        status(JobStatusTraceEvent { creation_time: at, ..state(&id, TaskState::Finished) }),
        decided(JobDecisionEvent { at, ..decision(&id, DecisionKind::Skipped) }),
    ]
}

async fn write(storage: &RdbTracingStorage, events: impl Iterator<Item = [JobEvent; 3]>) {
    let events: Vec<JobEvent> = events.flatten().collect();
    for batch in events.chunks(100) {
        storage.write(batch).await.expect("it is written");
    }
}

/// Removes until nothing is left to remove, and tells how many steps that took.
async fn clean(storage: &RdbTracingStorage) -> u32 {
    for step in 1.. {
        let next = storage.clean().await.expect("it is removed").expect("there is always more to come");
        if next > Duration::from_secs(60) {
            return step;
        }
    }
    unreachable!("it ends")
}

async fn counts(database: &Database) -> [u64; 3] {
    let tables = ["JOB_EXECUTION_LOG", "JOB_STATUS_TRACE_LOG", "JOB_DECISION_LOG"];
    [database.count(tables[0]).await, database.count(tables[1]).await, database.count(tables[2]).await]
}

pub(super) async fn rows_that_are_too_old_or_too_many_are_removed_in_steps(database: Database) {
    let keep = |days, rows| {
        options(|options| {
            options.retention.days = days;
            options.retention.rows = rows;
        })
    };
    let for_ever = open_with(&database, keep(None, None)).await;
    let old = (0..2_300).map(|number| told(number, TimeDelta::days(10) + TimeDelta::seconds(number)));
    write(&for_ever, old).await;
    write(&for_ever, (3_000..3_100).map(|number| told(number, TimeDelta::seconds(number)))).await;
    assert_eq!(for_ever.clean().await, Ok(None));
    assert_eq!(counts(&database).await, [2_400; 3]);

    let week = open_with(&database, keep(Some(7), None)).await;
    assert_eq!(clean(&week).await, 3);
    assert_eq!(counts(&database).await, [100; 3]);

    let few = open_with(&database, keep(Some(7), Some(30))).await;
    assert_eq!(clean(&few).await, 1);
    assert_eq!(counts(&database).await, [30; 3]);
    // The newest ones.
    let kept = database.rows("JOB_EXECUTION_LOG", &["id"], "1 = 1").await;
    let expected: Vec<_> = (3_000..3_030).map(|number| vec![Some(number.to_string())]).collect();
    assert_eq!(kept, expected);
}
