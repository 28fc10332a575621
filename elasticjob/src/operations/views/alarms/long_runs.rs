//! Runs that take much longer than those before them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::StreamExt;

use crate::ident::JobName;
use crate::operations::JobOverview;
use crate::trace::{AnyTraceReader, ExecutionFilter, ExecutionOutcome, PageRequest, TraceReader};

/// A run is long when it takes so many times as long as 95 of 100 runs before it...
const TIMES: u64 = 3;

/// ...and at least so long, in milliseconds.
const SHORTEST: u64 = 60_000;

/// How many runs tell what is usual, and how many it takes at the least.
const READ: u32 = 200;
const FEWEST: usize = 10;

/// What is usual is read again after so long, in milliseconds.
const FRESH: i64 = 600_000;

/// How many jobs are looked at, those with the oldest runs first, and how many at the same time.
const MOST: usize = 50;
const AT_ONCE: usize = 4;

/// The usual durations of the runs of jobs of one registry center, as they were read last.
#[derive(Debug, Default)]
pub struct UsualDurations(Mutex<HashMap<JobName, Known>>);

#[derive(Debug, Clone, Copy)]
struct Known {
    read: i64,
    /// `None` where there are too few runs to tell.
    took: Option<u64>,
}

impl UsualDurations {
    fn known(&self, job: &JobName, now: i64) -> Option<Known> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, known| now - known.read < FRESH);
        known.get(job).copied()
    }

    fn put(&self, job: JobName, known: Known) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(job, known);
    }
}

/// The time that 95 of 100 runs do not exceed.
fn usual(mut took: Vec<u64>) -> Option<u64> {
    took.sort_unstable();
    (took.len() >= FEWEST).then(|| took[(took.len() - 1) * 95 / 100])
}

/// Whether a run that goes on for this time takes long.
fn is_long(runs: u64, usual: u64) -> bool {
    runs >= SHORTEST && runs > usual.saturating_mul(TIMES)
}

/// The jobs with a run that takes long, each with what is usual. Where traces cannot be read, that is not known of any job.
pub(super) async fn running(
    jobs: &[Arc<JobOverview>],
    reader: &AnyTraceReader,
    known: &UsualDurations,
    now: i64,
) -> Vec<(Arc<JobOverview>, u64)> {
    let runs = |job: &JobOverview| job.running_since.map_or(0, |since| u64::try_from(now - since).unwrap_or_default());
    let mut old: Vec<Arc<JobOverview>> = jobs.iter().filter(|job| runs(job) >= SHORTEST).cloned().collect();
    old.sort_by_key(|job| job.running_since);
    old.truncate(MOST);
    let usual = old.into_iter().map(|job| async move {
        let usual = took(&job.job, reader, known, now).await?;
        Some((job, usual))
    });
    let usual: Vec<_> = futures_util::stream::iter(usual).buffered(AT_ONCE).collect().await;
    let long = usual.into_iter().flatten().filter(|(job, usual)| is_long(runs(job), *usual));
    long.collect()
}

/// How long runs of a job usually take.
async fn took(job: &JobName, reader: &AnyTraceReader, durations: &UsualDurations, now: i64) -> Option<u64> {
    if let Some(known) = durations.known(job, now) {
        return known.took;
    }
    let mut filter = ExecutionFilter::of_job(job.clone());
    filter.outcome = Some(ExecutionOutcome::Succeeded);
    let page = reader.executions(&filter, &PageRequest::default().limit(READ)).await.ok()?;
    let took = page
        .records
        .iter()
        .filter_map(|record| u64::try_from((record.complete_time? - record.start_time).num_milliseconds()).ok());
    let took = usual(took.collect());
    durations.put(job.clone(), Known { read: now, took });
    took
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_long_beside_what_is_usual_and_by_itself() {
        assert_eq!(usual((1..=100).collect()), Some(95));
        assert_eq!(usual(vec![7; 9]), None, "too few to tell");
        assert!(is_long(60_000, 19_999) && !is_long(60_000, 20_000), "three times as long");
        assert!(!is_long(59_999, 1), "what takes less than a minute is not long");
    }
}
