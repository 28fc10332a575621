//! Tells pages and programs that something changed in a registry center, as server-sent events.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::http::header::HeaderName;
use axum::http::{Extensions, HeaderMap};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use elasticjob::ident::JobName;
use futures_util::stream::{self, Stream};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::watch::Receiver;
use tokio::time::Instant;
use utoipa::IntoParams;

use crate::access::{Permission, Role};
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

/// The same between events about records: each makes pages read the database of traces. What ran is in it by then.
const BETWEEN_RECORDS: Duration = Duration::from_secs(5);

/// An event about records comes after this time although nothing changed: that a fire did not come is no change.
const TICK_OF_RECORDS: Duration = Duration::from_secs(60);

/// A stream ends after this time. The listener connects again, and has to be logged in then.
pub(crate) const LONGEST: Duration = Duration::from_secs(600);

/// Where a stream begins.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Since {
    /// The number of the last change that the caller knows of. Where it is not the last one, an event comes at once. The
    /// header Last-Event-ID counts more.
    pub(crate) since: Option<u64>,
}

/// Which changes a stream tells of, and where it begins.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// The number of the last change that the caller knows of. Where it is not the last one, an event comes at once. The
    /// header Last-Event-ID counts more.
    pub(crate) since: Option<u64>,
    /// Changes of this job alone.
    #[param(value_type = Option<String>)]
    pub(crate) job: Option<JobName>,
    /// For a caller who reads the database of traces after an event: one comes 5 s after a change, when what ran is there, and
    /// each minute.
    pub(crate) records: bool,
}

impl Wanted {
    /// What happens from now on, of a job or of all.
    pub(crate) fn from_now_on(here: &Here, job: Option<&JobName>) -> Self {
        // Nothing may be asked while a value of the receiver is borrowed.
        let change = *here.registry.catalogue().changes().borrow();
        Self { since: Some(number(here, job, change)), job: job.cloned(), records: false }
    }

    #[must_use]
    pub(crate) fn of_records(self) -> Self {
        Self { records: true, ..self }
    }

    /// As the query of an address.
    pub(crate) fn query(&self) -> String {
        let since = self.since.map(|since| since.to_string());
        let fields = [
            ("since", since.as_deref()),
            ("job", self.job.as_ref().map(JobName::as_str)),
            ("records", self.records.then_some("true")),
        ];
        let fields = fields.into_iter().filter_map(|(name, value)| Some((name, value?)));
        form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
    }

    /// From a change to the event about it, and how long there is none without a change.
    fn pace(&self) -> (Duration, Duration) {
        if self.records { (BETWEEN_RECORDS, TICK_OF_RECORDS) } else { (Duration::ZERO, TICK) }
    }
}

/// The number of the last change: of a job, or of all.
fn number(here: &Here, job: Option<&JobName>, change: u64) -> u64 {
    let of_job = job.and_then(|job| here.registry.last_events(std::slice::from_ref(job)).first().copied());
    of_job.unwrap_or(change)
}

/// A stream of events.
struct Live {
    here: Here,
    wanted: Wanted,
    changes: Receiver<u64>,
    /// The number of the last change that was told, or that the caller knew at the begin.
    told: u64,
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
#[utoipa::path(get, path = "/api/v1/registries/{registry}/events", tag = "registries", params(Wanted),
    responses((status = 200, content_type = "text/event-stream", body = String), (status = "default", body = Problem)))]
pub(crate) async fn events(
    here: Here,
    headers: HeaderMap,
    extensions: Extensions,
    query: Result<Query<Wanted>, QueryRejection>,
) -> Result<Response, Problem> {
    let wanted = parameters(query)?;
    if wanted.job.as_ref().is_some_and(|job| !here.sees(job)) {
        return Err(Problem::forbidden(Permission::Has(Role::Viewer), false));
    }
    let known = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok()).or(wanted.since);
    let place = here.app.streams.take(&here.identity, &extensions)?;
    let mut changes = here.registry.catalogue().changes();
    let change = *changes.borrow_and_update();
    let last = number(&here, wanted.job.as_ref(), change);
    let is_behind = known.is_some_and(|known| known != last);
    let (told, now) = (known.unwrap_or(last), Instant::now());
    let live = Live { here, wanted, changes, told, is_behind, next: now, end: now + LONGEST, _place: place };
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
        let (mut pace, tick) = self.wanted.pace();
        if std::mem::take(&mut self.is_behind) {
            pace = Duration::ZERO;
        } else {
            // After the time without a change, too.
            let changed = Self::changed(&self.here, &self.wanted, &mut self.changes, self.told);
            if let Ok(None) = tokio::time::timeout(tick, changed).await {
                return None;
            }
        }
        tokio::time::sleep_until(self.next.max(Instant::now() + pace)).await;
        self.next = Instant::now() + BETWEEN;
        let change = *self.changes.borrow_and_update();
        self.told = number(&self.here, self.wanted.job.as_ref(), change);
        let lost_since = self.here.registry.catalogue().lost_since().map(Time);
        let data = json!({ "change": self.told, "lostSince": lost_since });
        Some(Event::default().event("changed").id(self.told.to_string()).data(data.to_string()))
    }

    /// Waits for a change that the stream tells of. `None` when the registry center is closed.
    async fn changed(here: &Here, wanted: &Wanted, changes: &mut Receiver<u64>, told: u64) -> Option<()> {
        loop {
            changes.changed().await.ok()?;
            let change = *changes.borrow_and_update();
            if wanted.job.is_none() || number(here, wanted.job.as_ref(), change) != told {
                return Some(());
            }
        }
    }
}

#[cfg(test)]
mod tests;
