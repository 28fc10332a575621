//! `/access`: who came in, and who was kept out.

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

use super::Problem;
use crate::access::Entry;
use crate::here::Who;
use crate::service::time::Time;

/// An event, or several refusals of a kind.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AccessEvent {
    /// The time of the last one.
    #[schema(value_type = String, format = DateTime)]
    time: Time,
    /// logged-in, logged-out, login-refused, login-slowed, token-refused or forbidden.
    event: &'static str,
    /// The name that was given.
    who: String,
    /// The address that it came from, which behind a proxy is that of the proxy.
    from: Option<String>,
    /// The request that was refused, or why a token does not count.
    detail: Option<String>,
    count: usize,
}

impl From<Entry> for AccessEvent {
    fn from(it: Entry) -> Self {
        let (event, detail) = (it.event.code(), it.event.detail().map(ToOwned::to_owned));
        Self { time: Time(it.at), event, detail, who: it.who, from: it.from, count: it.count }
    }
}

/// Who came in, and who was kept out
///
/// The last 1,000 events since the console started, the newest first.
#[utoipa::path(get, path = "/api/v1/access", tag = "registries",
    responses((status = 200, body = Vec<AccessEvent>), (status = "default", body = Problem)))]
pub(crate) async fn show(who: Who) -> Json<Vec<AccessEvent>> {
    Json(who.app.access.entries().into_iter().map(AccessEvent::from).collect())
}
