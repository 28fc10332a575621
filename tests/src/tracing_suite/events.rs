//! Events as a job tells them.

use chrono::{DateTime, TimeDelta, Utc};
use elasticjob::fire::{Attempt, ExecutionSource};
use elasticjob::ident::{InstanceId, JobName, TaskId};
use elasticjob::registry::SessionId;
use elasticjob::trace::{
    DecisionKind, ExecutionType, JobDecisionEvent, JobEvent, JobExecutionEvent, JobLogEvent, JobStatusTraceEvent,
    LogLevel, TaskState,
};

/// A time with milliseconds, in winter.
pub(super) fn moment() -> DateTime<Utc> {
    DateTime::from_timestamp_millis(1_768_476_896_789).expect("a time of the year 2026")
}

/// The one that began the runs.
pub(super) fn attempt() -> Attempt {
    Attempt::new(SessionId(0x2a), 7, 1)
}

fn job() -> (JobName, InstanceId, TaskId) {
    let (job, instance) = (JobName::new("settle").expect("a name"), InstanceId::of_process("192.0.2.2", 7));
    let task_id = TaskId::new(&job, [3], &instance);
    (job, instance, task_id)
}

/// The start of an item.
pub fn start(id: &str) -> JobExecutionEvent {
    let (job_name, instance, task_id) = job();
    JobExecutionEvent {
        id: id.into(),
        run_id: "run".into(),
        job_name,
        task_id,
        hostname: "host".into(),
        instance,
        sharding_item: 3,
        source: ExecutionSource::NormalTrigger,
        scheduled_at: Some(moment()),
        attempt: Some(attempt()),
        start_time: moment(),
        complete_time: None,
        success: false,
        failure_cause: None,
    }
}

/// Its end two seconds later, well or with a cause.
pub fn end(id: &str, failure_cause: Option<&str>) -> JobExecutionEvent {
    JobExecutionEvent {
        complete_time: Some(moment() + TimeDelta::seconds(2)),
        success: failure_cause.is_none(),
        failure_cause: failure_cause.map(str::to_owned),
        ..start(id)
    }
}

/// A state of a run.
pub fn state(id: &str, state: TaskState) -> JobStatusTraceEvent {
    let (job_name, instance, task_id) = job();
    JobStatusTraceEvent {
        id: id.to_owned(),
        run_id: "run".into(),
        job_name,
        task_id,
        instance,
        execution_type: ExecutionType::Ready,
        scheduled_at: Some(moment()),
        attempt: Some(attempt()),
        sharding_items: vec![3, 4],
        state,
        message: String::new(),
        creation_time: moment(),
    }
}

pub(super) fn execution(event: JobExecutionEvent) -> JobEvent {
    JobEvent::Execution(event)
}

/// A decision about the fire of that time.
pub(super) fn decision(id: &str, kind: DecisionKind) -> JobDecisionEvent {
    let (job_name, instance, _) = job();
    JobDecisionEvent {
        id: id.to_owned(),
        job_name,
        at: moment(),
        kind,
        scheduled_at: Some(moment()),
        scheduled_until: None,
        sharding_items: vec![3, 4],
        instance: Some(instance),
        related_instance: Some(InstanceId::of_process("192.0.2.3", 9)),
        reason: "zero \0, 😀".to_owned(),
        detail: serde_json::Map::from_iter([("seconds".to_owned(), 7.into()), ("zero".to_owned(), "\0".into())]),
    }
}

/// A line of the log of a run.
pub(super) fn line(execution_id: &str, line: u32) -> JobLogEvent {
    JobLogEvent {
        execution_id: execution_id.into(),
        job_name: job().0,
        line,
        at: moment() + TimeDelta::milliseconds(line.into()),
        level: LogLevel::Info,
        target: "billing::settle".to_owned(),
        message: format!("line {line}, zero \0, 😀\nin two lines"),
        left_out: 0,
    }
}

pub(super) fn logged(event: JobLogEvent) -> JobEvent {
    JobEvent::Log(event)
}

pub(super) fn decided(event: JobDecisionEvent) -> JobEvent {
    JobEvent::Decision(event)
}

pub(super) fn status(event: JobStatusTraceEvent) -> JobEvent {
    JobEvent::Status(event)
}
