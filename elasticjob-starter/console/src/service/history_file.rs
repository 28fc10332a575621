//! Records as a file for spreadsheets.

use std::convert::Infallible;
use std::future::ready;

use axum::body::Body;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use elasticjob::trace::{DecisionRecord, ExecutionRecord, StateRecord};
use futures_util::stream::{self, StreamExt};

use super::csv;
use super::history::{Found, HistoryQuery, Range, Traced, find};
use super::time::Time;
use crate::api::Problem;
use crate::here::Here;

/// The most rows of a file.
pub(crate) const MOST: usize = 10_000;

/// RFC 3339 in UTC with milliseconds; empty for no time.
pub(super) fn written(time: impl Into<Option<DateTime<Utc>>>) -> String {
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

/// A file that is being sent.
struct File {
    here: Here,
    query: HistoryQuery,
    range: Range,
    rows: usize,
    is_complete: bool,
}

impl File {
    /// The next rows; `None` after the last one.
    async fn next<T: Traced + Row>(&mut self) -> Option<String> {
        if self.is_complete {
            return None;
        }
        let found = find::<T>(&self.here, &self.query, self.range).await;
        Some(match found {
            Ok(found) => self.add(found),
            Err(problem) => {
                self.is_complete = true;
                csv::row(&[format!("the rest could not be read: {}", problem.detail())])
            }
        })
    }

    /// The rows of these records. They go up to [`MOST`].
    fn add<T: Traced + Row>(&mut self, found: Found<T>) -> String {
        self.rows += found.records.len();
        let mut text: String = found.records.into_iter().map(|record| csv::row(&record.cells())).collect();
        match found.next {
            None => self.is_complete = true,
            Some(_) if self.rows >= MOST => {
                self.is_complete = true;
                text +=
                    &csv::row(&[format!("more rows follow: a file has at most {MOST}, choose a shorter time range")]);
            }
            Some(next) => self.query.cursor = next,
        }
        text
    }
}

/// All records of the query, up to [`MOST`], sent as they are read: no more than a page of them is in memory. The last row
/// says it where more follow, and where the rest could not be read.
pub(crate) async fn answer<T: Traced + Row + 'static>(
    here: &Here,
    query: &HistoryQuery,
    range: Range,
) -> Result<Response, Problem> {
    let query = HistoryQuery { limit: Some(500), ..query.clone() };
    let mut file = File { here: here.clone(), query, range, rows: 0, is_complete: false };
    // What is wrong with the query is an error, and no file.
    let first = find::<T>(here, &file.query, range).await?;
    let first = csv::head(T::HEAD) + &file.add(first);
    let rest = stream::unfold(file, |mut file| async move { file.next::<T>().await.map(|rows| (rows, file)) });
    let body = Body::from_stream(stream::once(ready(first)).chain(rest).map(Ok::<_, Infallible>));
    let name = format!("attachment; filename=\"{}-{}.csv\"", here.registry.name(), T::NAME);
    let headers = [(CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()), (CONTENT_DISPOSITION, name)];
    Ok((headers, body).into_response())
}
