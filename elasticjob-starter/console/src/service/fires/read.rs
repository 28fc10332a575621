//! Reads the records of a page of fires. What is read for one page is bounded.

use elasticjob::trace::{AnyTraceReader, ExecutionFilter, ExecutionRecord, PageRequest, ReadError, TraceReader};

use super::group::{Fire, Live, fires};
use super::id::Place;

/// The most records that are read for one page.
const MOST: usize = 6_000;

/// How many records are read at once.
const STEP: u32 = 1_000;

/// The clocks of two hosts differ: a run may begin so much before its fire.
pub(super) const SKEW: i64 = 5_000;

/// The fires of a page, the newest first.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) fires: Vec<Fire>,
    /// Where the next page begins.
    pub(super) next: Option<Place>,
}

/// Records of a filter, the newest first.
pub(super) struct Records {
    pub(super) all: Vec<ExecutionRecord>,
    /// The start of the oldest one, where others may follow.
    pub(super) read_to: Option<i64>,
}

/// Reads records until `is_enough` or there are too many.
pub(super) async fn records(
    reader: &AnyTraceReader,
    filter: &ExecutionFilter,
    mut is_enough: impl FnMut(&[ExecutionRecord], i64) -> bool,
) -> Result<Records, ReadError> {
    let (mut all, mut cursor): (Vec<ExecutionRecord>, _) = (Vec::new(), None);
    loop {
        let page = reader.executions(filter, &PageRequest::default().limit(STEP).after(cursor)).await?;
        all.extend(page.records);
        let oldest = all.last().map(|record| record.start_time.timestamp_millis());
        match (page.next, oldest) {
            (Some(next), Some(oldest)) if all.len() < MOST && !is_enough(&all, oldest) => cursor = Some(next),
            (next, oldest) => return Ok(Records { all, read_to: next.and(oldest) }),
        }
    }
}

/// The fires after a place, at most `limit`; of all jobs' records those of the filter.
pub(super) async fn page(
    reader: &AnyTraceReader,
    filter: &ExecutionFilter,
    after: Option<Place>,
    limit: usize,
    live: &Live,
) -> Result<Read, ReadError> {
    let mut filter = filter.clone();
    if let Some(place) = after {
        // Up to the millisecond: records have finer times than places.
        let read_from = chrono::DateTime::from_timestamp_millis(place.read_from + 1);
        filter.until = filter.until.into_iter().chain(read_from).min();
    }
    let is_meant = |fire: &Fire| after.is_none_or(|place| place.after.is_newer_than(fire.id));
    // A fire is whole once all was read that can have begun since.
    let is_whole = |fire: &Fire, read_to: i64| fire.id.time() - SKEW > read_to;
    let is_enough = |all: &[ExecutionRecord], read_to: i64| {
        let fires = fires(all.to_vec(), &Live::default());
        fires.iter().filter(|fire| is_meant(fire) && is_whole(fire, read_to)).count() > limit
    };
    let Records { all, read_to } = records(reader, &filter, is_enough).await?;
    let mut found: Vec<Fire> = fires(all, live).into_iter().filter(is_meant).collect();
    if let Some(read_to) = read_to {
        let whole = found.iter().take_while(|fire| is_whole(fire, read_to)).count();
        // A fire of more items than are read at all is shown with those that were.
        if whole == 0 && !found.is_empty() {
            found[0].is_cut = true;
        }
        return Ok(cut(found, limit.min(whole.max(1)), Some(read_to), after));
    }
    Ok(cut(found, limit, None, after))
}

/// The first fires, and the place after them.
fn cut(mut found: Vec<Fire>, limit: usize, read_to: Option<i64>, after: Option<Place>) -> Read {
    let rest = found.split_off(limit.min(found.len()));
    let newest_of_rest = rest.iter().flat_map(|fire| &fire.runs).map(|run| run.start()).max();
    let read_from = newest_of_rest.max(read_to);
    let last = found.last().map(|fire| fire.id).or_else(|| after.map(|place| place.after));
    let next = last.zip(read_from).map(|(after, read_from)| Place { after, read_from });
    Read { fires: found, next }
}

/// The first fires of a page that was read with more of them.
pub(super) fn first(read: Read, limit: usize) -> Read {
    let read_to = read.next.map(|place| place.read_from);
    match read.fires.len() > limit {
        true => cut(read.fires, limit, read_to, None),
        false => read,
    }
}
