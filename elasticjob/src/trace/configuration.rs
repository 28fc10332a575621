//! The configuration of tracing: which jobs are traced, and which storage keeps their events.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::run_log::RunLogOptions;
use super::storage::{AnyTracingStorage, TracingStorage};
use crate::ident::JobName;

/// The default of the most events that wait for a storage that is slow or away.
const QUEUE: usize = 10_000;

/// Tracing of the jobs of an environment.
#[derive(Debug, Clone)]
pub struct TracingConfiguration {
    pub(super) storage: Arc<AnyTracingStorage>,
    pub(super) jobs: JobSelection,
    pub(super) queue: usize,
    pub(super) run_log: Option<RunLogOptions>,
    pub(super) one_run_of: u32,
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
        Self::of(Arc::new(AnyTracingStorage::new(storage)))
    }

    /// Traces all jobs to a storage of the [catalog](crate::spi::Catalog::tracing_storages).
    pub fn of(storage: Arc<AnyTracingStorage>) -> Self {
        Self { storage, jobs: JobSelection::All, queue: QUEUE, run_log: None, one_run_of: 1 }
    }

    /// The jobs that are traced; default: all.
    #[must_use]
    pub fn jobs(mut self, jobs: JobSelection) -> Self {
        self.jobs = jobs;
        self
    }

    /// The most events that wait for a storage that is slow or away. Default 10,000, 1 at the least. Events that do not
    /// fit are lost, counted and reported in the log. An event takes some hundred bytes, with a long error text up to
    /// 16 KB.
    #[must_use]
    pub fn queue(mut self, events: usize) -> Self {
        self.queue = events.max(1);
        self
    }

    /// Keeps what jobs log within their runs. Default: it is not kept. Numbers out of their range become the nearest of it.
    #[must_use]
    pub fn run_log(mut self, options: impl Into<Option<RunLogOptions>>) -> Self {
        self.run_log = options.into().map(RunLogOptions::within_range);
        self
    }

    /// Traces one run of so many of each job, the first one first. Default: each; 0 counts as 1. Of the runs between, only
    /// those that fail are told, at their end. Decisions are always told.
    #[must_use]
    pub fn one_run_of(mut self, runs: u32) -> Self {
        self.one_run_of = runs.max(1);
        self
    }
}
