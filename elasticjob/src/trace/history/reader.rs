//! The interface of readers.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use elasticjob_syntax::message::Message;

use super::filter::{DecisionFilter, ExecutionFilter, LogFilter, StateFilter};
use super::fires::{FireCount, NewestRuns, of_records};
use super::page::{Page, PageRequest};
use super::parts::{RunParts, count_each};
use super::record::{DecisionRecord, ExecutionRecord, LogRecord, RunCount, StateRecord};

/// Reads what a [`TracingStorage`](crate::trace::TracingStorage) keeps. It changes nothing, and needs no right to.
pub trait TraceReader: Send + Sync + 'static {
    /// A page of the runs of items, the one that started last first.
    ///
    /// # Errors
    /// [`ReadError`].
    fn executions(
        &self,
        filter: &ExecutionFilter,
        page: &PageRequest,
    ) -> impl Future<Output = Result<Page<ExecutionRecord>, ReadError>> + Send;

    /// How the runs of items ended that a filter leaves, of the `most` that started last. The default reads their records;
    /// a reader whose storage can count does better.
    ///
    /// # Errors
    /// [`ReadError`].
    fn count(&self, filter: &ExecutionFilter, most: u32) -> impl Future<Output = Result<RunCount, ReadError>> + Send {
        count_records(self, filter, most)
    }

    /// How the runs of items of some jobs ended, by parts of a time: for each element of `wanted` one number for each of its
    /// parts. The default counts one part after the other; a reader whose storage can group does better.
    ///
    /// # Errors
    /// [`ReadError`].
    fn count_parts(&self, wanted: &[RunParts]) -> impl Future<Output = Result<Vec<Vec<RunCount>>, ReadError>> + Send {
        count_each(self, wanted)
    }

    /// The newest fires of some jobs, each with how its items ended: by job, and of each job the newest first. The default
    /// reads the records of one job after the other; a reader whose storage can count does better.
    ///
    /// # Errors
    /// [`ReadError`].
    fn fires(&self, wanted: &[NewestRuns]) -> impl Future<Output = Result<Vec<FireCount>, ReadError>> + Send {
        of_records(self, wanted)
    }

    /// A page of the changes of state, the last one first.
    ///
    /// # Errors
    /// [`ReadError`].
    fn states(
        &self,
        filter: &StateFilter,
        page: &PageRequest,
    ) -> impl Future<Output = Result<Page<StateRecord>, ReadError>> + Send;

    /// A page of the decisions, the last one first.
    ///
    /// # Errors
    /// [`ReadError`].
    fn decisions(
        &self,
        filter: &DecisionFilter,
        page: &PageRequest,
    ) -> impl Future<Output = Result<Page<DecisionRecord>, ReadError>> + Send;

    /// The lines of the log of a run in their order, at most `limit`. The default finds none; a reader whose storage keeps
    /// the logs of runs does better.
    ///
    /// # Errors
    /// [`ReadError`]; [`ReadError::NoTable`] where no log of a run was ever kept.
    fn log(&self, filter: &LogFilter, limit: u32) -> impl Future<Output = Result<Vec<LogRecord>, ReadError>> + Send {
        let _ = (filter, limit);
        std::future::ready(Ok(Vec::new()))
    }
}

/// Counts records of pages.
async fn count_records<R: TraceReader + ?Sized>(
    reader: &R,
    filter: &ExecutionFilter,
    most: u32,
) -> Result<RunCount, ReadError> {
    let (mut count, mut cursor) = (RunCount::default(), None);
    loop {
        let missing = u64::from(most) - count.runs.min(most.into());
        let request = PageRequest::default().limit(u32::try_from(missing).unwrap_or(u32::MAX)).after(cursor);
        let page = reader.executions(filter, &request).await?;
        let records = page.records.iter().zip(0..missing);
        records.for_each(|(record, _)| count.add(record.outcome));
        cursor = page.next;
        if cursor.is_none() || count.runs >= most.into() {
            return Ok(count);
        }
    }
}

/// Why records cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The storage is away, or refuses.
    #[error("{at} cannot be read: {why}")]
    Unavailable {
        /// The storage, without a password.
        at: Message,
        /// Its answer.
        why: Message,
    },
    /// The storage was not reached since the program started, and is dialled again.
    #[error("{at} cannot be read: it is away since {} and is dialled again: {why}", .since.to_rfc3339_opts(SecondsFormat::Secs, true))]
    NotReached {
        /// The storage, without a password.
        at: Message,
        /// The first time that it was dialled.
        since: DateTime<Utc>,
        /// What became of the last time.
        why: Message,
    },
    /// The storage has no such records: the table is missing.
    #[error(
        "{at} has no table {table}: no program has traced to it so far, or it is another database; see `elasticjob.tracing`"
    )]
    NoTable {
        /// The storage, without a password.
        at: Message,
        /// The table.
        table: &'static str,
    },
    /// The storage gave no answer in time.
    #[error("the records cannot be read: there was no answer within {} s", .limit.as_secs())]
    TooSlow {
        /// The time that it had.
        limit: Duration,
    },
    /// The storage may answer, and other reads take all its connections: this read got none in time. It can be tried again.
    #[error(
        "all connections that read {at} are taken ({connections} at most), and none of them became free for this read within {} s: \
         try again later; where this comes again, ask for a shorter time range or for one job, and have the administrator of the \
         database look whether it is busy",
        .waited.as_secs()
    )]
    TooManyReaders {
        /// The storage, without a password.
        at: Message,
        /// How many connections read at a time at most.
        connections: u32,
        /// How long the read waited for one of them.
        waited: Duration,
    },
    /// A filter needs a column that the table does not have.
    #[error(
        "table {table} in {at} has no column {column}, so records cannot be found by it; a program that may alter the table adds it \
         when it starts to trace"
    )]
    NoColumn {
        /// The storage, without a password.
        at: Message,
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
    },
}

type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, ReadError>> + Send + 'a>>;

/// A reader of any type.
pub struct AnyTraceReader(Box<dyn Calls>);

impl AnyTraceReader {
    /// Wraps a reader.
    pub fn new(reader: impl TraceReader) -> Self {
        Self(Box::new(reader))
    }
}

impl TraceReader for AnyTraceReader {
    async fn executions(
        &self,
        filter: &ExecutionFilter,
        page: &PageRequest,
    ) -> Result<Page<ExecutionRecord>, ReadError> {
        self.0.executions(filter, page).await
    }

    async fn count(&self, filter: &ExecutionFilter, most: u32) -> Result<RunCount, ReadError> {
        self.0.count(filter, most).await
    }

    async fn count_parts(&self, wanted: &[RunParts]) -> Result<Vec<Vec<RunCount>>, ReadError> {
        self.0.count_parts(wanted).await
    }

    async fn fires(&self, wanted: &[NewestRuns]) -> Result<Vec<FireCount>, ReadError> {
        self.0.fires(wanted).await
    }

    async fn states(&self, filter: &StateFilter, page: &PageRequest) -> Result<Page<StateRecord>, ReadError> {
        self.0.states(filter, page).await
    }

    async fn decisions(&self, filter: &DecisionFilter, page: &PageRequest) -> Result<Page<DecisionRecord>, ReadError> {
        self.0.decisions(filter, page).await
    }

    async fn log(&self, filter: &LogFilter, limit: u32) -> Result<Vec<LogRecord>, ReadError> {
        self.0.log(filter, limit).await
    }
}

impl fmt::Debug for AnyTraceReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyTraceReader").finish_non_exhaustive()
    }
}

/// A reader, called through a pointer.
trait Calls: Send + Sync {
    fn executions<'a>(
        &'a self,
        filter: &'a ExecutionFilter,
        page: &'a PageRequest,
    ) -> Pending<'a, Page<ExecutionRecord>>;
    fn count<'a>(&'a self, filter: &'a ExecutionFilter, most: u32) -> Pending<'a, RunCount>;
    fn count_parts<'a>(&'a self, wanted: &'a [RunParts]) -> Pending<'a, Vec<Vec<RunCount>>>;
    fn fires<'a>(&'a self, wanted: &'a [NewestRuns]) -> Pending<'a, Vec<FireCount>>;
    fn states<'a>(&'a self, filter: &'a StateFilter, page: &'a PageRequest) -> Pending<'a, Page<StateRecord>>;
    fn decisions<'a>(&'a self, filter: &'a DecisionFilter, page: &'a PageRequest) -> Pending<'a, Page<DecisionRecord>>;
    fn log<'a>(&'a self, filter: &'a LogFilter, limit: u32) -> Pending<'a, Vec<LogRecord>>;
}

impl<R: TraceReader> Calls for R {
    fn executions<'a>(
        &'a self,
        filter: &'a ExecutionFilter,
        page: &'a PageRequest,
    ) -> Pending<'a, Page<ExecutionRecord>> {
        Box::pin(TraceReader::executions(self, filter, page))
    }

    fn count<'a>(&'a self, filter: &'a ExecutionFilter, most: u32) -> Pending<'a, RunCount> {
        Box::pin(TraceReader::count(self, filter, most))
    }

    fn count_parts<'a>(&'a self, wanted: &'a [RunParts]) -> Pending<'a, Vec<Vec<RunCount>>> {
        Box::pin(TraceReader::count_parts(self, wanted))
    }

    fn fires<'a>(&'a self, wanted: &'a [NewestRuns]) -> Pending<'a, Vec<FireCount>> {
        Box::pin(TraceReader::fires(self, wanted))
    }

    fn states<'a>(&'a self, filter: &'a StateFilter, page: &'a PageRequest) -> Pending<'a, Page<StateRecord>> {
        Box::pin(TraceReader::states(self, filter, page))
    }

    fn decisions<'a>(&'a self, filter: &'a DecisionFilter, page: &'a PageRequest) -> Pending<'a, Page<DecisionRecord>> {
        Box::pin(TraceReader::decisions(self, filter, page))
    }

    fn log<'a>(&'a self, filter: &'a LogFilter, limit: u32) -> Pending<'a, Vec<LogRecord>> {
        Box::pin(TraceReader::log(self, filter, limit))
    }
}
