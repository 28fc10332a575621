//! Records as a file for spreadsheets.

use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use elasticjob::trace::{DecisionRecord, ExecutionRecord, StateRecord};

use super::csv;
use super::history::{Found, HistoryQuery, Range, Traced, find};
use super::time::Time;
use crate::api::Problem;
use crate::here::Here;

/// The most rows of a file.
pub(crate) const MOST: usize = 10_000;

/// RFC 3339 in UTC with milliseconds; empty for no time.
fn written(time: impl Into<Option<DateTime<Utc>>>) -> String {
    time.into().map_or_else(String::new, |time| Time::of(time).to_string())
}

/// A record as a row.
pub(crate) trait Row {
    const NAME: &'static str;
    const HEAD: &'static [&'static str];

    fn cells(self) -> Vec<String>;
}

impl Row for ExecutionRecord {
    const NAME: &'static str = "executions";
    const HEAD: &'static [&'static str] = &[
        "job",
        "item",
        "instance",
        "ip",
        "hostname",
        "source",
        "scheduledAt",
        "startTime",
        "completeTime",
        "outcome",
        "failureCause",
        "runId",
        "taskId",
    ];

    fn cells(self) -> Vec<String> {
        vec![
            self.job_name,
            self.sharding_item.to_string(),
            self.instance.unwrap_or_default(),
            self.ip,
            self.hostname,
            self.source,
            written(self.scheduled_at),
            written(self.start_time),
            written(self.complete_time),
            self.outcome.as_str().to_owned(),
            self.failure_cause.unwrap_or_default(),
            self.run_id.unwrap_or_default(),
            self.task_id,
        ]
    }
}

impl Row for StateRecord {
    const NAME: &'static str = "states";
    const HEAD: &'static [&'static str] = &[
        "job",
        "time",
        "state",
        "items",
        "executionType",
        "instance",
        "ip",
        "message",
        "scheduledAt",
        "runId",
        "taskId",
    ];

    fn cells(self) -> Vec<String> {
        vec![
            self.job_name,
            written(self.creation_time),
            self.state,
            self.sharding_items,
            self.execution_type,
            self.instance.unwrap_or_default(),
            self.ip,
            self.message,
            written(self.scheduled_at),
            self.run_id.unwrap_or_default(),
            self.task_id,
        ]
    }
}

impl Row for DecisionRecord {
    const NAME: &'static str = "decisions";
    const HEAD: &'static [&'static str] =
        &["job", "time", "kind", "items", "scheduledAt", "instance", "relatedInstance", "reason", "text", "detail"];

    fn cells(self) -> Vec<String> {
        let text = self.describe(&|at| Time(at).to_string());
        let items: Vec<String> = self.sharding_items.iter().map(ToString::to_string).collect();
        vec![
            self.job_name,
            written(self.at),
            self.kind,
            items.join(" "),
            written(self.scheduled_at),
            self.instance.unwrap_or_default(),
            self.related_instance.unwrap_or_default(),
            self.reason,
            text,
            serde_json::Value::Object(self.detail).to_string(),
        ]
    }
}

/// All records of the query, up to [`MOST`]. The last row says it where more follow.
pub(crate) async fn answer<T: Traced + Row>(
    here: &Here,
    query: &HistoryQuery,
    range: Range,
) -> Result<Response, Problem> {
    let mut query = HistoryQuery { limit: Some(500), ..query.clone() };
    let mut rows = Vec::new();
    loop {
        let Found { records, next } = find::<T>(here, &query, range).await?;
        rows.extend(records.into_iter().map(Row::cells));
        let Some(next) = next else { break };
        if rows.len() >= MOST {
            rows.push(vec![format!("more rows follow: a file has at most {MOST}, choose a shorter time range")]);
            break;
        }
        query.cursor = next;
    }
    let name = format!("attachment; filename=\"{}-{}.csv\"", here.registry.name(), T::NAME);
    let headers = [(CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()), (CONTENT_DISPOSITION, name)];
    Ok((headers, csv::file(T::HEAD, rows)).into_response())
}
