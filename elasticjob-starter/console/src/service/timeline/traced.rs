//! The timeline of a job from the traces.

use chrono::{DateTime, Utc};
use elasticjob::ident::JobName;
use elasticjob::operations::JobSnapshot;
use elasticjob::trace::{
    AnyTraceReader, Cursor, ExecutionFilter, ExecutionRecord, PageRequest, RunCount, RunParts, TraceReader,
};
use futures_util::{StreamExt, TryStreamExt, stream};

use super::super::fires::{GRACE, Live, Summary, explain, fires, gaps, instant};
use super::counted::{KeptCounts, splits};
use super::{AT_ONCE, Folded, Known, MOST_RUNS, MOST_RUNS_OF_PAGE, Row, schedule};
use crate::api::Problem;

/// The runs that are counted are so by parts of which the whole time has so many.
const PARTS: i64 = 12;

/// How many runs of a job are counted, the newest of them.
const MOST_COUNTED: u32 = 20_000;

/// How many runs of a job are read before it is known which jobs have more.
const FIRST: u32 = 100;

/// The newest runs of items of a job in a time.
#[derive(Debug, Default)]
pub(super) struct Runs {
    records: Vec<ExecutionRecord>,
    /// Where the older ones begin.
    next: Option<Cursor>,
}

impl Runs {
    /// Reads so many more.
    async fn read(
        mut self,
        reader: &AnyTraceReader,
        job: &JobName,
        (from, until): (i64, i64),
        more: u32,
    ) -> Result<Self, Problem> {
        let mut filter = ExecutionFilter::of_job(job.clone());
        // What began before and still ran then belongs to the time as well: it is looked for as far back again.
        (filter.from, filter.until) = (Some(instant(from - (until - from))), Some(instant(until)));
        let request = PageRequest::default().limit(more);
        let request = match self.next.take() {
            Some(next) => request.after(next),
            None => request,
        };
        let page = reader.executions(&filter, &request).await?;
        self.records.extend(page.records);
        self.next = page.next;
        Ok(self)
    }
}

/// The newest runs of the jobs of a page: few jobs may have as many as one has at the most, and many share what there is room for.
pub(super) async fn newest(
    reader: &AnyTraceReader,
    jobs: Vec<JobName>,
    range: (i64, i64),
) -> Result<Vec<(JobName, Runs)>, Problem> {
    let read = |(job, runs, more): (JobName, Runs, u32)| async move {
        let runs = if more == 0 { runs } else { runs.read(reader, &job, range, more).await? };
        Ok::<_, Problem>((job, runs))
    };
    let first: Vec<_> = jobs.into_iter().map(|job| read((job, Runs::default(), FIRST))).collect();
    let first: Vec<(JobName, Runs)> = stream::iter(first).buffered(AT_ONCE).try_collect().await?;
    let share = share(first.iter().map(|(_, runs)| (runs.records.len(), runs.next.is_some())));
    let more = |runs: &Runs| if runs.next.is_some() { share } else { 0 };
    let all: Vec<_> = first
        .into_iter()
        .map(|(job, runs)| {
            let more = more(&runs);
            read((job, runs, more))
        })
        .collect();
    stream::iter(all).buffered(AT_ONCE).try_collect().await
}

/// How many more runs each job may have that has more, of jobs with so many runs.
fn share(jobs: impl Iterator<Item = (usize, bool)>) -> u32 {
    let (mut read, mut wait) = (0, 0);
    for (runs, has_more) in jobs {
        read += u32::try_from(runs).unwrap_or(u32::MAX);
        wait += u32::from(has_more);
    }
    MOST_RUNS_OF_PAGE.saturating_sub(read).checked_div(wait).unwrap_or(0).min(MOST_RUNS - FIRST)
}

pub(super) async fn known(
    reader: &AnyTraceReader,
    job: &JobName,
    snapshot: Option<&JobSnapshot>,
    Runs { records, next }: Runs,
    (from, until): (i64, i64),
    now: i64,
) -> Result<Known, Problem> {
    let read_to = next.and(records.last()).map(|record| record.start_time.timestamp_millis());
    let live = snapshot.map(|snapshot| Live::of(snapshot, now)).unwrap_or_default();
    let mut found = fires(records, &live);
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
fn parts(job: &JobName, (from, until): (i64, i64), length: i64) -> RunParts {
    let splits = splits(from, until, length);
    RunParts { job: job.clone(), from: instant(from), splits, until: instant(until), most: MOST_COUNTED }
}

/// Counts the runs of items before those that were read, of all jobs together: the page is drawn again every few seconds, and
/// a statement for each part of each job would be hundreds of them.
pub(super) async fn fold(
    reader: &AnyTraceReader,
    kept: &KeptCounts,
    rows: &mut [Row],
    (from, until): (i64, i64),
) -> Result<(), Problem> {
    let length = (until - from) / PARTS;
    let read_to = |row: &Row| row.known.read_to.filter(|read_to| *read_to > from);
    let wanted: Vec<RunParts> =
        rows.iter().filter_map(|row| Some(parts(&row.job, (from, read_to(row)?), length))).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let counted = kept.count(reader, &wanted).await?;
    let rows = rows.iter_mut().filter(|row| read_to(row).is_some());
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
        let wanted = parts(&JobName::new("orders").expect("a name"), (0, 1_200), 100);
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
    fn busy_jobs_of_a_page_share_what_the_others_leave() {
        let pages = [(1, 0, 400), (10, 0, 400), (50, 0, 60), (25, 25, 200), (0, 50, 0)];
        for (busy, idle, more) in pages {
            let jobs = (0..busy).map(|_| (100, true)).chain((0..idle).map(|_| (20, false)));
            assert_eq!(share(jobs), more, "{busy} busy jobs, {idle} others");
        }
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
