//! Tells pages and programs that the log of a run has further lines, as server-sent events. The database is asked only
//! while a reader listens and the run goes on.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::http::header::HeaderName;
use axum::http::{Extensions, HeaderMap};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use elasticjob::ident::JobName;
use elasticjob::trace::LogFilter;
use futures_util::stream::{self, Stream};
use serde_json::json;
use tokio::time::Instant;

use crate::api::Problem;
use crate::api::jobs::parameters;
use crate::api::named::{Names, OfJob};
use crate::here::Here;
use crate::live::{LONGEST, Since};
use crate::service::run_log::{lines, record};
use crate::streams::Place;

/// How often the database is asked.
const PAUSE: Duration = Duration::from_secs(1);

/// The most lines that are looked at for the number of the last one.
const STEP: u32 = 1_000;

/// What is known of the log.
struct LiveLog {
    here: Here,
    job: JobName,
    run: String,
    /// The last line that the caller has got.
    line: u32,
    /// The caller knows that the run is over: nothing will follow.
    is_over: bool,
    next: Instant,
    end: Instant,
    _place: Place,
}

/// Further lines of the log of a run, as they come
///
/// Server-sent events of the type `changed`, at most one a second. `line` is the number of the last line, `ended` says
/// whether the run is over; that is the last event. The stream ends after 10 minutes. With `since`, or the header
/// Last-Event-ID, only later lines count.
#[utoipa::path(get, path = "/api/v1/registries/{registry}/jobs/{job}/executions/{run}/log/events", tag = "history",
    params(Since),
    responses((status = 200, content_type = "text/event-stream", body = String), (status = "default", body = Problem)))]
pub(crate) async fn events(
    of: OfJob,
    Names((_, _, run)): Names<(String, String, String)>,
    headers: HeaderMap,
    extensions: Extensions,
    query: Result<Query<Since>, QueryRejection>,
) -> Result<Response, Problem> {
    let since = parameters(query)?.since;
    let told = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok()).or(since);
    let OfJob { here, job } = of;
    // An error is an answer, and no stream.
    record(&here, &job, &run).await?;
    let place = here.app.streams.take(&here.identity, &extensions)?;
    let line = u32::try_from(told.unwrap_or_default()).unwrap_or(u32::MAX);
    let now = Instant::now();
    let live = LiveLog { here, job, run, line, is_over: false, next: now, end: now + LONGEST, _place: place };
    let unbuffered = (HeaderName::from_static("x-accel-buffering"), "no");
    Ok(([unbuffered], Sse::new(stream_of(live)).keep_alive(KeepAlive::default())).into_response())
}

fn stream_of(live: LiveLog) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold(live, |mut live| async move {
        let (app, identity, end) = (live.here.app.clone(), live.here.identity.clone(), live.end);
        let event = tokio::select! {
            event = live.next() => event,
            () = tokio::time::sleep_until(end) => return None,
            () = app.ending.cancelled() => return None,
            // A logout, or a role that was taken away.
            () = identity.ended() => return None,
        };
        Some((Ok(event), live))
    })
}

impl LiveLog {
    async fn next(&mut self) -> Event {
        // A stream that ended would be asked for again by a browser. One that says nothing costs less.
        if self.is_over {
            std::future::pending::<()>().await;
        }
        loop {
            tokio::time::sleep_until(self.next).await;
            self.next = Instant::now() + PAUSE;
            // A database that is away now may be back at the next look.
            let Ok((line, ended)) = self.look().await else { continue };
            if line > self.line || ended {
                (self.line, self.is_over) = (line, ended);
                let data = json!({ "line": line, "ended": ended });
                return Event::default().event("changed").id(line.to_string()).data(data.to_string());
            }
        }
    }

    /// The last line, and whether the run is over.
    async fn look(&self) -> Result<(u32, bool), Problem> {
        // In this order: an end is written after the last line.
        let ended = record(&self.here, &self.job, &self.run).await?.complete_time.is_some();
        let mut filter = LogFilter::of_run(self.job.clone(), self.run.as_str());
        filter.after = self.line;
        loop {
            let further = lines(&self.here, &filter, STEP).await?.unwrap_or_default();
            filter.after = further.last().map_or(filter.after, |line| line.line);
            if further.len() < STEP as usize {
                return Ok((filter.after, ended));
            }
        }
    }
}

#[cfg(test)]
mod tests;
