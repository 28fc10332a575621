use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, Request, StatusCode};
use elasticjob::ident::JobName;
use elasticjob::trace::{JobDecisionEvent, Tracing, TracingConfiguration};
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tower::ServiceExt;

use super::routes::ROUTES;
use super::tests::{Server, job, until};
use crate::told::Told;

/// What a route that changes something records: the action, and whether it is done.
type Recorded = (&'static str, &'static str);

/// The calls of all routes that change something, each with what it records. The route of a login changes nothing, and is in the
/// log of logins; that which asks the carrier again changes nothing either.
fn calls(app: String) -> Vec<(&'static str, &'static str, &'static str, String, Recorded)> {
    let none = String::new;
    let secret = json!({ "appName": "app", "env": { "TOKEN": "s3cret" } }).to_string();
    let change = json!({ "jobName": "one", "description": "new" }).to_string();
    vec![
        ("POST", "/api/app", "/api/app", app.clone(), ("register-app", "done")),
        ("POST", "/api/app", "/api/app", app, ("register-app", "refused")),
        ("PUT", "/api/app", "/api/app", secret, ("change-app", "done")),
        ("POST", "/api/job/register", "/api/job/register", job("one", "app"), ("register-carried-job", "done")),
        ("PUT", "/api/job/update", "/api/job/update", change, ("change-carried-job", "done")),
        ("POST", "/api/job/trigger", "/api/job/trigger", "one".to_owned(), ("trigger", "done")),
        ("POST", "/api/job/{job}/disable", "/api/job/one/disable", none(), ("disable-carried-job", "done")),
        ("DELETE", "/api/job/{job}/disable", "/api/job/one/disable", none(), ("enable-carried-job", "done")),
        ("POST", "/api/job/{job}/enable", "/api/job/one/enable", none(), ("enable-carried-job", "done")),
        ("POST", "/api/app/{app}/disable", "/api/app/app/disable", none(), ("disable-app", "done")),
        ("DELETE", "/api/app/{app}/disable", "/api/app/app/disable", none(), ("enable-app", "done")),
        ("POST", "/api/app/{app}/enable", "/api/app/app/enable", none(), ("enable-app", "done")),
        ("DELETE", "/api/job/{job}/deregister", "/api/job/one/deregister", none(), ("remove-carried-job", "done")),
        ("DELETE", "/api/job/deregister", "/api/job/deregister", "one".to_owned(), ("remove-carried-job", "refused")),
        ("DELETE", "/api/app/{app}", "/api/app/app", none(), ("remove-app", "done")),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_change_is_recorded_with_its_caller_and_without_secrets() {
    let told = Told::default();
    let tracing = Tracing::start(TracingConfiguration::new(told.clone()), &Handle::current());
    let server = Server::with_registry(|_| (), |registry| registry.record(tracing.clone())).await;
    let admin = server.token("admin").await;
    let calls = calls(server.app("app", "true"));
    let unchanging = ["/api/login", "/api/operate/reconcile/explicit", "/api/operate/reconcile/implicit"];
    for route in ROUTES.iter().filter(|route| route.method != "GET" && !unchanging.contains(&route.path)) {
        let is_called = calls.iter().any(|(method, path, ..)| (*method, *path) == (route.method, route.path));
        assert!(is_called, "{} {} is called here, and recorded", route.method, route.path);
    }
    for (method, _, path, body, recorded) in &calls {
        let (status, answer) = server.call(&admin, method, path, body).await;
        assert_eq!(status == StatusCode::OK, recorded.1 == "done", "{method} {path}: {answer}");
    }
    until("all are written", || async { told.0.lock().unwrap().len() == calls.len() }).await;
    tracing.close(Duration::from_secs(20)).await;
    let records = told.0.lock().unwrap().clone();
    let word = |record: &JobDecisionEvent, name: &str| record.detail[name].as_str().unwrap_or_default().to_owned();
    for (record, (method, _, path, _, recorded)) in records.iter().zip(&calls) {
        assert_eq!((word(record, "action").as_str(), word(record, "outcome").as_str()), *recorded, "{method} {path}");
        assert_eq!(word(record, "actor"), "admin");
        assert!(!Value::from(record.detail.clone()).to_string().contains("s3cret"), "{record:?}");
    }
    // The pages say in the language of their reader why it was not done.
    let refused = records.iter().find(|record| word(record, "outcome") == "refused").unwrap();
    let code = &refused.detail["errorMessages"][0]["code"];
    assert_eq!(code, "cloud-app-exists", "{refused:?}");
    let parts = |at: usize| records[at].detail["parts"].clone();
    assert_eq!((records[2].job_name.as_str(), parts(2)), ("app", json!(["app app", "field appName", "field env"])));
    assert_eq!((records[4].job_name.as_str(), parts(4)), ("one", json!(["field description", "field jobName"])));
    server.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_record_of_a_change_has_the_id_of_its_request() {
    let told = Told::default();
    let tracing = Tracing::start(TracingConfiguration::new(told.clone()), &Handle::current());
    let server = Server::with_registry(|_| (), |registry| registry.record(tracing.clone())).await;
    let request = Request::builder().method("POST").uri("/api/app").header("accessToken", server.token("admin").await);
    let request = request.header("X-Request-Id", "deploy-7").body(Body::from(server.app("app", "true"))).unwrap();
    let answer = server.router.clone().oneshot(request).await.unwrap();
    assert_eq!(
        (answer.status(), &answer.headers()["x-request-id"]),
        (StatusCode::OK, &HeaderValue::from_static("deploy-7"))
    );
    tracing.close(Duration::from_secs(20)).await;
    let records = told.0.lock().unwrap().clone();
    assert_eq!(
        (records.len(), &records[0].detail["request"], &records[0].detail["surface"]),
        (1, &json!("deploy-7"), &json!("rest"))
    );
    server.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_kept_with_the_trace_of_the_request_that_triggered_it() {
    const CALLER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let server = Server::start().await;
    let admin = server.token("admin").await;
    assert_eq!(server.call(&admin, "POST", "/api/app", &server.app("app", "true")).await.0, StatusCode::OK);
    assert_eq!(server.call(&admin, "POST", "/api/job/register", &job("one", "app")).await.0, StatusCode::OK);
    let request = Request::builder().method("POST").uri("/api/job/trigger").header("accessToken", &admin);
    let request = request.header("traceparent", CALLER).body(Body::from("one")).unwrap();
    assert_eq!(server.router.clone().oneshot(request).await.unwrap().status(), StatusCode::OK);
    let name = JobName::new("one").unwrap();
    until("it runs for the caller", || async {
        let items = server.scheduler.operations().snapshot(&name).await.unwrap().items;
        let fires = items.values().filter_map(|item| item.record.last_fire()?.trace_parent());
        fires.filter(|caller| caller.to_string() == CALLER).count() == 2
    })
    .await;
    server.scheduler.shutdown().await;
}
