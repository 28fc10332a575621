//! A database of traces that never answers.

use std::future::pending;

use elasticjob::trace::{
    DecisionFilter, DecisionRecord, ExecutionFilter, ExecutionRecord, Page, PageRequest, ReadError, StateFilter,
    StateRecord, TraceReader,
};

pub(crate) struct Stuck;

impl TraceReader for Stuck {
    async fn executions(&self, _: &ExecutionFilter, _: &PageRequest) -> Result<Page<ExecutionRecord>, ReadError> {
        pending().await
    }

    async fn states(&self, _: &StateFilter, _: &PageRequest) -> Result<Page<StateRecord>, ReadError> {
        pending().await
    }

    async fn decisions(&self, _: &DecisionFilter, _: &PageRequest) -> Result<Page<DecisionRecord>, ReadError> {
        pending().await
    }
}
