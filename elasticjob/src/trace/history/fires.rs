//! Fires as numbers: how many items of each ended how.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::filter::ExecutionFilter;
use super::page::PageRequest;
use super::reader::{ReadError, TraceReader};
use super::record::{ExecutionOutcome, ExecutionRecord};
use crate::ident::{JobName, ShardingItem};

/// The runs of items of a job that are read for its newest fires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewestRuns {
    /// The job.
    pub job: JobName,
    /// The largest number of runs of items, those that started last. Where there are more, the oldest fire may be told by a part of its
    /// runs.
    pub most: u32,
    /// Only runs that started at this time or later. A fire some of whose items started before is told by the others.
    pub from: Option<DateTime<Utc>>,
}

/// The ends of the items of a fire, counted. Runs without a scheduled time are of one fire when they began in the same second.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FireCount {
    /// The job.
    pub job_name: String,
    /// The scheduled time. `None` for a fire that was triggered by hand, and for those of Java instances.
    pub scheduled_at: Option<DateTime<Utc>>,
    /// The start of the run that started first.
    pub started: DateTime<Utc>,
    /// The number of runs of items: more than items, where an item ran again.
    pub runs: u64,
    /// The number of items that ran.
    pub items: u64,
    /// The number of them that ended well, if not at their first run.
    pub succeeded: u64,
    /// The number of items that ended, and of which no run ended well.
    pub failed: u64,
    /// The number of items that have no run with an end: they run, or their process was killed.
    pub no_end: u64,
}

impl FireCount {
    /// By job, and of each job the newest first.
    pub(crate) fn in_order(mut fires: Vec<Self>) -> Vec<Self> {
        let time = |fire: &Self| Reverse(fire.scheduled_at.unwrap_or(fire.started));
        fires.sort_by(|one, other| (&one.job_name, time(one)).cmp(&(&other.job_name, time(other))));
        fires
    }
}

/// Counts records, one job after the other.
pub(super) async fn of_records<R: TraceReader + ?Sized>(
    reader: &R,
    wanted: &[NewestRuns],
) -> Result<Vec<FireCount>, ReadError> {
    let mut all = Vec::new();
    for NewestRuns { job, most, from } in wanted {
        let filter = ExecutionFilter { from: *from, ..ExecutionFilter::of_job(job.clone()) };
        let (mut records, mut cursor) = (Vec::new(), None);
        loop {
            let missing = most.saturating_sub(u32::try_from(records.len()).unwrap_or(u32::MAX));
            if missing == 0 {
                break;
            }
            let page = reader.executions(&filter, &PageRequest::default().limit(missing).after(cursor)).await?;
            records.extend(page.records);
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        all.extend(fires(records));
    }
    Ok(FireCount::in_order(all))
}

/// A fire while its records are counted.
struct Counting {
    fire: FireCount,
    /// How each item stands: well once a run of it ended well, else failed once one failed.
    items: BTreeMap<ShardingItem, ExecutionOutcome>,
}

impl Counting {
    fn of(record: &ExecutionRecord) -> Self {
        let fire = FireCount {
            job_name: record.job_name.clone(),
            scheduled_at: record.scheduled_at,
            started: record.start_time,
            runs: 0,
            items: 0,
            succeeded: 0,
            failed: 0,
            no_end: 0,
        };
        Self { fire, items: BTreeMap::new() }
    }

    fn add(&mut self, record: &ExecutionRecord) {
        self.fire.runs += 1;
        self.fire.started = self.fire.started.min(record.start_time);
        let known = self.items.entry(record.sharding_item).or_insert(record.outcome);
        if *known == ExecutionOutcome::NoEnd || record.outcome == ExecutionOutcome::Succeeded {
            *known = record.outcome;
        }
    }

    fn counted(self) -> FireCount {
        let count = |outcome| self.items.values().filter(|one| **one == outcome).count() as u64;
        FireCount {
            items: self.items.len() as u64,
            succeeded: count(ExecutionOutcome::Succeeded),
            failed: count(ExecutionOutcome::Failed),
            no_end: count(ExecutionOutcome::NoEnd),
            ..self.fire
        }
    }
}

/// The fires of the records of one job.
fn fires(records: Vec<ExecutionRecord>) -> impl Iterator<Item = FireCount> {
    let mut fires: BTreeMap<_, Counting> = BTreeMap::new();
    for record in records {
        let second = record.scheduled_at.is_none().then(|| record.start_time.timestamp());
        let fire = fires.entry((record.scheduled_at, second)).or_insert_with(|| Counting::of(&record));
        fire.add(&record);
    }
    fires.into_values().map(Counting::counted)
}
