//! The database is away for a while.

use std::time::Duration;

use elasticjob::api::item_handler;
use elasticjob::config::JobConfiguration;
use elasticjob::runtime::{JobEnvironment, ScheduleJobBootstrap, ShutdownMode};
use elasticjob::trace::{TaskState, TracingConfiguration};
use tokio::time::timeout;

use super::events::{state, status};
use super::tables::open;
use crate::databases::Database;

const LIMIT: Duration = Duration::from_secs(60);

/// What waits at most, beside the batch in the hands of the writer.
const QUEUE: usize = 1_000;

pub(super) async fn while_the_database_is_away_the_job_goes_on_and_what_is_kept_is_written_then(
    mut database: Database,
) {
    let storage = open(&database).await;
    let environment = JobEnvironment::builder().build().expect("an environment");
    let environment = environment.with_tracing(TracingConfiguration::new(storage).queue(QUEUE));
    let registry = environment.embedded_registry();
    let configuration = JobConfiguration::builder("going-on", 1).cron("* * * * * ?").build().expect("it is right");
    let handler = item_handler(|_| async {});
    let mut job = ScheduleJobBootstrap::new(&environment, registry, configuration, handler).expect("it is right");
    job.schedule().await.expect("it starts");
    let tracing = environment.tracing().expect("it is traced").clone();
    let written = async |at_least: u64| {
        while tracing.counts().written < at_least {
            tokio::task::yield_now().await;
        }
    };
    timeout(LIMIT, written(5)).await.expect("the first run is written");

    database.take_away().await;
    let mut fires = job.handle().status();
    let before = fires.borrow().fires;
    timeout(LIMIT, fires.wait_for(|status| status.fires >= before + 3))
        .await
        .expect("the job goes on")
        .expect("it runs");
    // A flood that does not fit.
    for number in 0..3_000 {
        tracing.post(status(state(&format!("flood-{number:04}"), TaskState::Running)));
    }
    let away = tracing.counts();
    assert!(away.lost > 3_000 - QUEUE as u64 - 200, "{away:?}");
    assert!(away.waiting() >= QUEUE as u64 && away.waiting() <= QUEUE as u64 + 100, "{away:?}");

    database.bring_back().await;
    timeout(LIMIT, written(away.written + away.waiting())).await.expect("what was kept is written");
    job.shutdown(ShutdownMode::Graceful).await;
    tracing.close(LIMIT).await;
    let counts = tracing.counts();
    assert_eq!((counts.waiting(), counts.posted), (0, counts.written + counts.lost));
    // All states there are, and all executions, of which start and end are one row.
    let rows = database.count("JOB_STATUS_TRACE_LOG").await;
    let flood = database.rows("JOB_STATUS_TRACE_LOG", &["COUNT(*)"], "id LIKE 'flood-%'").await;
    let flood: u64 = flood[0][0].as_deref().expect("a number").parse().expect("a number");
    assert!(flood > 500 && flood < QUEUE as u64 + 100, "{flood} of {rows}");
    let begun = database.rows("JOB_STATUS_TRACE_LOG", &["COUNT(*)"], "state = 'TASK_STAGING'").await;
    let begun: u64 = begun[0][0].as_deref().expect("a number").parse().expect("a number");
    assert!(begun >= 4, "also those of the time while it was away: {begun}");
}
