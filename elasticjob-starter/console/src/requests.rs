//! Counts the requests that the console answered.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use axum::extract::{MatchedPath, Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;

use crate::app::App;

/// The route of a request that no route answers.
const UNMATCHED: &str = "unmatched";

/// What is counted apart. All are of few values: a route is a pattern, not an address.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) route: String,
    pub(crate) method: &'static str,
    /// `2xx`, `4xx` and so on.
    pub(crate) status: &'static str,
}

/// How many requests were answered since the console started.
#[derive(Debug, Default)]
pub(crate) struct Requests(Mutex<BTreeMap<Key, u64>>);

impl Requests {
    fn add(&self, key: Key) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default() += 1;
    }

    pub(crate) fn counts(&self) -> BTreeMap<Key, u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn method(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        _ => "OTHER",
    }
}

fn class(status: StatusCode) -> &'static str {
    match status.as_u16() {
        0..200 => "1xx",
        200..300 => "2xx",
        300..400 => "3xx",
        400..500 => "4xx",
        _ => "5xx",
    }
}

/// Counts a request once it is answered, also one that is refused. A stream is answered when it begins.
pub(crate) async fn count(State(app): State<App>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().map(|route| {
        let path = route.as_str();
        path.strip_prefix(app.options.base_path.as_str()).unwrap_or(path).to_owned()
    });
    let method = method(request.method());
    let response = next.run(request).await;
    let status = class(response.status());
    app.requests.add(Key { route: route.unwrap_or_else(|| UNMATCHED.to_owned()), method, status });
    response
}

#[cfg(test)]
mod tests {
    use elasticjob::registry::memory::MemoryRegistry;

    use crate::ConsoleOptions;
    use crate::testing::{call, console, console_of, cookie_of, request, with_users};

    #[tokio::test]
    async fn requests_are_counted_by_route_and_not_by_address() {
        let console = console_of(&MemoryRegistry::new());
        let cookie = cookie_of(&console, "admin").await;
        for path in ["/r/default/jobs/a", "/r/default/jobs/b", "/r/other/jobs/b", "/no/such/page"] {
            call(&console, request("GET", path, Some(&cookie))).await;
        }
        call(&console, request("GET", "/api/v1/me", None)).await;
        let page = call(&console, request("GET", "/metrics", Some(&cookie))).await.body;
        let name = "elasticjob_console_http_requests_total";
        for series in [
            r#"{route="/r/{registry}/jobs/{job}",method="GET",status="4xx"} 3"#,
            r#"{route="/login",method="POST",status="3xx"} 1"#,
            r#"{route="/api/v1/me",method="GET",status="4xx"} 1"#,
            r#"{route="unmatched",method="GET",status="4xx"} 1"#,
        ] {
            assert!(page.contains(&format!("{name}{series}")), "{series}: {page}");
        }
    }

    #[tokio::test]
    async fn a_base_path_is_no_part_of_a_route() {
        let console = console(ConsoleOptions { base_path: "/jobs".to_owned(), ..with_users() });
        call(&console, request("GET", "/jobs/healthz", None)).await;
        let counts = console.app().requests.counts();
        assert_eq!(counts.keys().map(|key| key.route.as_str()).collect::<Vec<_>>(), ["/healthz"], "{counts:?}");
    }
}
