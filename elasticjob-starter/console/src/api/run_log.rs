//! `/registries/{registry}/jobs/{job}/executions/{run}/log`.

use axum::Json;
use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::http::HeaderMap;
use axum::http::header::{ACCEPT, CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use elasticjob::trace::LogRecord;
use serde::Serialize;
use utoipa::ToSchema;

use super::Problem;
use super::fires::RunOfFire;
use super::jobs::parameters;
use super::named::{Names, OfJob};
use crate::service::job::look;
use crate::service::run_log::{LogQuery, RunWithLog, read};
use crate::service::time::Time;

/// The log of the run of an item.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunLogView {
    run: RunOfFire,
    lines: Vec<LogLineView>,
    /// The number of the last of these lines, where others follow: ask for those `after` it.
    next: Option<u32>,
    /// Whether logs of runs are kept at all, or were at some time.
    kept: bool,
}

/// A line of the log of a run.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LogLineView {
    line: u32,
    #[schema(value_type = String, format = DateTime)]
    time: Time,
    /// ERROR, WARN, INFO, DEBUG or TRACE.
    level: String,
    /// Where it comes from.
    target: String,
    /// Empty, and so is `target`, where the last lines of the run were left out.
    message: String,
    /// The number of lines before it that were left out.
    left_out: u32,
}

impl From<LogRecord> for LogLineView {
    fn from(it: LogRecord) -> Self {
        Self {
            line: it.line,
            time: Time::of(it.at),
            level: it.level,
            target: it.target,
            message: it.message,
            left_out: it.left_out,
        }
    }
}

/// The log of the run of an item
///
/// What the job logged while the item ran. With the header `Accept: text/plain` it comes as a file.
#[utoipa::path(get, path = "/api/v1/registries/{registry}/jobs/{job}/executions/{run}/log", tag = "history",
    params(LogQuery),
    responses((status = 200, body = RunLogView), (status = "default", body = Problem)))]
pub(crate) async fn log(
    of: OfJob,
    Names((_, _, run)): Names<(String, String, String)>,
    headers: HeaderMap,
    query: Result<Query<LogQuery>, QueryRejection>,
) -> Result<Response, Problem> {
    let query = parameters(query)?;
    let (snapshot, _) = look(&of.here, &of.job).await?;
    let found = read(&of.here, &snapshot, &run, &query).await?;
    let wanted = headers.get(ACCEPT).and_then(|accepted| accepted.to_str().ok()).unwrap_or_default();
    if query.format == "text" || wanted.starts_with("text/plain") {
        return Ok(file(&found));
    }
    let RunWithLog { run, lines, next, is_kept, .. } = found;
    let lines = lines.into_iter().map(LogLineView::from).collect();
    Ok(Json(RunLogView { run: run.into(), lines, next, kept: is_kept }).into_response())
}

/// The lines as a text. What a line continues with is indented, so that it cannot be taken for another line.
pub(crate) fn file(found: &RunWithLog) -> Response {
    let mut text = String::new();
    for line in &found.lines {
        if line.left_out > 0 {
            text += &format!("... {} lines left out\n", line.left_out);
        }
        if !line.is_gap() {
            let message = line.message.replace('\n', "\n    ");
            text += &format!("{} {:5} {}: {message}\n", Time::of(line.at), line.level, line.target);
        }
    }
    if let Some(next) = found.next {
        text += &format!("... more lines follow: ask for those after {next}\n");
    }
    let headers =
        [(CONTENT_TYPE, "text/plain; charset=utf-8"), (CONTENT_DISPOSITION, "attachment; filename=\"run.log\"")];
    (headers, text).into_response()
}
