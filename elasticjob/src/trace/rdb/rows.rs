//! Events as rows of the tables.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDateTime, Utc};

use serde_json::Value;

use super::wall_time::WallClock;
use crate::fire::Attempt;
use crate::ident::InstanceId;
use crate::trace::{JobDecisionEvent, JobEvent, JobExecutionEvent, JobLogEvent, JobStatusTraceEvent};

/// The sizes of columns, in characters.
const JOB_NAME: usize = 100;
const TASK_ID: usize = 255;
const HOSTNAME: usize = 255;
const IP: usize = 50;
const INSTANCE_ID: usize = 255;
const ATTEMPT: usize = 50;
const SHARDING_ITEMS: usize = 100;
const TEXT: usize = 4_000;
const TARGET: usize = 200;
const MESSAGE: usize = 40_000;

/// The rows of some events.
pub(super) struct Rows {
    pub(super) executions: Vec<Execution>,
    pub(super) states: Vec<State>,
    pub(super) decisions: Vec<Decision>,
    pub(super) lines: Vec<Line>,
}

pub(super) struct Execution {
    pub(super) id: String,
    pub(super) job_name: String,
    pub(super) task_id: String,
    pub(super) hostname: String,
    pub(super) ip: String,
    pub(super) sharding_item: i32,
    pub(super) source: String,
    pub(super) failure_cause: Option<String>,
    pub(super) success: bool,
    pub(super) start_time: NaiveDateTime,
    pub(super) complete_time: Option<NaiveDateTime>,
    pub(super) own: Own,
}

pub(super) struct State {
    pub(super) id: String,
    pub(super) job_name: String,
    pub(super) task_id: String,
    pub(super) slave_id: String,
    pub(super) execution_type: String,
    pub(super) sharding_item: String,
    pub(super) state: String,
    pub(super) message: String,
    pub(super) creation_time: NaiveDateTime,
    pub(super) own: Own,
}

pub(super) struct Decision {
    pub(super) id: String,
    pub(super) job_name: String,
    pub(super) decided_at: i64,
    pub(super) kind: String,
    pub(super) scheduled_at: Option<i64>,
    pub(super) scheduled_until: Option<i64>,
    pub(super) sharding_items: String,
    pub(super) instance_id: Option<String>,
    pub(super) related_instance: Option<String>,
    pub(super) reason: String,
    pub(super) detail: String,
}

/// A line of the log of a run.
pub(super) struct Line {
    pub(super) execution_id: String,
    pub(super) line_number: i32,
    pub(super) job_name: String,
    pub(super) logged_at: i64,
    pub(super) log_level: String,
    pub(super) target: String,
    pub(super) message: String,
    pub(super) left_out: i32,
}

/// The values of the columns that only this implementation has.
pub(super) struct Own {
    pub(super) run_id: String,
    pub(super) scheduled_at: Option<i64>,
    pub(super) instance_id: String,
    pub(super) attempt: Option<String>,
}

impl Own {
    fn of(run_id: &str, scheduled_at: Option<DateTime<Utc>>, instance: &InstanceId, attempt: Option<&Attempt>) -> Self {
        Self {
            run_id: run_id.to_owned(),
            scheduled_at: scheduled_at.map(|at| at.timestamp_millis()),
            instance_id: fit(instance.as_str(), INSTANCE_ID),
            attempt: attempt.map(|attempt| fit(&attempt.to_string(), ATTEMPT)),
        }
    }
}

impl Rows {
    /// The rows of these events, each execution once: a statement must not change a row twice. `clock` shows
    /// the times.
    pub(super) fn of(events: &[JobEvent], clock: WallClock) -> Self {
        let mut executions: BTreeMap<&str, &JobExecutionEvent> = BTreeMap::new();
        let (mut states, mut decisions, mut lines) = (Vec::new(), Vec::new(), Vec::new());
        for event in events {
            match event {
                JobEvent::Execution(event) => {
                    let last = executions.entry(&event.id).or_insert(event);
                    if event.complete_time.is_some() {
                        *last = event;
                    }
                }
                JobEvent::Status(event) => states.push(State::of(event, clock)),
                JobEvent::Decision(event) => decisions.push(Decision::of(event)),
                JobEvent::Log(event) => lines.push(Line::of(event)),
            }
        }
        let executions = executions.into_values().map(|event| Execution::of(event, clock)).collect();
        Self { executions, states, decisions, lines }
    }
}

impl Execution {
    fn of(event: &JobExecutionEvent, clock: WallClock) -> Self {
        Self {
            id: event.id.to_string(),
            job_name: fit(event.job_name.as_str(), JOB_NAME),
            task_id: fit(event.task_id.as_str(), TASK_ID),
            hostname: fit(&event.hostname, HOSTNAME),
            ip: fit(event.instance.server_ip(), IP),
            sharding_item: i32::try_from(event.sharding_item).unwrap_or(i32::MAX),
            source: event.source.to_string(),
            failure_cause: event.failure_cause.as_ref().map(|cause| fit(cause, TEXT)),
            success: event.success,
            start_time: clock.time(event.start_time),
            complete_time: event.complete_time.map(|at| clock.time(at)),
            own: Own::of(&event.run_id, event.scheduled_at, &event.instance, event.attempt.as_ref()),
        }
    }
}

impl State {
    fn of(event: &JobStatusTraceEvent, clock: WallClock) -> Self {
        Self {
            id: event.id.clone(),
            job_name: fit(event.job_name.as_str(), JOB_NAME),
            task_id: fit(event.task_id.as_str(), TASK_ID),
            slave_id: fit(event.instance.server_ip(), IP),
            execution_type: event.execution_type.to_string(),
            sharding_item: fit(&format!("{:?}", event.sharding_items), SHARDING_ITEMS),
            state: event.state.to_string(),
            message: fit(&event.message, TEXT),
            creation_time: clock.time(event.creation_time),
            own: Own::of(&event.run_id, event.scheduled_at, &event.instance, event.attempt.as_ref()),
        }
    }
}

impl Decision {
    fn of(event: &JobDecisionEvent) -> Self {
        let instance = |instance: &Option<InstanceId>| instance.as_ref().map(|id| fit(id.as_str(), INSTANCE_ID));
        Self {
            id: event.id.clone(),
            job_name: fit(event.job_name.as_str(), JOB_NAME),
            decided_at: event.at.timestamp_millis(),
            kind: event.kind.to_string(),
            scheduled_at: event.scheduled_at.map(|at| at.timestamp_millis()),
            scheduled_until: event.scheduled_until.map(|at| at.timestamp_millis()),
            sharding_items: format!("{:?}", event.sharding_items),
            instance_id: instance(&event.instance),
            related_instance: instance(&event.related_instance),
            reason: fit(&event.reason, TEXT),
            // JSON writes a zero character with an escape, so that every database takes it.
            detail: Value::Object(event.detail.clone()).to_string(),
        }
    }
}

impl Line {
    fn of(event: &JobLogEvent) -> Self {
        Self {
            execution_id: event.execution_id.to_string(),
            line_number: i32::try_from(event.line).unwrap_or(i32::MAX),
            job_name: fit(event.job_name.as_str(), JOB_NAME),
            logged_at: event.at.timestamp_millis(),
            log_level: event.level.to_string(),
            target: fit(&event.target, TARGET),
            message: fit(&event.message, MESSAGE),
            left_out: i32::try_from(event.left_out).unwrap_or(i32::MAX),
        }
    }
}

/// Cuts a text to the size of its column. It also replaces zero characters, which PostgreSQL does not accept.
fn fit(text: &str, size: usize) -> String {
    text.chars().take(size).map(|c| if c == '\0' { char::REPLACEMENT_CHARACTER } else { c }).collect()
}
