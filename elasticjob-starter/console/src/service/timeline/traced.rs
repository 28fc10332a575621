//! The timeline of a job from the traces.

use elasticjob::ident::JobName;
use elasticjob::operations::JobSnapshot;
use elasticjob::trace::{AnyTraceReader, ExecutionFilter, PageRequest, TraceReader};

use super::super::fires::{GRACE, Live, Summary, explain, fires, gaps, instant};
use super::{Folded, Known, MOST_RUNS, schedule};
use crate::api::Problem;

/// Into so many parts the time is divided whose runs are counted.
const PARTS: i64 = 12;

/// How many runs of a part are counted.
const MOST_COUNTED: u32 = 10_000;

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
    let folded = match read_to {
        Some(read_to) if read_to > from => fold(reader, job, from, read_to).await?,
        _ => Vec::new(),
    };
    Ok(Known { fires: found.iter().map(Summary::from).collect(), folded, gaps: missing, unsure: None })
}

/// Counts the runs of items that began in a time, in parts of it.
async fn fold(reader: &AnyTraceReader, job: &JobName, from: i64, until: i64) -> Result<Vec<Folded>, Problem> {
    let length = until - from;
    let mut folded = Vec::new();
    for part in 0..PARTS {
        let (from, until) = (from + length * part / PARTS, from + length * (part + 1) / PARTS);
        let mut filter = ExecutionFilter::of_job(job.clone());
        (filter.from, filter.until) = (Some(instant(from)), Some(instant(until)));
        let runs = reader.count(&filter, MOST_COUNTED).await?;
        if runs.runs > 0 {
            folded.push(Folded { from, until, is_cut: runs.runs >= MOST_COUNTED.into(), runs });
        }
    }
    Ok(folded)
}
