//! The log of the run of an item.

use askama::Template;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;
use elasticjob::trace::{LogLevel, LogRecord};
use i18n_embed_fl::fl;

use super::chart::sign::Sign;
use super::fires;
use super::job::{Head, snapshot};
use super::query::Query;
use super::time::Clock;
use super::{Layout, error, segment, with_status};
use crate::api::{self, Problem};
use crate::here::Here;
use crate::service::run_log::{LogQuery, RunWithLog, read};
use crate::text::t;

#[derive(Template)]
#[template(path = "run_log.html")]
struct LogPage {
    layout: Layout,
    head: Head,
    clock: Clock,
    query: LogQuery,
    run: String,
    problem: Option<Problem>,
    found: Option<RunWithLog>,
}

impl LogPage {
    /// The address of this page.
    fn path(&self) -> String {
        format!("{}/log/{}", self.head.path, segment(&self.run))
    }

    /// The same lines as a file.
    fn file(&self) -> String {
        format!("{}?{}&limit=5000&format=text", self.path(), self.query.after(self.query.after))
    }

    fn sign(&self, found: &RunWithLog) -> Sign {
        found.run.state.into()
    }

    fn state(&self, found: &RunWithLog) -> String {
        fires::run_state(&self.layout.text, found.run.state)
    }

    /// The last line that the page has.
    fn last(&self, found: &RunWithLog) -> u32 {
        found.lines.last().map_or(self.query.after, |line| line.line)
    }

    /// The query of an address, for the lines after that one.
    fn after(&self, line: &u32) -> String {
        self.query.after(*line)
    }

    fn name(&self, found: &RunWithLog) -> String {
        fl!(self.layout.text.loader(), "log-of-item", item = found.run.record.sharding_item)
    }

    fn left_out(&self, line: &LogRecord) -> String {
        fl!(self.layout.text.loader(), "log-left-out", count = line.left_out)
    }

    fn is_filtered(&self) -> bool {
        !self.query.level.is_empty() || !self.query.q.is_empty()
    }

    fn levels(&self) -> [LogLevel; 5] {
        LogLevel::ALL
    }

    /// `03:00:07.041`: the day and the zone stand above the list.
    fn time(&self, line: &LogRecord) -> String {
        let at = self.clock.at(&line.at.timestamp_millis());
        let time = at.split_once(' ').map_or(at.as_str(), |(_, time)| time);
        let seconds: String = time.chars().take("03:00:00".len()).collect();
        format!("{seconds}.{:03}", line.at.timestamp_subsec_millis())
    }

    fn class(&self, line: &LogRecord) -> &'static str {
        match line.level.as_str() {
            "ERROR" => "bad",
            "WARN" => "warn",
            "INFO" => "info",
            _ => "fine",
        }
    }
}

pub(crate) async fn show(
    here: Here,
    Path((_, name, run)): Path<(String, String, String)>,
    Query(query): Query<LogQuery>,
) -> Response {
    let snapshot = match snapshot(&here, &name).await {
        Ok(snapshot) => snapshot,
        Err(page) => return *page,
    };
    let clock = Clock::of(snapshot.usable().and_then(|it| it.schedule()));
    let (found, problem) = match read(&here, &snapshot, &run, &query).await {
        Ok(found) if query.format == "text" => return api::run_log::file(&found),
        Ok(found) => (Some(found), None),
        Err(problem) if problem.code() == "bad-request" => return error::problem(&here, &problem),
        Err(problem) => (None, Some(problem)),
    };
    let status = problem.as_ref().filter(|it| it.code() != "not-traced").map_or(StatusCode::OK, Problem::status);
    let layout = Layout::of(&here);
    let is_live = found.as_ref().is_some_and(|found| found.goes_on() && found.next.is_none());
    let layout = if is_live { layout.live(&here) } else { layout };
    let head = Head::of(&here, &snapshot.job, "runs");
    with_status(status, &LogPage { layout, head, clock, query, run, problem, found })
}

#[cfg(test)]
mod tests;
