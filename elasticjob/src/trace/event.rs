//! The events of a run.

use std::fmt;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::decision::JobDecisionEvent;
use super::run_log::JobLogEvent;
use crate::fire::{Attempt, ExecutionSource};
use crate::ident::{InstanceId, JobName, ShardingItem, TaskId};

/// Texts of errors are cut to this many characters, as the columns for them are no longer.
const TEXT_LIMIT: usize = 4_000;

/// An event of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum JobEvent {
    /// An item started, or ended.
    Execution(JobExecutionEvent),
    /// The run of all items of an instance changed to another state.
    Status(JobStatusTraceEvent),
    /// Something was decided that is no normal run.
    Decision(JobDecisionEvent),
    /// A job logged a line within the run of an item. Only where the logs of runs are kept.
    Log(JobLogEvent),
}

/// The run of one item. It is posted at the start and, with the same id, at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobExecutionEvent {
    /// A UUID of version 7: it sorts after those that the process made before.
    pub id: Arc<str>,
    /// The run of all items that began together on this instance. No two runs share it.
    pub run_id: Arc<str>,
    /// The job.
    pub job_name: JobName,
    /// Id of the run as ElasticJob writes it: the same for all runs of the same items on the same instance.
    pub task_id: TaskId,
    /// Name of the host.
    pub hostname: Arc<str>,
    /// The instance.
    pub instance: InstanceId,
    /// The item.
    pub sharding_item: ShardingItem,
    /// Why it is run.
    pub source: ExecutionSource,
    /// The scheduled time of the fire; `None` for a run that was triggered by hand.
    pub scheduled_at: Option<DateTime<Utc>>,
    /// The attempt that began it, as the registry center has it; `None` where execution is not monitored.
    pub attempt: Option<Attempt>,
    /// The time of its start.
    pub start_time: DateTime<Utc>,
    /// The time of its end; `None` while it runs.
    pub complete_time: Option<DateTime<Utc>>,
    /// Whether it ended well; `false` while it runs.
    pub success: bool,
    /// Why it did not end well, cut to 4000 characters.
    pub failure_cause: Option<String>,
}

/// The run of all items that began together on an instance changed to another state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobStatusTraceEvent {
    /// A UUID of version 7: it sorts after those that the process made before.
    pub id: String,
    /// The id of the run. All its states have this id; no two runs share it.
    pub run_id: Arc<str>,
    /// The job.
    pub job_name: JobName,
    /// Id of the run as ElasticJob writes it: the same for all runs of the same items on the same instance.
    pub task_id: TaskId,
    /// The instance.
    pub instance: InstanceId,
    /// Whether the run is a failover.
    pub execution_type: ExecutionType,
    /// The scheduled time of the fire; `None` for a run that was triggered by hand.
    pub scheduled_at: Option<DateTime<Utc>>,
    /// The attempt that began it, as the registry center has it; `None` where execution is not monitored.
    pub attempt: Option<Attempt>,
    /// The items, in ascending order.
    pub sharding_items: Vec<ShardingItem>,
    /// The state.
    pub state: TaskState,
    /// A message about the state, cut to 4000 characters; usually empty.
    pub message: String,
    /// The time of the change.
    pub creation_time: DateTime<Utc>,
}

/// Whether a run is a failover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExecutionType {
    /// Its fire came.
    Ready,
    /// The run that its fire began was lost with its instance.
    Failover,
}

/// The states of a run. ElasticJob-Lite knows more names and never uses them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskState {
    /// It was begun in the registry center; its items have not started.
    Staging,
    /// Its items start.
    Running,
    /// It is over and all its items ended well, or the instance decided against running it.
    Finished,
    /// It is over and some of its items failed or were cut off.
    Error,
}

impl JobEvent {
    /// The job.
    pub fn job_name(&self) -> &JobName {
        match self {
            Self::Execution(event) => &event.job_name,
            Self::Status(event) => &event.job_name,
            Self::Decision(event) => &event.job_name,
            Self::Log(event) => &event.job_name,
        }
    }

    /// How much text it has that can be long, in bytes.
    pub(super) fn text_len(&self) -> usize {
        match self {
            Self::Execution(event) => event.failure_cause.as_ref().map_or(0, String::len),
            Self::Status(event) => event.message.len(),
            Self::Decision(event) => event.reason.len() + event.detail.values().map(json_len).sum::<usize>(),
            Self::Log(event) => event.message.len(),
        }
    }
}

/// About how long a value is as JSON.
fn json_len(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(json_len).sum(),
        Value::Object(values) => values.iter().map(|(key, value)| key.len() + json_len(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
    }
}

impl From<ExecutionSource> for ExecutionType {
    fn from(source: ExecutionSource) -> Self {
        match source {
            ExecutionSource::NormalTrigger | ExecutionSource::Misfire => Self::Ready,
            ExecutionSource::Failover => Self::Failover,
        }
    }
}

impl fmt::Display for ExecutionType {
    /// As ElasticJob names it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ready => "READY",
            Self::Failover => "FAILOVER",
        })
    }
}

impl fmt::Display for TaskState {
    /// As ElasticJob names it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Staging => "TASK_STAGING",
            Self::Running => "TASK_RUNNING",
            Self::Finished => "TASK_FINISHED",
            Self::Error => "TASK_ERROR",
        })
    }
}

/// A text cut to the length that is kept.
pub(crate) fn cut(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(TEXT_LIMIT) {
        text.truncate(end);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_by_characters_not_by_bytes() {
        assert_eq!(cut("é".repeat(TEXT_LIMIT)).chars().count(), TEXT_LIMIT);
        assert_eq!(cut("é".repeat(TEXT_LIMIT + 1)).chars().count(), TEXT_LIMIT);
        assert_eq!(cut("as it is".to_owned()), "as it is");
    }
}
