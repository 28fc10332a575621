//! A database of traces that is away when the console starts.

use std::sync::Arc;

use elasticjob::config::Message;
use elasticjob::schedule::TimeZone;
use elasticjob::trace::rdb::{DataSource, RdbError, RdbTraceReader, RdbTracingStorage};
use elasticjob::trace::{
    DecisionFilter, DecisionRecord, ExecutionFilter, ExecutionRecord, FireCount, JobEvent, LogFilter, LogRecord,
    NewestRuns, Page, PageRequest, ReadError, RunCount, RunParts, StateFilter, StateRecord, TraceReader,
    TracingStorage, WriteError,
};
use elasticjob_starter::settings::TracingSettings;
use tokio::sync::OnceCell;
use tokio::task::AbortHandle;

use super::Late;
use crate::traces::storage;

/// Reads the database once it was reached; before, each question fails at once and says why.
pub(crate) struct LateReader {
    late: Arc<Late<RdbTraceReader, Message>>,
    at: Message,
    dialling: AbortHandle,
}

impl LateReader {
    /// Dials the database again until it comes. `why` is what became of the first time.
    pub(crate) fn new(at: Message, source: DataSource, zone: Option<TimeZone>, why: Message) -> Self {
        let late = Arc::new(Late::new(format!("the database of traces {at}"), why));
        let dialled = late.clone();
        let dialling = tokio::spawn(async move {
            dialled.dial(|| async { RdbTraceReader::connect(&source, zone).await.map_err(why_not) }).await;
        });
        Self { late, at, dialling: dialling.abort_handle() }
    }

    fn reader(&self) -> Result<&RdbTraceReader, ReadError> {
        self.late.get().ok_or_else(|| {
            let (since, why) = self.late.away();
            ReadError::NotReached { at: self.at.clone(), since, why }
        })
    }
}

/// What became of dialling, without the name of the database, which the error of a read has before it.
fn why_not(error: RdbError) -> Message {
    match error {
        RdbError::Connect { why, .. } => why,
        error => error.to_string().into(),
    }
}

impl Drop for LateReader {
    fn drop(&mut self) {
        self.dialling.abort();
    }
}

impl TraceReader for LateReader {
    async fn executions(
        &self,
        filter: &ExecutionFilter,
        page: &PageRequest,
    ) -> Result<Page<ExecutionRecord>, ReadError> {
        self.reader()?.executions(filter, page).await
    }

    async fn count(&self, filter: &ExecutionFilter, most: u32) -> Result<RunCount, ReadError> {
        self.reader()?.count(filter, most).await
    }

    async fn count_parts(&self, wanted: &[RunParts]) -> Result<Vec<Vec<RunCount>>, ReadError> {
        self.reader()?.count_parts(wanted).await
    }

    async fn fires(&self, wanted: &[NewestRuns]) -> Result<Vec<FireCount>, ReadError> {
        self.reader()?.fires(wanted).await
    }

    async fn states(&self, filter: &StateFilter, page: &PageRequest) -> Result<Page<StateRecord>, ReadError> {
        self.reader()?.states(filter, page).await
    }

    async fn decisions(&self, filter: &DecisionFilter, page: &PageRequest) -> Result<Page<DecisionRecord>, ReadError> {
        self.reader()?.decisions(filter, page).await
    }

    async fn log(&self, filter: &LogFilter, limit: u32) -> Result<Vec<LogRecord>, ReadError> {
        self.reader()?.log(filter, limit).await
    }
}

/// Writes to the database once it was reached; before, the writer of the tracing tries again.
pub(crate) struct LateStorage {
    settings: TracingSettings,
    storage: OnceCell<RdbTracingStorage>,
}

impl LateStorage {
    pub(crate) fn new(settings: TracingSettings) -> Self {
        Self { settings, storage: OnceCell::new() }
    }
}

impl TracingStorage for LateStorage {
    fn type_name(&self) -> &str {
        "RDB"
    }

    async fn write(&self, events: &[JobEvent]) -> Result<(), WriteError> {
        let storage = self.storage.get_or_try_init(|| storage(&self.settings)).await;
        storage.map_err(WriteError::Unavailable)?.write(events).await
    }
}

#[cfg(all(test, feature = "tracing-sqlite"))]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_read_before_the_database_came_says_since_when_it_is_away_and_why_as_data() {
        let source = DataSource::new("sqlite:/no/such/folder/trace.db").expect("the URL is right");
        let late = LateReader::new("the file".into(), source, None, "the door is closed".into());
        let read = late.decisions(&DecisionFilter::default(), &PageRequest::default()).await;
        let told = "the file cannot be read: it is away since ";
        match read {
            Err(error @ ReadError::NotReached { .. }) => {
                let text = error.to_string();
                assert!(
                    text.starts_with(told) && text.ends_with(" and is dialled again: the door is closed"),
                    "{text}"
                );
            }
            other => panic!("{other:?}"),
        }
    }
}
