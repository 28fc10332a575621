//! Very many events.

use std::time::Duration;

use elasticjob::trace::{TaskState, Tracing, TracingConfiguration};
use tokio::runtime::Handle;

use super::events::{end, execution, start, state, status};
use super::tables::open;
use crate::databases::Database;

const EVENTS: u64 = 100_000;

pub(super) async fn a_hundred_thousand_events_come_in_and_none_is_lost(database: Database) {
    let storage = open(&database).await;
    let tracing = Tracing::start(TracingConfiguration::new(storage), &Handle::current());
    for number in 0..EVENTS / 4 {
        // As fast as they are taken, as a program is that waits for its items.
        while tracing.counts().waiting() > 9_000 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let id = format!("{number:08}");
        tracing.post(status(state(&format!("{id}-begin"), TaskState::Running)));
        tracing.post(execution(start(&id)));
        tracing.post(execution(end(&id, None)));
        tracing.post(status(state(&format!("{id}-end"), TaskState::Finished)));
    }
    tracing.close(Duration::from_secs(120)).await;
    let counts = tracing.counts();
    assert_eq!((counts.posted, counts.written, counts.lost), (EVENTS, EVENTS, 0));
    assert_eq!(database.count("JOB_EXECUTION_LOG").await, EVENTS / 4);
    assert_eq!(database.count("JOB_STATUS_TRACE_LOG").await, EVENTS / 2);
    let ended = database.rows("JOB_EXECUTION_LOG", &["COUNT(*)"], "complete_time IS NOT NULL").await;
    assert_eq!(ended, [[Some((EVENTS / 4).to_string())]]);
}
