//! Tells pages and programs that something changed in a registry center, as server-sent events.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::http::header::HeaderName;
use axum::http::{Extensions, HeaderMap};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::watch::Receiver;
use tokio::time::Instant;
use utoipa::IntoParams;

use crate::api::Problem;
use crate::api::jobs::parameters;
use crate::app::App;
use crate::here::Here;
use crate::service::time::Time;
use crate::streams::Place;

/// The least time between two events of a stream: what changes in between is told together.
const BETWEEN: Duration = Duration::from_secs(1);

/// An event comes after this time although nothing changed: pages say how long ago things were.
const TICK: Duration = Duration::from_secs(30);

/// A stream ends after this time. The listener connects again, and has to be logged in then.
pub(crate) const LONGEST: Duration = Duration::from_secs(600);

/// Where a stream begins.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Since {
    /// The number of the last change that the caller knows of. Where it is not the last one, an event comes at once. The
    /// header Last-Event-ID counts more.
    pub(crate) since: Option<u64>,
}

/// A stream of events.
struct Live {
    here: Here,
    changes: Receiver<u64>,
    /// The caller has to be told at once.
    is_behind: bool,
    next: Instant,
    end: Instant,
    _place: Place,
}

/// Changes in a registry center, as they happen
///
/// Server-sent events of the type `changed`. Several changes within a second are one event. An event says that something
/// may look different, not what: read again what you show. It also comes every 30 s. The stream ends after 10 minutes.
#[utoipa::path(get, path = "/api/v1/registries/{registry}/events", tag = "registries", params(Since),
    responses((status = 200, content_type = "text/event-stream", body = String), (status = "default", body = Problem)))]
pub(crate) async fn events(
    here: Here,
    headers: HeaderMap,
    extensions: Extensions,
    query: Result<Query<Since>, QueryRejection>,
) -> Result<Response, Problem> {
    let since = parameters(query)?.since;
    let told = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok()).or(since);
    let place = here.app.streams.take(&here.identity, &extensions)?;
    let mut changes = here.registry.catalogue().changes();
    let is_behind = told.is_some_and(|told| told != *changes.borrow_and_update());
    let now = Instant::now();
    let live = Live { here, changes, is_behind, next: now, end: now + LONGEST, _place: place };
    // A proxy that collects an answer before it passes it on would hold the events back.
    let unbuffered = (HeaderName::from_static("x-accel-buffering"), "no");
    Ok(([unbuffered], Sse::new(stream_of(live)).keep_alive(KeepAlive::default())).into_response())
}

fn stream_of(live: Live) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold(live, |mut live| async move {
        let (app, identity, end) = (live.here.app.clone(), live.here.identity.clone(), live.end);
        let event = tokio::select! {
            event = live.next() => event?,
            () = tokio::time::sleep_until(end) => return None,
            () = ended(&app) => return None,
            // A logout, or a role that was taken away.
            () = identity.ended() => return None,
        };
        Some((Ok(event), live))
    })
}

async fn ended(app: &App) {
    app.ending.cancelled().await;
}

impl Live {
    /// The next event; `None` when the registry center is closed.
    async fn next(&mut self) -> Option<Event> {
        if !std::mem::take(&mut self.is_behind) {
            // After the time without a change, too.
            if let Ok(Err(_)) = tokio::time::timeout(TICK, self.changes.changed()).await {
                return None;
            }
        }
        tokio::time::sleep_until(self.next).await;
        self.next = Instant::now() + BETWEEN;
        let number = *self.changes.borrow_and_update();
        let lost_since = self.here.registry.catalogue().lost_since().map(Time);
        let data = json!({ "change": number, "lostSince": lost_since });
        Some(Event::default().event("changed").id(number.to_string()).data(data.to_string()))
    }
}

#[cfg(test)]
mod tests;
