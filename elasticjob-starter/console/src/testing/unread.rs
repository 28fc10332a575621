//! A database of traces that cannot be read.

use elasticjob::trace::{
    DecisionFilter, DecisionRecord, ExecutionFilter, ExecutionRecord, Page, PageRequest, ReadError, StateFilter,
    StateRecord, TraceReader,
};

/// Each read fails with this error.
pub(crate) struct Unread(pub(crate) ReadError);

impl TraceReader for Unread {
    async fn executions(&self, _: &ExecutionFilter, _: &PageRequest) -> Result<Page<ExecutionRecord>, ReadError> {
        Err(self.0.clone())
    }

    async fn states(&self, _: &StateFilter, _: &PageRequest) -> Result<Page<StateRecord>, ReadError> {
        Err(self.0.clone())
    }

    async fn decisions(&self, _: &DecisionFilter, _: &PageRequest) -> Result<Page<DecisionRecord>, ReadError> {
        Err(self.0.clone())
    }
}
