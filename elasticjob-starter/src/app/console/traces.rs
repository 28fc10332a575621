//! The traces of a program whose jobs trace to several storages: each job is read from its own one, and what is asked about all
//! jobs from all of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use elasticjob::ident::JobName;
use elasticjob::trace::{
    AnyTraceReader, Cursor, DecisionFilter, DecisionRecord, ExecutionFilter, ExecutionRecord, FireCount, LogFilter,
    LogRecord, NewestRuns, Page, PageRequest, ReadError, RunCount, RunParts, StateFilter, StateRecord, TraceReader,
};

/// Reads the storages of the jobs of a registry center.
pub(super) struct TracesOfJobs {
    readers: BTreeMap<String, Arc<AnyTraceReader>>,
    /// The storage of a job that is not here.
    usual: String,
    /// The storage of each job by its name. One without a reader cannot be read: nothing is found there.
    of_jobs: BTreeMap<JobName, String>,
}

impl TracesOfJobs {
    pub(super) fn new(
        readers: BTreeMap<String, Arc<AnyTraceReader>>,
        usual: impl Into<String>,
        of_jobs: BTreeMap<JobName, String>,
    ) -> Self {
        Self { readers, usual: usual.into(), of_jobs }
    }

    fn of(&self, job: &JobName) -> Option<&AnyTraceReader> {
        self.readers.get(self.of_jobs.get(job).unwrap_or(&self.usual)).map(|reader| &**reader)
    }

    async fn read<F: Filter>(&self, filter: &F, page: &PageRequest) -> Result<Page<F::Record>, ReadError> {
        match filter.job().map(|job| self.of(job)) {
            Some(Some(reader)) => filter.read(reader, page).await,
            Some(None) => Ok(Page::of(Vec::new(), page, F::place)),
            None => self.read_all(filter, page).await,
        }
    }

    /// The newest records of all storages. A storage without the table has none.
    async fn read_all<F: Filter>(&self, filter: &F, page: &PageRequest) -> Result<Page<F::Record>, ReadError> {
        let (mut all, mut missing) = (Vec::new(), None);
        for reader in self.readers.values() {
            match newest(reader, filter, page).await {
                Ok(records) => all.push(records),
                Err(no_table @ ReadError::NoTable { .. }) => missing = Some(no_table),
                Err(error) => return Err(error),
            }
        }
        if let Some(no_table) = missing.filter(|_| all.is_empty()) {
            return Err(no_table);
        }
        let mut records: Vec<F::Record> = all.into_iter().flatten().collect();
        records.sort_by_cached_key(|record| std::cmp::Reverse(key(&F::place(record))));
        Ok(Page::of(records, page, F::place))
    }
}

/// The records of one storage that may be on a page, and those after it where a page follows.
///
/// The place of the page is one in the order of all storages: by the instant, as each has its own clock and precision.
async fn newest<F: Filter>(
    reader: &AnyTraceReader,
    filter: &F,
    page: &PageRequest,
) -> Result<Vec<F::Record>, ReadError> {
    let (mut filter, after) = (filter.clone(), page.cursor());
    if let Some(at) = after.and_then(|cursor| DateTime::from_timestamp_micros(cursor.time())) {
        filter.until_at_most(at + TimeDelta::milliseconds(1));
    }
    let (mut found, mut next) = (Vec::new(), None);
    loop {
        let read = filter.read(reader, &PageRequest::default().limit(page.size()).after(next)).await?;
        let is_after = |record: &F::Record| after.is_none_or(|after| key(&F::place(record)) < key(after));
        found.extend(read.records.into_iter().filter(is_after));
        next = read.next;
        if next.is_none() || found.len() > usize::try_from(page.size()).unwrap_or(usize::MAX) {
            return Ok(found);
        }
    }
}

fn key(cursor: &Cursor) -> (i64, String) {
    (cursor.time(), cursor.id().to_owned())
}

/// What is asked of records of a kind.
trait Filter: Clone + Sync {
    type Record: Send;

    fn job(&self) -> Option<&JobName>;

    fn until_at_most(&mut self, until: DateTime<Utc>);

    fn read(
        &self,
        reader: &AnyTraceReader,
        page: &PageRequest,
    ) -> impl Future<Output = Result<Page<Self::Record>, ReadError>> + Send;

    /// The place after a record, in microseconds since 1970.
    fn place(record: &Self::Record) -> Cursor;
}

macro_rules! filter {
    ($filter:ty, $record:ty, $read:ident, $time:ident) => {
        impl Filter for $filter {
            type Record = $record;

            fn job(&self) -> Option<&JobName> {
                self.job.as_ref()
            }

            fn until_at_most(&mut self, until: DateTime<Utc>) {
                self.until = Some(self.until.map_or(until, |given| given.min(until)));
            }

            async fn read(&self, reader: &AnyTraceReader, page: &PageRequest) -> Result<Page<$record>, ReadError> {
                reader.$read(self, page).await
            }

            fn place(record: &$record) -> Cursor {
                Cursor::after(record.$time.timestamp_micros(), record.id.as_str())
            }
        }
    };
}

filter!(ExecutionFilter, ExecutionRecord, executions, start_time);
filter!(StateFilter, StateRecord, states, creation_time);
filter!(DecisionFilter, DecisionRecord, decisions, at);

impl TraceReader for TracesOfJobs {
    async fn executions(
        &self,
        filter: &ExecutionFilter,
        page: &PageRequest,
    ) -> Result<Page<ExecutionRecord>, ReadError> {
        self.read(filter, page).await
    }

    /// Of all jobs each storage counts its own ones.
    async fn count(&self, filter: &ExecutionFilter, most: u32) -> Result<RunCount, ReadError> {
        if let Some(job) = &filter.job {
            return match self.of(job) {
                Some(reader) => reader.count(filter, most).await,
                None => Ok(RunCount::default()),
            };
        }
        let mut all = RunCount::default();
        for reader in self.readers.values() {
            let count = reader.count(filter, most).await?;
            all.runs += count.runs;
            all.failed += count.failed;
            all.no_end += count.no_end;
        }
        Ok(all)
    }

    /// Each storage counts its own jobs. Of a job whose storage cannot be read there is nothing.
    async fn count_parts(&self, wanted: &[RunParts]) -> Result<Vec<Vec<RunCount>>, ReadError> {
        let mut all: Vec<_> = wanted.iter().map(|one| vec![RunCount::default(); one.parts().len()]).collect();
        for (name, reader) in &self.readers {
            let is_of_reader = |one: &RunParts| self.of_jobs.get(&one.job).unwrap_or(&self.usual) == name;
            let places: Vec<usize> = (0..wanted.len()).filter(|place| is_of_reader(&wanted[*place])).collect();
            if places.is_empty() {
                continue;
            }
            let wanted: Vec<RunParts> = places.iter().map(|place| wanted[*place].clone()).collect();
            for (place, counts) in places.into_iter().zip(reader.count_parts(&wanted).await?) {
                all[place] = counts;
            }
        }
        Ok(all)
    }

    async fn fires(&self, wanted: &[NewestRuns]) -> Result<Vec<FireCount>, ReadError> {
        let (mut fires, mut missing, mut is_found) = (Vec::new(), None, false);
        for (name, reader) in &self.readers {
            let of_reader = |one: &&NewestRuns| self.of_jobs.get(&one.job).unwrap_or(&self.usual) == name;
            let wanted: Vec<NewestRuns> = wanted.iter().filter(of_reader).cloned().collect();
            if wanted.is_empty() {
                continue;
            }
            match reader.fires(&wanted).await {
                Ok(found) => {
                    fires.extend(found);
                    is_found = true;
                }
                Err(no_table @ ReadError::NoTable { .. }) => missing = Some(no_table),
                Err(error) => return Err(error),
            }
        }
        if let Some(no_table) = missing.filter(|_| !is_found) {
            return Err(no_table);
        }
        // Those of a job are in order already.
        fires.sort_by(|one, other| one.job_name.cmp(&other.job_name));
        Ok(fires)
    }

    async fn states(&self, filter: &StateFilter, page: &PageRequest) -> Result<Page<StateRecord>, ReadError> {
        self.read(filter, page).await
    }

    async fn decisions(&self, filter: &DecisionFilter, page: &PageRequest) -> Result<Page<DecisionRecord>, ReadError> {
        self.read(filter, page).await
    }

    async fn log(&self, filter: &LogFilter, limit: u32) -> Result<Vec<LogRecord>, ReadError> {
        match self.of(&filter.job) {
            Some(reader) => reader.log(filter, limit).await,
            None => Ok(Vec::new()),
        }
    }
}

#[cfg(all(test, feature = "tracing-sqlite"))]
mod tests;
