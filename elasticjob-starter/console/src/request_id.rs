//! Ids of requests: the answer, the log and the audit have the same one, so that each leads to the others.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::Request;
use axum::http::{Extensions, HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use elasticjob::__private::log::{apart, info, warn};

use crate::access::{address, in_short};
use crate::to_its_end::may_change;

/// The header that a client may give an id in, and that the answer has it in.
const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// The longest id that a client may give, in characters.
const LONGEST: usize = 64;

/// The id of a request.
#[derive(Debug, Clone)]
pub(crate) struct RequestId(Arc<str>);

impl RequestId {
    /// The id that the client gives, where it is short and plain: it is written into the log.
    fn given(headers: &HeaderMap) -> Option<Self> {
        let mut values = headers.get_all(&HEADER).iter();
        let one = values.next().filter(|_| values.next().is_none())?.to_str().ok()?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
        let is_usable = (1..=LONGEST).contains(&one.len()) && one.chars().all(is_plain);
        is_usable.then(|| Self(one.into()))
    }

    /// A new id; `None` where the operating system gives no random bytes.
    fn new() -> Option<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).ok()?;
        Some(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into()))
    }

    /// The id of the request with these extensions.
    pub(crate) fn of(extensions: &Extensions) -> Option<String> {
        extensions.get::<Self>().map(|Self(id)| id.to_string())
    }
}

/// Gives a request its id, and its answer the same one. The log has each request that may change something, and each that the
/// console failed to answer.
pub(crate) async fn mark(mut request: Request, next: Next) -> Response {
    let Some(id) = RequestId::given(request.headers()).or_else(RequestId::new) else {
        return next.run(request).await;
    };
    request.extensions_mut().insert(id.clone());
    let changes = may_change(request.method());
    let (what, from) = (in_short(request.method(), request.uri().path()), address(request.extensions()));
    let begun = Instant::now();
    let mut response = next.run(request).await;
    if changes || response.status().is_server_error() {
        log(&id, what, from, response.status(), begun);
    }
    if let Ok(value) = HeaderValue::from_str(&id.0) {
        response.headers_mut().insert(HEADER, value);
    }
    response
}

fn log(id: &RequestId, what: String, from: Option<String>, status: StatusCode, begun: Instant) {
    let (request, from, took) = (id.0.clone(), from.unwrap_or_default(), begun.elapsed().as_millis());
    match status.is_server_error() {
        true => apart(move || warn!(target: "elasticjob::requests", %request, %from, "{what}: {status} in {took} ms")),
        false => apart(move || info!(target: "elasticjob::requests", %request, %from, "{what}: {status} in {took} ms")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{call, console, request, with_users};

    #[tokio::test]
    async fn an_answer_has_the_id_that_the_client_gave_or_one_that_is_made() {
        let console = console(with_users());
        let answered = async |path: &str, given: &[&'static str]| {
            let mut request = request("GET", path, None);
            for id in given {
                request.headers_mut().append(HEADER, HeaderValue::from_static(id));
            }
            call(&console, request).await.headers[&HEADER].to_str().expect("a text").to_owned()
        };
        for path in ["/healthz", "/login", "/api/v1/me", "/no/such/page"] {
            assert_eq!(answered(path, &["deploy-7.b:2"]).await, "deploy-7.b:2", "{path}");
        }
        let long: &'static str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0";
        let mut made = Vec::new();
        for unusable in [&[][..], &[""], &[long], &["a b"], &["a\"b"], &["one", "two"]] {
            made.push(answered("/healthz", unusable).await);
        }
        assert!(made.iter().all(|id| id.len() == 32 && id.chars().all(|c| c.is_ascii_hexdigit())), "{made:?}");
        made.sort();
        made.dedup();
        assert_eq!(made.len(), 6, "each has its own");
    }
}
