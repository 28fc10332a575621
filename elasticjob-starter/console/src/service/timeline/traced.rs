//! The timeline of a job from the traces.

use chrono::{DateTime, Utc};
use elasticjob::ident::JobName;
use elasticjob::operations::JobSnapshot;
use elasticjob::trace::{AnyTraceReader, ExecutionFilter, PageRequest, RunCount, RunParts, TraceReader};

use super::super::fires::{GRACE, Live, Summary, explain, fires, gaps, instant};
use super::{Folded, Known, MOST_RUNS, Row, schedule};
use crate::api::Problem;

/// Into so many parts the time is divided whose runs are counted.
const PARTS: i64 = 12;

/// How many runs of a job are counted, the newest of them.
const MOST_COUNTED: u32 = 20_000;

pub(super) async fn known(
    reader: &AnyTraceReader,
    job: &JobName,
    snapshot: Option<&JobSnapshot>,
    (from, until): (i64, i64),
    now: i64,
) -> Result<Known, Problem> {
    let mut filter = ExecutionFilter::of_job(job.clone());
    // What began before and still ran then belongs to the time as well: it is looked for as far back again.
    (filter.from, filter.until) = (Some(instant(from - (until - from))), Some(instant(until)));
    let page = reader.executions(&filter, &PageRequest::default().limit(MOST_RUNS)).await?;
    let read_to = page.next.and(page.records.last()).map(|record| record.start_time.timestamp_millis());
    let live = snapshot.map(|snapshot| Live::of(snapshot, now)).unwrap_or_default();
    let mut found = fires(page.records, &live);
    found.retain(|fire| Summary::from(fire).drawn_until(now) >= from);
    let planned = snapshot.and_then(|snapshot| schedule(snapshot).zip(snapshot.configured_since()));
    let mut missing = planned.map_or_else(Vec::new, |(schedule, since)| {
        gaps(schedule, from.max(since).max(read_to.unwrap_or(i64::MIN)), until.min(now - GRACE), &found)
    });
    explain(reader, job, &mut missing).await?;
    let fires = found.iter().map(Summary::from).collect();
    Ok(Known { fires, read_to, folded: Vec::new(), gaps: missing, unsure: None })
}

/// The parts of a time before the newest runs, whose runs are counted.
fn parts(job: &JobName, from: i64, until: i64) -> RunParts {
    let length = until - from;
    let split = |part: i64| instant(from + length * part / PARTS);
    RunParts {
        job: job.clone(),
        from: instant(from),
        splits: (1..PARTS).map(split).collect(),
        until: instant(until),
        most: MOST_COUNTED,
    }
}

/// Counts the runs of items before those that were read, of all jobs together: the page is drawn again every few seconds, and
/// a statement for each part of each job would be hundreds of them.
pub(super) async fn fold(reader: &AnyTraceReader, rows: &mut [Row], from: i64) -> Result<(), Problem> {
    let is_cut = |row: &Row| row.known.read_to.filter(|read_to| *read_to > from);
    let wanted: Vec<RunParts> = rows.iter().filter_map(|row| Some(parts(&row.job, from, is_cut(row)?))).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let counted = reader.count_parts(&wanted).await?;
    let rows = rows.iter_mut().filter(|row| is_cut(row).is_some());
    for ((row, wanted), counts) in rows.zip(&wanted).zip(counted) {
        row.known.folded = folded(wanted, &counts);
    }
    Ok(())
}

/// The parts that have runs. Where not all runs are counted, the oldest part stands for the time before it as well.
fn folded(wanted: &RunParts, counts: &[RunCount]) -> Vec<Folded> {
    let filled = wanted.parts().zip(counts).filter(|(_, runs)| runs.runs > 0);
    let part = |((from, until), runs): ((DateTime<Utc>, DateTime<Utc>), &RunCount)| Folded {
        from: from.timestamp_millis(),
        until: until.timestamp_millis(),
        runs: *runs,
        is_cut: false,
    };
    let mut folded: Vec<Folded> = filled.map(part).collect();
    let total: u64 = counts.iter().map(|count| count.runs).sum();
    if let Some(oldest) = folded.first_mut().filter(|_| total >= wanted.most.into()) {
        (oldest.from, oldest.is_cut) = (wanted.from.timestamp_millis(), true);
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(runs: [u32; 12]) -> Vec<(i64, i64, u64, bool)> {
        // A run count comes from a reader alone; here it is one that counts so many.
        let wanted = parts(&JobName::new("orders").expect("a name"), 0, 1_200);
        let counts: Vec<RunCount> = runs
            .map(|runs| {
                let mut count = RunCount::default();
                count.runs = runs.into();
                count
            })
            .into();
        folded(&wanted, &counts).into_iter().map(|part| (part.from, part.until, part.runs.runs, part.is_cut)).collect()
    }

    #[test]
    fn parts_with_runs_are_shown_and_the_oldest_one_says_that_not_all_were_counted() {
        let few = [0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5];
        assert_eq!(counted(few), [(100, 200, 3, false), (1_100, 1_200, 5, false)]);
        let many = [0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, MOST_COUNTED - 7];
        assert_eq!(
            counted(many),
            [(0, 400, 7, true), (1_100, 1_200, u64::from(MOST_COUNTED) - 7, false)],
            "what is before was not counted"
        );
        assert_eq!(counted([0; 12]), []);
    }
}
