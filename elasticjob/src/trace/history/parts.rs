//! Runs of items of a job, counted by parts of a time.

use chrono::{DateTime, Utc};

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
    /// The begin of each part after the first, in ascending order. Where a part begins before the one in front of it, that one is empty.
    pub splits: Vec<DateTime<Utc>>,
    /// The end of the last part. It does not belong to the time.
    pub until: DateTime<Utc>,
    /// The largest number of runs that are counted, those that started last. Where as many were counted, there may be older ones.
    pub most: u32,
}

impl RunParts {
    /// The begin and the end of each part, in their order.
    pub fn parts(&self) -> impl DoubleEndedIterator<Item = (DateTime<Utc>, DateTime<Utc>)> + ExactSizeIterator {
        let bound = |number: usize| match number {
            0 => self.from,
            number => self.splits.get(number - 1).copied().unwrap_or(self.until),
        };
        (0..self.splits.len() + 1).map(move |number| (bound(number), bound(number + 1)))
    }
}

/// Counts one part after the other, the last one first, until as many runs were counted as were asked for.
pub(super) async fn count_each<R: TraceReader + ?Sized>(
    reader: &R,
    wanted: &[RunParts],
) -> Result<Vec<Vec<RunCount>>, ReadError> {
    let mut all = Vec::new();
    for wanted in wanted {
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
        all.push(counts);
    }
    Ok(all)
}
