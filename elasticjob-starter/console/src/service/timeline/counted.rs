//! The counts of older runs, as they were read a moment ago. The parts of the time begin at fixed moments, the same for each job and
//! each reader, so that a page counts only those that none has shown lately, and the two at the ends of its time.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{DateTime, Utc};
use elasticjob::ident::JobName;
use elasticjob::trace::{AnyTraceReader, ReadError, RunCount, RunParts, TraceReader};
use tokio::time::Instant;

use super::super::fires::instant;

/// How long a count is shown. Runs that began long ago still end, records of them are written late, and retention removes them: a
/// page says so after this time at the latest.
const KEPT: Duration = Duration::from_secs(10);

/// How many counts are kept at the most: of 50 jobs on 100 pages that show different times.
const MOST: usize = 60_000;

/// The begin of each part after the first one: the multiples of a length within a time.
pub(super) fn splits(from: i64, until: i64, length: i64) -> Vec<DateTime<Utc>> {
    let first = from.div_euclid(length) + 1;
    (first..).map(|number| number * length).take_while(|at| *at < until).map(instant).collect()
}

/// The counts that pages of the timeline showed lately.
#[derive(Debug, Default)]
pub(crate) struct KeptCounts {
    known: Mutex<HashMap<Part, Known>>,
    /// Of several pages with parts that are not known one counts, and the others wait for it and show what it found.
    first: tokio::sync::Mutex<()>,
}

/// A part of the time, with the job whose runs began in it.
type Part = (JobName, DateTime<Utc>, DateTime<Utc>);

#[derive(Debug, Clone, Copy)]
struct Known {
    read: Instant,
    runs: RunCount,
}

impl KeptCounts {
    /// The counts of [`count_parts`](TraceReader::count_parts), which are at most 10 s old. Where a job has more runs than it asks for,
    /// a few more than those may be counted.
    pub(super) async fn count(
        &self,
        reader: &AnyTraceReader,
        wanted: &[RunParts],
    ) -> Result<Vec<Vec<RunCount>>, ReadError> {
        let mut known = self.known(wanted);
        let mut turn = None;
        if known.iter().any(|parts| inner(parts).iter().any(Option::is_none)) {
            turn = self.first.try_lock().ok();
            if turn.is_none() {
                // Whatever became of it, none of those that waited counts after the others: a database that is away answers none of them.
                drop(self.first.lock().await);
                known = self.known(wanted);
            }
        }
        let mut asked = Vec::new();
        for (number, (wanted, known)) in wanted.iter().zip(&known).enumerate() {
            asked.extend(unknown(wanted, known).into_iter().map(|(parts, of)| (number, parts, of)));
        }
        let parts: Vec<RunParts> = asked.iter().map(|(_, _, of)| of.clone()).collect();
        let read = reader.count_parts(&parts).await?;
        let mut counted: Vec<Vec<RunCount>> =
            known.iter().map(|parts| parts.iter().map(|runs| runs.unwrap_or_default()).collect()).collect();
        let mut found = Vec::new();
        for ((number, parts, of), counts) in asked.iter().zip(read) {
            // The parts at the ends of the time are of this page alone.
            let ends = [0, known[*number].len() - 1];
            let whole = of.parts().zip(&counts).zip(parts.clone()).skip(first_whole(of, &counts));
            let inner = whole.filter(|(_, part)| !ends.contains(part));
            found.extend(inner.map(|(((from, until), runs), _)| ((of.job.clone(), from, until), *runs)));
            counted[*number][parts.clone()].copy_from_slice(&counts);
        }
        self.keep(found);
        drop(turn);
        Ok(counted)
    }

    /// What is known of each part of the jobs.
    fn known(&self, wanted: &[RunParts]) -> Vec<Vec<Option<RunCount>>> {
        let (kept, now) = (self.lock(), Instant::now());
        let of = |job: &JobName, (from, until)| {
            let known = kept.get(&(job.clone(), from, until)).filter(|known| known.is_kept(now));
            known.map(|known| known.runs)
        };
        wanted.iter().map(|one| one.parts().map(|part| of(&one.job, part)).collect()).collect()
    }

    fn keep(&self, found: Vec<(Part, RunCount)>) {
        let (mut kept, read) = (self.lock(), Instant::now());
        kept.retain(|_, known| known.is_kept(read));
        let room = MOST.saturating_sub(kept.len());
        kept.extend(found.into_iter().take(room).map(|(part, runs)| (part, Known { read, runs })));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Part, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn is_kept(&self, now: Instant) -> bool {
        now.duration_since(self.read) < KEPT
    }
}

/// The parts that other pages show as well: those at the ends of the time begin or end anywhere.
fn inner<T>(parts: &[T]) -> &[T] {
    parts.get(1..parts.len().saturating_sub(1)).unwrap_or_default()
}

/// The parts to be counted, those that follow each other together. Of each no more runs are counted than the known parts after it leave.
fn unknown(wanted: &RunParts, known: &[Option<RunCount>]) -> Vec<(Range<usize>, RunParts)> {
    let bounds: Vec<_> = wanted.parts().collect();
    let (mut all, mut end, mut left) = (Vec::new(), known.len(), u64::from(wanted.most));
    while let Some(last) = known[..end].iter().rposition(Option::is_none) {
        left = left.saturating_sub(known[last + 1..end].iter().flatten().map(|runs| runs.runs).sum());
        let most = u32::try_from(left).unwrap_or(u32::MAX);
        if most == 0 {
            break;
        }
        let first = known[..last].iter().rposition(Option::is_some).map_or(0, |before| before + 1);
        let splits = bounds[first + 1..=last].iter().map(|(from, _)| *from).collect();
        let (from, until) = (bounds[first].0, bounds[last].1);
        all.push((first..last + 1, RunParts { job: wanted.job.clone(), from, splits, until, most }));
        end = first;
    }
    all
}

/// The first part of which all runs are counted.
fn first_whole(counted: &RunParts, counts: &[RunCount]) -> usize {
    let total: u64 = counts.iter().map(|count| count.runs).sum();
    let is_cut = total >= counted.most.into();
    counts.iter().position(|count| is_cut && count.runs > 0).map_or(0, |oldest| oldest + 1)
}

#[cfg(test)]
mod tests;
