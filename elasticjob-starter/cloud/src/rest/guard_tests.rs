//! The guard of the API: who is let in, behind a proxy as well, and what answers tell browsers and caches.

use axum::body::Body;
use axum::http::{Request, StatusCode};
use elasticjob_console::{Grant, Role};
use serde_json::json;
use tower::ServiceExt;

use super::tests::{PASSWORD, Server};

/// The console behind a trusted proxy on this host, which gives this client.
async fn through_a_proxy(
    server: &Server,
    request: axum::http::request::Builder,
    body: String,
) -> axum::response::Response {
    let peer = std::net::SocketAddr::from(([127, 0, 0, 1], 5_000));
    let request = request.extension(axum::extract::ConnectInfo(peer)).body(Body::from(body)).unwrap();
    server.router.clone().oneshot(request).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn guesses_behind_a_trusted_proxy_slow_down_their_client_alone() {
    let server = Server::with(|options| options.trusted_proxies = vec!["127.0.0.1".parse().unwrap()]).await;
    let log_in = async |client: &str, password: &str| {
        let request = Request::builder().method("POST").uri("/api/login").header("x-forwarded-for", client);
        let body = json!({ "username": "admin", "password": password }).to_string();
        through_a_proxy(&server, request, body).await.status()
    };
    while log_in("203.0.113.9", "guessed").await != StatusCode::TOO_MANY_REQUESTS {}
    assert_eq!(log_in("203.0.113.10", PASSWORD).await, StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_answer_is_kept_by_caches_or_taken_for_another_type() {
    let server = Server::start().await;
    for path in ["/api/app/list", "/api/job/jobs", "/api/job/none/log"] {
        let answer = through_a_proxy(&server, Request::builder().uri(path), String::new()).await;
        assert_eq!(answer.headers()["x-content-type-options"], "nosniff", "{path}");
        assert_eq!(answer.headers()["cache-control"], "no-store", "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_visitor_is_let_in_under_a_name_of_the_console_alone() {
    let server = Server::with(|options| {
        options.anonymous = vec![Grant::everywhere(Role::Admin)];
        options.allowed_hosts = vec!["jobs.example".parse().unwrap()];
    })
    .await;
    for (host, status) in [
        ("127.0.0.1:8899", StatusCode::OK),
        ("localhost", StatusCode::OK),
        ("jobs.example", StatusCode::OK),
        ("evil.example:8899", StatusCode::UNAUTHORIZED),
        ("127.0.0.1.evil.example", StatusCode::UNAUTHORIZED),
    ] {
        let request = Request::builder().uri("/api/job/jobs").header("host", host);
        assert_eq!(through_a_proxy(&server, request, String::new()).await.status(), status, "{host}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn behind_a_trusted_proxy_the_allowed_hosts_alone_let_a_visitor_in() {
    let server = Server::with(|options| {
        options.anonymous = vec![Grant::everywhere(Role::Admin)];
        options.trusted_proxies = vec!["127.0.0.1".parse().unwrap()];
        options.allowed_hosts = vec!["jobs.example".parse().unwrap()];
    })
    .await;
    for (host, status) in [("jobs.example", StatusCode::OK), ("127.0.0.1:8899", StatusCode::UNAUTHORIZED)] {
        let request = Request::builder().uri("/api/job/jobs").header("host", host);
        assert_eq!(through_a_proxy(&server, request, String::new()).await.status(), status, "{host}");
    }
}
