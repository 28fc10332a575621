//! Requests that change something go on where their client goes away: a change that was made is recorded, logged and counted,
//! and one of many jobs is not left half done.

use axum::extract::Request;
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use elasticjob::__private::tracing::Instrument;
use elasticjob::__private::tracing::Span;

/// Whether a request may change something.
pub(crate) fn may_change(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Answers a request that may change something in a task of its own. The server drops the future of a request when its
/// connection ends.
pub(crate) async fn run(request: Request, next: Next) -> Response {
    if !may_change(request.method()) {
        return next.run(request).await;
    }
    match tokio::spawn(next.run(request).instrument(Span::current())).await {
        Ok(response) => response,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime is ending.
            Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        },
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::middleware::from_fn;
    use axum::routing::any;
    use tokio::sync::mpsc::unbounded_channel;
    use tokio::time::{Duration, timeout};
    use tower::ServiceExt;

    use super::*;

    #[tokio::test]
    async fn what_changes_something_ends_and_what_reads_does_not_where_the_client_goes_away() {
        for (method, ends) in [("GET", false), ("POST", true), ("DELETE", true)] {
            let (begins, mut begun) = unbounded_channel();
            let (goes_on, go_on) = tokio::sync::watch::channel(false);
            let (done, mut ended) = unbounded_channel();
            let act = move || {
                let (begins, mut go_on, done) = (begins.clone(), go_on.clone(), done.clone());
                async move {
                    begins.send(()).expect("the test waits");
                    go_on.wait_for(|goes_on| *goes_on).await.expect("the test goes on");
                    done.send(()).expect("the test waits");
                }
            };
            let router: Router = Router::new().route("/", any(act)).layer(from_fn(run));
            let request = Request::builder().method(method).uri("/").body(Body::empty()).expect("it is a request");
            let client = tokio::spawn(router.oneshot(request));
            begun.recv().await.expect("it begins");
            client.abort();
            assert!(client.await.is_err_and(|error| error.is_cancelled()), "{method}");
            goes_on.send_replace(true);
            // Dropped with the last sender, where the handler does not end.
            let is_done = timeout(Duration::from_secs(20), ended.recv()).await.expect("it ends or is dropped");
            assert_eq!(is_done.is_some(), ends, "{method}");
        }
    }
}
