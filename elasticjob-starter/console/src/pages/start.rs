//! `/`: goes to the registry center that the reader may see.

use axum::response::{IntoResponse, Redirect, Response};

use super::error;
use crate::here::Who;

pub(crate) async fn show(who: Who, headers: axum::http::HeaderMap) -> Response {
    let seen = who.app.registries.keys().find(|name| who.identity.sees_registry(name));
    match seen {
        Some(name) => Redirect::to(&format!("{}/r/{name}", who.app.options.base_path)).into_response(),
        None => error::no_such_page(&who.app, &who.identity, &headers),
    }
}
