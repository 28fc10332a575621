use std::sync::Arc;

use axum::body::BodyDataStream;
use axum::http::StatusCode;
use elasticjob::config::JobSettings;
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::trace::JobEvent;
use futures_util::StreamExt;
use serde_json::Value;
use tower::ServiceExt;

use crate::testing::traced::{Folder, line, run};
use crate::testing::{call, cookie_of, request, start_job};

/// The data of the next event.
async fn next(stream: &mut BodyDataStream) -> Value {
    loop {
        let text = stream.next().await.expect("it goes on").expect("the stream goes on");
        let text = String::from_utf8(text.to_vec()).expect("it is a text");
        if let Some(data) = text.lines().find_map(|line| line.strip_prefix("data: ")) {
            return serde_json::from_str(data).expect("JSON");
        }
    }
}

#[tokio::test]
async fn lines_are_told_as_they_come_and_the_end_of_the_run_after_the_last() {
    let (folder, memory) = (Folder::new("live-log"), MemoryRegistry::new());
    let _job = start_job(&memory, "settle", &JobSettings::default()).await;
    let at = crate::service::now() - 60_000;
    let begun = run("settle", 0, Some(at), at + 5, None);
    folder.write([JobEvent::Execution(begun.clone()), line(&begun, 1, "first")]).await;
    let console = folder.console(&memory).await;
    let cookie = cookie_of(&console, "viewer").await;
    let path = format!("/r/default/jobs/settle/log/{}/events?since=1", begun.id);
    let response = console.router().oneshot(request("GET", &path, Some(&cookie))).await.expect("a router answers");
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()["x-accel-buffering"], "no");
    let mut stream = response.into_body().into_data_stream();
    folder.write([line(&begun, 2, "second")]).await;
    assert_eq!(next(&mut stream).await, serde_json::json!({ "line": 2, "ended": false }));
    let ended = run("settle", 0, Some(at), at + 5, Some(at + 5_000));
    folder.write([line(&begun, 3, "third"), JobEvent::Execution(ended)]).await;
    assert_eq!(next(&mut stream).await, serde_json::json!({ "line": 3, "ended": true }));
    console.app().ending.cancel();
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn a_logout_ends_the_stream_with_the_session() {
    let (folder, memory) = (Folder::new("live-log-logout"), MemoryRegistry::new());
    let _job = start_job(&memory, "settle", &JobSettings::default()).await;
    let at = crate::service::now() - 60_000;
    let begun = run("settle", 0, Some(at), at + 5, None);
    folder.write([JobEvent::Execution(begun.clone())]).await;
    let console = folder.console(&memory).await;
    let cookie = cookie_of(&console, "viewer").await;
    let path = format!("/r/default/jobs/settle/log/{}/events", begun.id);
    let response = console.router().oneshot(request("GET", &path, Some(&cookie))).await.expect("a router answers");
    assert_eq!(response.status(), StatusCode::OK);
    let mut stream = response.into_body().into_data_stream();
    assert!(call(&console, request("POST", "/logout", Some(&cookie))).await.status.is_redirection());
    let end = tokio::time::timeout(std::time::Duration::from_secs(30), stream.next()).await;
    assert!(end.expect("it ends soon").is_none());
}

#[tokio::test]
async fn a_run_that_is_not_there_or_of_another_job_has_no_stream() {
    let (folder, memory) = (Folder::new("live-log-none"), MemoryRegistry::new());
    let _jobs = [
        start_job(&memory, "settle", &JobSettings::default()).await,
        start_job(&memory, "other", &JobSettings::default()).await,
    ];
    let begun = run("settle", 0, None, 5, None);
    folder.write([JobEvent::Execution(begun.clone())]).await;
    let console = folder.console(&memory).await;
    let cookie = cookie_of(&console, "viewer").await;
    for (job, id) in [("settle", Arc::from("none")), ("other", begun.id)] {
        let path = format!("/api/v1/registries/default/jobs/{job}/executions/{id}/log/events");
        let answer = call(&console, request("GET", &path, Some(&cookie))).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{job}");
        assert!(answer.body.contains("no-such-run"), "{}", answer.body);
    }
}
