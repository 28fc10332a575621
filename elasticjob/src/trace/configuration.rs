//! What is traced, and where to.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::storage::{JobTracingStorage, TracingStorage};
use crate::ident::JobName;

/// How many events wait at most for a storage that is slow or away, unless configured otherwise.
const QUEUE: usize = 10_000;

/// Tracing of the jobs of an environment.
#[derive(Debug, Clone)]
pub struct TracingConfiguration {
    pub(super) storage: Arc<JobTracingStorage>,
    pub(super) jobs: JobSelection,
    pub(super) queue: usize,
}

/// The jobs that are traced.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum JobSelection {
    /// Every one.
    #[default]
    All,
    /// Only these.
    Only(BTreeSet<String>),
    /// All but these.
    Except(BTreeSet<String>),
}

impl JobSelection {
    /// Whether a job is among them.
    pub fn contains(&self, job: &JobName) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => names.contains(job.as_str()),
            Self::Except(names) => !names.contains(job.as_str()),
        }
    }
}

impl TracingConfiguration {
    /// Traces all jobs to this storage.
    pub fn new(storage: impl TracingStorage) -> Self {
        Self::of(Arc::new(JobTracingStorage::new(storage)))
    }

    /// Traces all jobs to a storage of the [catalog](crate::spi::Catalog::tracing_storages).
    pub fn of(storage: Arc<JobTracingStorage>) -> Self {
        Self { storage, jobs: JobSelection::All, queue: QUEUE }
    }

    /// The jobs that are traced; default: all.
    #[must_use]
    pub fn jobs(mut self, jobs: JobSelection) -> Self {
        self.jobs = jobs;
        self
    }

    /// How many events wait at most for a storage that is slow or away; default 10,000, at least 1. What does not fit is
    /// lost, counted and said in the log. An event takes some hundred bytes, with a long error text up to 16 KB.
    #[must_use]
    pub fn queue(mut self, events: usize) -> Self {
        self.queue = events.max(1);
        self
    }
}
