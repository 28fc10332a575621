//! Filters of records. Every condition that is set must hold.

use chrono::{DateTime, Utc};

use crate::fire::ExecutionSource;
use crate::ident::{InstanceId, JobName, ShardingItem};
use crate::trace::{DecisionKind, ExecutionOutcome, ExecutionType, LogLevel, TaskState};

/// Selects the runs of items that are read. The default is all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExecutionFilter {
    /// The run whose record has this id.
    pub id: Option<String>,
    /// Runs of this job.
    pub job: Option<JobName>,
    /// Runs of jobs whose name matches one of these patterns; empty for all jobs. `*` stands for any number of characters.
    /// Where a database does not tell capitals apart, neither does this.
    pub jobs: Vec<String>,
    /// Runs of this item.
    pub item: Option<ShardingItem>,
    /// Runs that started at this time or later.
    pub from: Option<DateTime<Utc>>,
    /// Runs that started before this time.
    pub until: Option<DateTime<Utc>>,
    /// Runs on this instance; Java instances included.
    pub instance: Option<InstanceId>,
    /// Runs on the server with this address.
    pub ip: Option<String>,
    /// Runs for the fire of this scheduled time. A Java instance does not write it.
    pub scheduled_at: Option<DateTime<Utc>>,
    /// Runs that ended so.
    pub outcome: Option<ExecutionOutcome>,
    /// Runs of this kind.
    pub source: Option<ExecutionSource>,
    /// The items that began together in this run. A Java instance writes no run id.
    pub run_id: Option<String>,
    /// Runs of this task, by its id; Java instances included.
    pub task_id: Option<String>,
}

/// Selects the changes of state that are read. The default is all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StateFilter {
    /// States of this job.
    pub job: Option<JobName>,
    /// States of jobs whose name matches one of these patterns; empty for all jobs. `*` stands for any number of characters.
    /// Where a database does not tell capitals apart, neither does this.
    pub jobs: Vec<String>,
    /// States that were entered at this time or later.
    pub from: Option<DateTime<Utc>>,
    /// States that were entered before this time.
    pub until: Option<DateTime<Utc>>,
    /// States of runs on this instance; Java instances included.
    pub instance: Option<InstanceId>,
    /// States of runs on the server with this address.
    pub ip: Option<String>,
    /// This state.
    pub state: Option<TaskState>,
    /// The state of this name, as it is written: also one that only other programs write, as `TASK_LOST` of ElasticJob-Cloud. With
    /// [`state`](Self::state) both have to hold. Where a database does not tell capitals apart, neither does this.
    pub state_name: Option<String>,
    /// Runs of this kind.
    pub execution_type: Option<ExecutionType>,
    /// The states of this run. A Java instance writes no run id.
    pub run_id: Option<String>,
    /// The states of this task, by its id; Java instances included.
    pub task_id: Option<String>,
}

/// Selects the decisions that are read. The default is all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecisionFilter {
    /// Decisions about this job.
    pub job: Option<JobName>,
    /// Decisions about jobs whose name matches one of these patterns; empty for all jobs. `*` stands for any number of characters.
    /// Where a database does not tell capitals apart, neither does this.
    pub jobs: Vec<String>,
    /// Decisions about this item.
    pub item: Option<ShardingItem>,
    /// Decisions that this instance made.
    pub instance: Option<InstanceId>,
    /// Decisions that instances made on the server with this address.
    pub ip: Option<String>,
    /// Decisions that were made at this time or later.
    pub from: Option<DateTime<Utc>>,
    /// Decisions that were made before this time.
    pub until: Option<DateTime<Utc>>,
    /// Decisions about the fire of this scheduled time.
    pub fire: Option<DateTime<Utc>>,
    /// Decisions of these kinds; empty for all kinds.
    pub kinds: Vec<DecisionKind>,
}

/// Selects the lines of the log of a run that are read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogFilter {
    /// The job. Lines of another one are not read, whatever the run.
    pub job: JobName,
    /// The id of the record of the run of an item: [`ExecutionRecord::id`](crate::trace::ExecutionRecord::id).
    pub execution_id: String,
    /// Lines after the one with this number. 0 for all.
    pub after: u32,
    /// Lines of this level, and those that matter more.
    pub level: Option<LogLevel>,
    /// Lines that contain this text. Where a database does not tell capitals apart, neither does this.
    pub contains: Option<String>,
}

impl ExecutionFilter {
    /// All runs of a job.
    pub fn of_job(job: JobName) -> Self {
        Self { job: Some(job), ..Self::default() }
    }
}

impl DecisionFilter {
    /// All decisions about a job.
    pub fn of_job(job: JobName) -> Self {
        Self { job: Some(job), ..Self::default() }
    }
}

impl LogFilter {
    /// All lines of the run of an item.
    pub fn of_run(job: JobName, execution_id: impl Into<String>) -> Self {
        Self { job, execution_id: execution_id.into(), after: 0, level: None, contains: None }
    }
}

impl StateFilter {
    /// All states of a job.
    pub fn of_job(job: JobName) -> Self {
        Self { job: Some(job), ..Self::default() }
    }
}
