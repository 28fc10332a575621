//! The lists of what runs and what waits.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::pages_tests::{cookie, text};
use super::tests::{Server, WHILE_IT_IS_THERE, job, until};
use crate::scheduler::tests::away::Away;
use crate::scratch::Scratch;

/// The items of the job `work` in a list of tasks.
async fn items(server: &Server, token: &str, list: &str) -> Vec<Value> {
    let (status, listed) = server.call(token, "GET", &format!("/api/job/tasks/{list}"), "").await;
    assert_eq!(status, StatusCode::OK, "{listed}");
    let of_job = |listed: Value| listed["items"].as_array().cloned().unwrap_or_else(|| vec![listed]);
    listed.as_array().unwrap().iter().cloned().flat_map(of_job).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_that_the_engine_has_not_taken_waits_and_does_not_run() {
    let scratch = Scratch::new();
    let away = Arc::new(Away::in_folder(scratch.path().join("work")));
    let server = Server::on(scratch, away.clone()).await;
    let (admin, token) = (cookie(&server, "admin").await, server.token("admin").await);
    let done = (StatusCode::OK, json!(true));
    let app = server.app("a", WHILE_IT_IS_THERE);
    assert_eq!(server.call(&token, "POST", "/api/app", &app).await, done);
    assert_eq!(server.call(&token, "POST", "/api/job/register", &job("work", "a")).await, done);
    away.is_unreachable.store(true, Ordering::SeqCst);
    assert_eq!(server.call(&token, "POST", "/api/job/trigger", "work").await, done);
    until("both items wait", || async { items(&server, &token, "ready").await.len() == 2 }).await;
    until("the engine was asked", || async { away.unlaunched.load(Ordering::SeqCst) > 0 }).await;
    until("it is told why", || async {
        let waiting = items(&server, &token, "ready").await;
        let is_told = |item: &Value| item["why"].as_str().is_some_and(|why| why.contains("the engine is away"));
        waiting.len() == 2 && waiting.iter().all(|item| is_told(item) && item["since"].is_i64() && item["attempt"] == 1)
    })
    .await;
    assert_eq!(items(&server, &token, "running").await, Vec::<Value>::new());
    assert_eq!(items(&server, &token, "failover").await, Vec::<Value>::new());
    let page = text(&server, &admin, "/r/default/cloud/tasks").await;
    assert!(page.contains("the engine is away") && page.contains("Nothing runs") && page.contains("Since"), "{page}");
    away.is_unreachable.store(false, Ordering::SeqCst);
    until("both items run", || async {
        let running = items(&server, &token, "running").await;
        running.len() == 2 && running.iter().all(|task| task["attempt"] == 1 && task["lost"].is_null())
    })
    .await;
    assert_eq!(items(&server, &token, "ready").await, Vec::<Value>::new());
    server.call(&token, "POST", "/api/job/work/disable", "").await;
    server.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_carrier_that_does_not_answer_is_told_to_the_operator_who_asks_it_again() {
    let scratch = Scratch::new();
    let away = Arc::new(Away::in_folder(scratch.path().join("work")));
    let server = Server::on(scratch, away.clone()).await;
    let token = server.token("admin").await;
    let done = (StatusCode::OK, json!(true));
    assert_eq!(server.call(&token, "POST", "/api/app", &server.app("a", WHILE_IT_IS_THERE)).await, done);
    assert_eq!(server.call(&token, "POST", "/api/job/register", &job("work", "a")).await, done);
    assert_eq!(server.call(&token, "POST", "/api/job/trigger", "work").await, done);
    until("both items run", || async { items(&server, &token, "running").await.len() == 2 }).await;
    for way in ["explicit", "implicit"] {
        let reconcile = async || server.call(&token, "POST", &format!("/api/operate/reconcile/{way}"), "").await;
        assert_eq!(reconcile().await, done);
        away.is_deaf.store(true, Ordering::SeqCst);
        let (status, problem) = reconcile().await;
        assert_eq!(status, StatusCode::BAD_GATEWAY, "{problem}");
        assert!(problem["message"].as_str().unwrap().contains("the engine is away"), "{problem}");
        away.is_deaf.store(false, Ordering::SeqCst);
    }
    server.call(&token, "POST", "/api/job/work/disable", "").await;
    server.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trigger_beside_one_that_waits_is_refused() {
    let server = Server::start().await;
    let token = server.token("admin").await;
    let done = (StatusCode::OK, json!(true));
    let app = server.app("a", WHILE_IT_IS_THERE);
    assert_eq!(server.call(&token, "POST", "/api/app", &app).await, done);
    assert_eq!(server.call(&token, "POST", "/api/job/register", &job("work", "a")).await, done);
    assert_eq!(server.call(&token, "POST", "/api/job/trigger", "work").await, done);
    until("both items run", || async { items(&server, &token, "running").await.len() == 2 }).await;
    // It waits for the end of these runs.
    assert_eq!(server.call(&token, "POST", "/api/job/trigger", "work").await, done);
    let (status, answer) = server.call(&token, "POST", "/api/job/trigger", "work").await;
    assert_eq!((status, &answer["code"]), (StatusCode::CONFLICT, &json!("cloud-triggered-before")));
    server.call(&token, "POST", "/api/job/work/disable", "").await;
    server.scheduler.shutdown().await;
}
