//! Asks for the reason that an action lacks, on a console that insists on reasons.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;

use super::{Layout, with_status};
use crate::access::REASON;
use crate::here::Here;
use crate::text::t;

#[derive(Template)]
#[template(path = "reason.html")]
struct ReasonPage {
    layout: Layout,
    /// The path of the action, below the base path.
    path: String,
    /// What else was sent, which is sent again.
    fields: Vec<(String, String)>,
}

/// The form of the action with the field for its reason: nothing that was typed or ticked gets lost.
pub(crate) fn ask(here: &Here, path: &str, mut fields: Vec<(String, String)>) -> Response {
    fields.retain(|(name, _)| name != REASON);
    with_status(
        StatusCode::UNPROCESSABLE_ENTITY,
        &ReasonPage { layout: Layout::of(here), path: path.to_owned(), fields },
    )
}
