//! The schemas of answers that are a success.

use serde_json::{Value, json};

/// What a route answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// This description.
    Document,
    Token,
    /// A command was done.
    Done,
    Flag,
    App,
    Apps,
    Job,
    Jobs,
    /// A text.
    Log,
    Running,
    Ready,
    Failover,
    Executions,
    States,
    Results,
    Result,
    Counts,
    Types,
    Registered,
    Disabled,
    Sandbox,
}

impl Answer {
    /// The media type, and the schema.
    pub(super) fn content(self) -> (&'static str, Value) {
        let named = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
        let list = |name: &str| json!({ "type": "array", "items": named(name) });
        let schema = match self {
            Self::Log => return ("text/plain", json!({ "type": "string" })),
            Self::Document => json!({ "type": "object", "additionalProperties": true }),
            Self::Token => named("Token"),
            Self::Done => json!({ "type": "boolean", "enum": [true] }),
            Self::Flag => json!({ "type": "boolean" }),
            Self::App => named("App"),
            Self::Apps => list("App"),
            Self::Job => named("Job"),
            Self::Jobs => list("Job"),
            Self::Running => list("RunningTask"),
            Self::Ready => list("ReadyJob"),
            Self::Failover => list("FailoverTask"),
            Self::Executions => named("Executions"),
            Self::States => named("States"),
            Self::Results => list("Result"),
            Self::Result => named("Result"),
            Self::Counts => list("RunningCount"),
            Self::Types => named("ExecutionTypes"),
            Self::Registered => list("RegisteredCount"),
            Self::Disabled => named("Disabled"),
            Self::Sandbox => list("Sandbox"),
        };
        ("application/json", schema)
    }

    /// The headers of the answer.
    pub(super) fn headers(self) -> Option<Value> {
        let about =
            "Of a log of more than 256 KiB: how many bytes of its end the answer has. A first line says the same";
        let cut = json!({ "elasticjob-log-cut": { "description": about, "schema": { "type": "integer" } } });
        (self == Self::Log).then_some(cut)
    }
}

/// The schemas of all answers, by name.
pub(super) fn schemas() -> Value {
    let text = || json!({ "type": "string" });
    let count = || json!({ "type": "integer", "minimum": 0 });
    let flag = || json!({ "type": "boolean" });
    let time = || json!({ "type": "string", "format": "date-time" });
    let or_null = |type_: &str| json!({ "type": [type_, "null"] });
    let millis = || json!({ "type": ["integer", "null"], "description": "milliseconds since 1970" });
    let items = || json!({ "type": "array", "items": { "type": "integer" } });
    let names = || json!({ "type": "array", "items": { "type": "string" } });
    let object = |properties: Value, optional: &[&str]| {
        let all = properties.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
        let required: Vec<&str> = all.filter(|name| !optional.contains(name)).collect();
        json!({ "type": "object", "required": required, "properties": properties })
    };
    let page = |row: Value| {
        let rows = json!({ "type": "array", "items": row });
        object(json!({ "total": count(), "truncated": flag(), "rows": rows }), &[])
    };
    let task = || object(json!({ "jobName": text(), "shardingItems": items() }), &[]);
    let kind = || json!({ "type": "string", "enum": ["READY", "FAILOVER"] });
    let attempt = || {
        json!({ "type": ["integer", "null"], "minimum": 1,
                             "description": "from 1; null where only another scheduler knows" })
    };
    json!({
        "Token": object(json!({ "accessToken": text() }), &[]),
        "RunningTask": object(json!({
            "id": text(), "metaInfo": task(), "type": kind(), "slaveId": text(), "idle": flag(), "since": millis(),
            "attempt": attempt(), "lost": or_null("string"),
            "stopping": { "type": "boolean", "description": "its run is over for the job, and its process is being stopped" },
        }), &[]),
        "ReadyJob": object(json!({
            "jobName": text(), "times": text(), "misfired": flag(), "why": text(),
            "items": { "type": "array", "items": object(json!({
                "item": count(), "why": text(), "since": millis(), "attempt": attempt(),
            }), &[]) },
        }), &["why"]),
        "FailoverTask": object(json!({
            "taskInfo": task(), "originalTaskId": text(), "why": text(), "attempt": attempt(),
        }), &[]),
        "Executions": page(object(json!({
            "id": text(), "jobName": text(), "taskId": text(), "hostname": text(), "ip": text(), "shardingItem": count(),
            "executionSource": text(), "failureCause": or_null("string"), "isSuccess": flag(), "startTime": time(),
            "completeTime": { "type": ["string", "null"], "format": "date-time" },
        }), &[])),
        "States": page(object(json!({
            "id": text(), "jobName": text(), "originalTaskId": text(), "taskId": text(), "slaveId": text(), "source": text(),
            "executionType": text(), "shardingItem": text(), "state": text(), "message": text(), "creationTime": time(),
        }), &[])),
        "Result": object(json!({
            "id": count(), "successCount": count(), "failedCount": count(),
            "statisticInterval": { "type": "string", "enum": ["MINUTE", "HOUR", "DAY"] },
            "statisticsTime": time(), "creationTime": time(), "truncated": flag(),
        }), &[]),
        "RunningCount": object(json!({
            "id": count(), "runningCount": count(), "statisticsTime": time(), "creationTime": time(), "truncated": flag(),
        }), &[]),
        "ExecutionTypes": object(json!({ "transientJobCount": count(), "daemonJobCount": count() }), &[]),
        "RegisteredCount": object(json!({
            "id": count(), "registeredCount": count(), "statisticsTime": time(), "creationTime": time(),
        }), &[]),
        "Disabled": object(json!({ "apps": names(), "jobs": names() }), &[]),
        "Sandbox": object(json!({ "hostname": text(), "path": text(), "jobName": text(), "launch": text() }), &[]),
    })
}
