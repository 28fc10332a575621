//! The newest fires of jobs, as numbers.

use chrono::{DateTime, TimeDelta, Utc};
use elasticjob::ident::JobName;
use elasticjob::trace::{AnyTraceReader, FireCount, JobEvent, JobExecutionEvent, NewestRuns, TraceReader};

use super::events::{end, execution, moment, start};
use super::history::{ByRecords, reader_of, write};
use super::tables::{OWN, open};
use crate::databases::{Database, Kind};

fn job(name: &str) -> JobName {
    JobName::new(name).expect("a name")
}

fn newest(name: &str, most: u32) -> NewestRuns {
    NewestRuns { job: job(name), most, from: None }
}

/// A run of an item for the fire of a minute, which it begins a second later; by hand with `None`.
fn run(of: JobExecutionEvent, name: &str, item: u32, minute: Option<i64>) -> JobExecutionEvent {
    let at = |minute: i64| moment() + TimeDelta::minutes(minute);
    JobExecutionEvent {
        job_name: job(name),
        sharding_item: item,
        scheduled_at: minute.map(at),
        start_time: minute.map_or(at(60), at) + TimeDelta::seconds(1),
        ..of
    }
}

fn later(run: JobExecutionEvent, seconds: i64) -> JobExecutionEvent {
    JobExecutionEvent { start_time: run.start_time + TimeDelta::seconds(seconds), ..run }
}

/// The minute of a fire, and its numbers: runs, items, those that succeeded, failed, and have no end.
type Numbers = (String, Option<i64>, [u64; 5]);

async fn read(reader: &AnyTraceReader, wanted: &[NewestRuns]) -> Vec<Numbers> {
    let fires = reader.fires(wanted).await.expect("it is read");
    let minute = |at: DateTime<Utc>| (at - moment()).num_minutes();
    let numbers = |fire: FireCount| {
        let FireCount { job_name, scheduled_at, runs, items, succeeded, failed, no_end, .. } = fire;
        (job_name, scheduled_at.map(minute), [runs, items, succeeded, failed, no_end])
    };
    fires.into_iter().map(numbers).collect()
}

pub(super) async fn the_newest_fires_of_several_jobs_are_counted_together(database: Database) {
    let events: Vec<JobEvent> = [
        // Both items well.
        run(end("a", None), "settle", 0, Some(1)),
        run(end("b", None), "settle", 1, Some(1)),
        // One failed; the run of the other was lost, and it ran again.
        run(end("c", Some("no disk")), "settle", 0, Some(2)),
        run(start("d"), "settle", 1, Some(2)),
        later(run(end("e", None), "settle", 1, Some(2)), 9),
        // One without an end.
        run(start("f"), "settle", 0, Some(3)),
        run(end("g", None), "settle", 1, Some(3)),
        // By hand, in one second.
        run(end("h", None), "settle", 0, None),
        run(end("i", None), "settle", 1, None),
        // Jobs whose names differ by a capital, and one that is not asked for.
        run(end("j", Some("no disk")), "Settle", 0, Some(1)),
        run(end("k", None), "other", 0, Some(1)),
    ]
    .map(execution)
    .into();
    write(&database, &events).await;
    let reader = reader_of(database.url()).await;
    let wanted = [newest("settle", 100), newest("Settle", 100), newest("nothing", 100)];
    let settle = |minute, numbers| ("settle".to_owned(), minute, numbers);
    let expected = [
        ("Settle".to_owned(), Some(1), [1, 1, 0, 1, 0]),
        settle(None, [2, 2, 2, 0, 0]),
        settle(Some(3), [2, 2, 1, 0, 1]),
        settle(Some(2), [3, 2, 1, 1, 0]),
        settle(Some(1), [2, 2, 2, 0, 0]),
    ];
    assert_eq!(read(&reader, &wanted).await, expected);
    let by_records = AnyTraceReader::new(ByRecords(reader_of(database.url()).await));
    assert_eq!(read(&by_records, &wanted).await, expected, "the default of the interface says the same");
    let few = [newest("settle", 4)];
    assert_eq!(read(&reader, &few).await, expected[1..3], "no more runs are read than were asked for");
    assert_eq!(read(&by_records, &few).await, expected[1..3]);
    // Those of the third minute and later, and of another job those of the first.
    let at = |minute| Some(moment() + TimeDelta::minutes(minute));
    let late = [NewestRuns { from: at(3), ..newest("settle", 100) }, NewestRuns { from: at(1), ..newest("Settle", 9) }];
    assert_eq!(read(&reader, &late).await, expected[..3], "no run that started earlier");
    assert_eq!(read(&by_records, &late).await, expected[..3]);
    assert_eq!(read(&reader, &[]).await, []);
    let many: Vec<NewestRuns> = (0..900).map(|number| newest(&format!("job-{number}"), 1)).collect();
    assert_eq!(read(&reader, &many).await, [], "more jobs than a statement of SQLite can have parts");
    let started = reader.fires(&few).await.expect("it is read")[1].started;
    // MySQL keeps whole seconds.
    let exact = moment() + TimeDelta::seconds(3 * 60 + 1);
    let kept = if database.kind() == Kind::Mariadb { exact.timestamp() * 1_000 } else { exact.timestamp_millis() };
    assert_eq!(started.timestamp_millis(), kept, "the start of the run that started first");
}

pub(super) async fn fires_of_tables_of_java_are_told_apart_by_the_second_they_began_in(database: Database) {
    let within = |milliseconds| JobExecutionEvent {
        start_time: moment() + TimeDelta::milliseconds(milliseconds),
        sharding_item: u32::try_from(milliseconds).expect("an item"),
        ..end(&format!("{milliseconds}"), None)
    };
    // Two of one second, and one of the next second.
    write(&database, &[within(10), within(200), within(1_000)].map(execution)).await;
    open(&database).await;
    for column in OWN {
        database.execute(format!("ALTER TABLE JOB_EXECUTION_LOG DROP COLUMN {column}")).await;
    }
    let reader = reader_of(database.url()).await;
    let settle = |numbers| ("settle".to_owned(), None, numbers);
    assert_eq!(
        read(&reader, &[newest("settle", 9)]).await,
        [settle([1, 1, 1, 0, 0]), settle([2, 2, 2, 0, 0])],
        "a fire each"
    );
}
