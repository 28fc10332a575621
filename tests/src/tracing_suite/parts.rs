//! The runs of items of jobs, counted by parts of a time.

use chrono::{DateTime, TimeDelta, Utc};
use elasticjob::ident::JobName;
use elasticjob::trace::{AnyTraceReader, JobEvent, JobExecutionEvent, RunCount, RunParts, TraceReader};

use super::events::{end, execution, moment, start};
use super::history::{ByRecords, reader_of, write};
use crate::databases::Database;

fn job(name: &str) -> JobName {
    JobName::new(name).expect("a name")
}

/// Whole seconds, as MySQL keeps no others.
fn second(at: i64) -> DateTime<Utc> {
    let begin = DateTime::from_timestamp(moment().timestamp(), 0).expect("a time");
    begin + TimeDelta::seconds(at)
}

fn run(of: JobExecutionEvent, name: &str, at: i64) -> JobExecutionEvent {
    JobExecutionEvent { job_name: job(name), start_time: second(at), ..of }
}

fn wanted(name: &str, splits: &[i64], most: u32) -> RunParts {
    let splits = splits.iter().map(|at| second(*at)).collect();
    RunParts { job: job(name), from: second(0), splits, until: second(60), most }
}

/// The numbers of each part: runs, those that failed, and those without an end.
async fn read(reader: &AnyTraceReader, wanted: &[RunParts]) -> Vec<Vec<[u64; 3]>> {
    let counts = reader.count_parts(wanted).await.expect("they are counted");
    let numbers = |RunCount { runs, failed, no_end, .. }| [runs, failed, no_end];
    counts.into_iter().map(|parts| parts.into_iter().map(numbers).collect()).collect()
}

pub(super) async fn the_runs_of_several_jobs_are_counted_by_parts_of_a_time(database: Database) {
    let events: Vec<JobEvent> = [
        run(end("before", None), "settle", -1),
        run(end("a", None), "settle", 0),
        run(end("b", Some("no disk")), "settle", 19),
        // A run that begins where a part does belongs to it.
        run(start("c"), "settle", 20),
        run(end("d", None), "settle", 59),
        run(end("e", Some("no disk")), "settle", 59),
        run(end("after", None), "settle", 60),
        // Jobs whose names differ by a capital, and one that is not asked for.
        run(end("f", None), "Settle", 41),
        run(end("g", None), "other", 1),
    ]
    .map(execution)
    .into();
    write(&database, &events).await;
    let reader = reader_of(database.url()).await;
    let by_records = AnyTraceReader::new(ByRecords(reader_of(database.url()).await));
    let both = async |wanted: &[RunParts], expected: &[Vec<[u64; 3]>], why: &str| {
        assert_eq!(read(&reader, wanted).await, expected, "{why}");
        assert_eq!(read(&by_records, wanted).await, expected, "{why}: the default of the interface says the same");
    };
    let all = [wanted("settle", &[20, 40], 100), wanted("nothing", &[], 9), wanted("Settle", &[40], 100)];
    let expected = [vec![[2, 1, 0], [1, 0, 1], [2, 1, 0]], vec![[0, 0, 0]], vec![[0, 0, 0], [1, 0, 0]]];
    both(&all, &expected, "each job by its parts").await;
    both(&[wanted("settle", &[], 100)], &[vec![[5, 2, 1]]], "a time in one part").await;
    both(&[wanted("settle", &[20, 40], 3)], &[vec![[0, 0, 0], [1, 0, 1], [2, 1, 0]]], "the newest are counted").await;
    let out_of_order = [vec![[3, 1, 1], [0, 0, 0], [2, 1, 0], [0, 0, 0]]];
    both(&[wanted("settle", &[40, 20, 70], 100)], &out_of_order, "a part neither goes back nor ends after the time")
        .await;
    both(&[], &[], "no job").await;
    let many: Vec<RunParts> = (0..900).map(|number| wanted(&format!("job-{number}"), &[30], 1)).collect();
    let none = vec![vec![[0, 0, 0]; 2]; 900];
    assert_eq!(read(&reader, &many).await, none, "more jobs than a statement of SQLite can have parts");
}
