//! Runs of items of a job, counted by parts of a time.

use chrono::{DateTime, Utc};
use futures_util::stream::{self, StreamExt, TryStreamExt};

use super::filter::ExecutionFilter;
use super::reader::{ReadError, TraceReader};
use super::record::RunCount;
use crate::ident::JobName;

/// The runs of items of a job that began in a time, to be counted by parts of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunParts {
    /// The job.
    pub job: JobName,
    /// The begin of the first part. It belongs to the time.
    pub from: DateTime<Utc>,
    /// The begin of each part after the first, in ascending order. A part that would begin before the one in front of it begins with that
    /// one, and none ends after `until`.
    pub splits: Vec<DateTime<Utc>>,
    /// The end of the last part. It does not belong to the time.
    pub until: DateTime<Utc>,
    /// The largest number of runs that are counted, those that started last. Where as many were counted, there may be older ones.
    pub most: u32,
}

impl RunParts {
    /// The begin and the end of each part, in their order.
    pub fn parts(&self) -> impl DoubleEndedIterator<Item = (DateTime<Utc>, DateTime<Utc>)> + ExactSizeIterator {
        let mut begins = vec![self.from];
        for split in &self.splits {
            let before = begins.last().copied().unwrap_or(self.from);
            begins.push((*split).min(self.until).max(before));
        }
        begins.push(self.until);
        (0..self.splits.len() + 1).map(move |number| (begins[number], begins[number + 1]))
    }
}

/// So many jobs are counted at the same time.
const AT_A_TIME: usize = 4;

/// Counts the runs of some jobs at a time.
pub(super) async fn count_each<R: TraceReader + ?Sized>(
    reader: &R,
    wanted: &[RunParts],
) -> Result<Vec<Vec<RunCount>>, ReadError> {
    let counts: Vec<_> = wanted.iter().map(|wanted| count_job(reader, wanted)).collect();
    stream::iter(counts).buffered(AT_A_TIME).try_collect().await
}

/// Counts one part after the other, the last one first, until as many runs were counted as were asked for.
async fn count_job<R: TraceReader + ?Sized>(reader: &R, wanted: &RunParts) -> Result<Vec<RunCount>, ReadError> {
    let mut counts = vec![RunCount::default(); wanted.parts().len()];
    let mut left = wanted.most;
    for (count, (from, until)) in counts.iter_mut().zip(wanted.parts()).rev() {
        if left == 0 {
            break;
        }
        let mut filter = ExecutionFilter::of_job(wanted.job.clone());
        (filter.from, filter.until) = (Some(from), Some(until));
        *count = reader.count(&filter, left).await?;
        left = left.saturating_sub(u32::try_from(count.runs).unwrap_or(u32::MAX));
    }
    Ok(counts)
}
