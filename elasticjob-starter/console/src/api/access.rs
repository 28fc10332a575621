//! `/access`: who came in, and who was kept out.

use axum::Json;
use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::http::HeaderValue;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::Problem;
use super::jobs::parameters;
use super::tagged::with_link;
use crate::access::Entry;
use crate::here::Who;
use crate::service::history::parsed;
use crate::service::time::Time;
use crate::store::AccessCursor;

/// An event, or several refusals of a kind.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AccessEvent {
    /// The time of the last one.
    #[schema(value_type = String, format = DateTime)]
    time: Time,
    /// logged-in, logged-out, login-refused, login-slowed, token-refused or forbidden.
    event: String,
    /// The name that was given.
    who: String,
    /// The address that it came from: behind a trusted proxy that of the client, behind another one that of the proxy.
    from: Option<String>,
    /// The request that was refused, or why a token does not count.
    detail: Option<String>,
    count: usize,
}

impl From<Entry> for AccessEvent {
    fn from(it: Entry) -> Self {
        let (event, detail) = (it.event.code().to_owned(), it.event.detail().map(ToOwned::to_owned));
        Self { time: Time(it.at), event, detail, who: it.who, from: it.from, count: it.count }
    }
}

/// Which events are asked for.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// What came with the page before, in its header Link.
    pub(crate) cursor: String,
    /// At most so many; 1,000 at the most.
    pub(crate) limit: Option<u32>,
}

/// The most events of an answer.
const MOST: u32 = 1_000;

/// Logins and refused callers
///
/// The newest first. A console with a data file keeps the events of 400 days there; the header Link has the next page.
/// Without one these are the last 1,000 events since the console started.
#[utoipa::path(get, path = "/api/v1/access", tag = "access", params(Which),
    responses((status = 200, body = Vec<AccessEvent>), (status = "default", body = Problem)))]
pub(crate) async fn show(who: Who, query: Result<Query<Which>, QueryRejection>) -> Result<Response, Problem> {
    let which = parameters(query)?;
    let before = parsed::<AccessCursor>("cursor", &which.cursor)?;
    let limit = which.limit.unwrap_or(MOST).clamp(1, MOST);
    let (entries, next) = who.app.access.page(before, limit).await?;
    let events: Vec<AccessEvent> = entries.into_iter().map(AccessEvent::from).collect();
    let base = &who.app.options.base_path;
    let link = next.map(|next| format!("<{base}/api/v1/access?limit={limit}&cursor={next}>; rel=\"next\""));
    let link = link.and_then(|link| HeaderValue::from_str(&link).ok());
    Ok(with_link(Json(events).into_response(), link))
}
