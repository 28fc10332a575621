//! Tracing: events about fires and items, which go to a storage outside of the job.
//!
//! [`JobEvent`]s are the events of ElasticJob. In addition each run has an id of its own: the task id is the same for
//! all runs of the same items on the same instance. A [`TracingStorage`] keeps the events. The built-in one is `RDB`,
//! tables of a database, in the module `rdb`; a program adds its own ones by type name.
//!
//! No job waits for a storage: events go into a bounded queue, and one task writes them in batches. While the storage
//! is away the task tries again; events that do not fit into the queue are dropped, counted and reported in the log.
//! Without tracing none of this exists.

#[cfg(all(
    feature = "tracing-rdb",
    not(any(feature = "tracing-sqlite", feature = "tracing-postgres", feature = "tracing-mysql"))
))]
compile_error!("`tracing-rdb` brings no driver: take `tracing-sqlite`, `tracing-postgres` or `tracing-mysql`");

use chrono::{DateTime, Utc};

use crate::moment::Moment;

mod configuration;
mod counts;
mod decision;
mod event;
mod handle;
mod history;
mod loss;
#[cfg(feature = "tracing-rdb")]
pub mod rdb;
mod run_log;
mod storage;
#[cfg(test)]
mod tests;
mod writer;

/// The time of the host.
pub(crate) fn now() -> DateTime<Utc> {
    DateTime::from_timestamp_millis(Moment::now().wall_ms).unwrap_or_default()
}

/// The type name of the built-in storage.
pub const RDB: &str = "RDB";

pub use configuration::{JobSelection, TracingConfiguration};
pub use counts::{LostEvents, PostedEvents, TracingCounts};
pub use decision::{DecisionKind, JobDecisionEvent, UnknownDecision};
pub(crate) use event::cut;
pub use event::{ExecutionType, JobEvent, JobExecutionEvent, JobStatusTraceEvent, TaskState};
pub use handle::Tracing;
pub use history::{
    AnyTraceReader, Cursor, CursorError, DecisionFilter, DecisionRecord, ExecutionFilter, ExecutionOutcome,
    ExecutionRecord, FireCount, LogFilter, LogRecord, NewestRuns, OperatorAction, Page, PageRequest, ReadError,
    RunCount, RunParts, StateFilter, StateRecord, TraceReader,
};
pub use run_log::{JobLogEvent, LogLevel, RunLog, RunLogOptions, UnknownLogLevel};
pub use storage::{AnyTracingStorage, TracingStorage, WriteError};
