//! Records as they are read. Fields that only this implementation writes are `None` in records of Java instances and
//! of older tables.

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use crate::ident::ShardingItem;
use crate::trace::JobDecisionEvent;

/// The run of one item.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExecutionRecord {
    /// The id of the record.
    pub id: String,
    /// The job.
    pub job_name: String,
    /// The id of the run as ElasticJob writes it: the same for all runs of the same items on the same instance.
    pub task_id: String,
    /// The name of the host.
    pub hostname: String,
    /// The address of the server.
    pub ip: String,
    /// The item.
    pub sharding_item: ShardingItem,
    /// Why it was run, as it was written: `NORMAL_TRIGGER`, `MISFIRE` or `FAILOVER`.
    pub source: String,
    /// The time of its start.
    pub start_time: DateTime<Utc>,
    /// The time of its end; `None` while it runs, and for ever where its process was killed.
    pub complete_time: Option<DateTime<Utc>>,
    /// The outcome so far.
    pub outcome: ExecutionOutcome,
    /// Why it did not end well.
    pub failure_cause: Option<String>,
    /// The run of all items that began together on the instance.
    pub run_id: Option<String>,
    /// The scheduled time of the fire; also `None` for a run that was triggered by hand.
    pub scheduled_at: Option<DateTime<Utc>>,
    /// The instance. For a record of a Java instance, the end of its task id says it.
    pub instance: Option<String>,
    /// The attempt that began it; also `None` where execution is not monitored.
    pub attempt: Option<String>,
}

/// The outcome of a run so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExecutionOutcome {
    /// No end was written: it runs, or its process was killed.
    NoEnd,
    /// It ended well.
    Succeeded,
    /// It failed, or was cut off.
    Failed,
}

impl ExecutionOutcome {
    /// The name for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoEnd => "NO_END",
            Self::Succeeded => "SUCCEEDED",
            Self::Failed => "FAILED",
        }
    }
}

/// The numbers of runs of items by their outcome. Where as many were counted as were asked for, there may be older ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunCount {
    /// All that were counted.
    pub runs: u64,
    /// Those that ended and did not end well.
    pub failed: u64,
    /// Those without an end: they run, or their process was killed.
    pub no_end: u64,
}

impl RunCount {
    /// Counts one more.
    pub(crate) fn add(&mut self, outcome: ExecutionOutcome) {
        self.runs += 1;
        self.failed += u64::from(outcome == ExecutionOutcome::Failed);
        self.no_end += u64::from(outcome == ExecutionOutcome::NoEnd);
    }
}

/// A change of state of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StateRecord {
    /// The id of the record.
    pub id: String,
    /// The job.
    pub job_name: String,
    /// The id of the run as ElasticJob writes it: the same for all runs of the same items on the same instance.
    pub task_id: String,
    /// The address of the server.
    pub ip: String,
    /// `READY` or `FAILOVER`.
    pub execution_type: String,
    /// The items, as they were written: `[0, 1]`, cut after 100 characters.
    pub sharding_items: String,
    /// The state, as it was written, for example `TASK_RUNNING`.
    pub state: String,
    /// A message about the state; usually empty.
    pub message: String,
    /// The time of the change.
    pub creation_time: DateTime<Utc>,
    /// The run of all items that began together on the instance.
    pub run_id: Option<String>,
    /// The scheduled time of the fire; also `None` for a run that was triggered by hand.
    pub scheduled_at: Option<DateTime<Utc>>,
    /// The instance. For a record of a Java instance, the end of its task id says it.
    pub instance: Option<String>,
    /// The attempt that began the run; also `None` where execution is not monitored.
    pub attempt: Option<String>,
}

/// A decision about a job.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DecisionRecord {
    /// The id of the record.
    pub id: String,
    /// The job.
    pub job_name: String,
    /// The time of the decision.
    pub at: DateTime<Utc>,
    /// The kind of the decision: the name of a [`DecisionKind`](crate::trace::DecisionKind), or of a kind that a later release has.
    pub kind: String,
    /// The scheduled time of the fire that it is about, or of the first of these fires.
    pub scheduled_at: Option<DateTime<Utc>>,
    /// The fire that is run instead, where it is about all fires before that one.
    pub scheduled_until: Option<DateTime<Utc>>,
    /// The items; empty for the whole job or fire.
    pub sharding_items: Vec<ShardingItem>,
    /// The instance that decided it; `None` for an action of an operator.
    pub instance: Option<String>,
    /// Another instance that it is about, for example the one whose run was taken over.
    pub related_instance: Option<String>,
    /// Why, in English; empty where the kind says it all.
    pub reason: String,
    /// The values that a text in another language needs.
    pub detail: Map<String, Value>,
}

/// The record of an event, for readers of own storages.
impl From<JobDecisionEvent> for DecisionRecord {
    fn from(event: JobDecisionEvent) -> Self {
        Self {
            id: event.id,
            job_name: event.job_name.to_string(),
            at: event.at,
            kind: event.kind.as_str().to_owned(),
            scheduled_at: event.scheduled_at,
            scheduled_until: event.scheduled_until,
            sharding_items: event.sharding_items,
            instance: event.instance.map(|id| id.to_string()),
            related_instance: event.related_instance.map(|id| id.to_string()),
            reason: event.reason,
            detail: event.detail,
        }
    }
}

/// A line of the log of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogRecord {
    /// The number of the line in its run, from 1.
    pub line: u32,
    /// The time at which it was logged.
    pub at: DateTime<Utc>,
    /// The name of a [`LogLevel`](crate::trace::LogLevel).
    pub level: String,
    /// The origin of the line: usually the path of a module.
    pub target: String,
    /// The text of the line; it may have several lines.
    pub message: String,
    /// The number of lines between the one before and this one that were left out.
    pub left_out: u32,
}

impl LogRecord {
    /// Whether it says only that the last lines of the run were left out.
    pub fn is_gap(&self) -> bool {
        self.left_out > 0 && self.target.is_empty() && self.message.is_empty()
    }
}
