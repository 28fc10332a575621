//! Headers of lists: the tag of what a list says, so that a program that asks again and again is told when nothing changed, and the
//! link to the next part.

use axum::Json;
use axum::http::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH, LINK};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use sha2::{Digest, Sha256};

/// How many bytes of the hash are in a tag.
const BYTES: usize = 16;

/// The value with the tag of its content; nothing but the tag where the caller has it already.
///
/// The tag is made of the content and not of the last change in the registry center: what a list says depends on the time
/// and on the caller as well.
pub(super) fn tagged(headers: &HeaderMap, value: &impl Serialize) -> Response {
    tagged_part(headers, value, None)
}

/// The same of a part of a list, with the header that leads to the next part. The tag is of both: the caller follows the header.
pub(super) fn tagged_part(headers: &HeaderMap, value: &impl Serialize, link: Option<HeaderValue>) -> Response {
    let body = serde_json::to_vec(value).unwrap_or_default();
    let of_both = Sha256::new().chain_update(&body).chain_update(link.as_ref().map_or(&[][..], HeaderValue::as_bytes));
    let tag = format!("\"{}\"", URL_SAFE_NO_PAD.encode(&of_both.finalize()[..BYTES]));
    // A cache may keep it for this caller, and asks before it shows it.
    let about = [(ETAG, tag.clone()), (CACHE_CONTROL, "private, no-cache".to_owned())];
    let answer = match knows(headers, &tag) {
        true => (StatusCode::NOT_MODIFIED, about).into_response(),
        false => (about, Json(value)).into_response(),
    };
    with_link(answer, link)
}

/// The answer with the header that leads to the next part of its list, where there is one.
pub(super) fn with_link(mut answer: Response, link: Option<HeaderValue>) -> Response {
    answer.headers_mut().extend(link.map(|link| (LINK, link)));
    answer
}

/// Whether one of the tags that the caller has is this one.
fn knows(headers: &HeaderMap, tag: &str) -> bool {
    let texts = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let mut tags = texts.flat_map(|text| text.split(',')).map(|one| one.trim().trim_start_matches("W/"));
    tags.any(|one| one == tag || one == "*")
}
