//! Refusals: each has a code that programs tell it by, and the pages of a console beside the API say it in Chinese as well.

use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use axum::response::IntoResponse;
use elasticjob::config::Message;
use elasticjob_console::Refused;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::answer::in_own_form;
use super::routes::ROUTES;
use super::tests::{Server, job};
use crate::texts;
use crate::texts::tests::{assert_chinese, chinese};

/// The answer to a request, with what a page learns of it.
async fn answer(
    server: &Server,
    token: &str,
    method: &str,
    path: &str,
    body: &str,
) -> (StatusCode, Value, Option<Refused>) {
    let request = Request::builder().method(method).uri(path).header("host", "127.0.0.1").header("accessToken", token);
    let response = server.router.clone().oneshot(request.body(Body::from(body.to_owned())).unwrap()).await.unwrap();
    let (parts, body) = response.into_parts();
    let body = to_bytes(body, 1 << 20).await.unwrap();
    let body = serde_json::from_slice(&body).unwrap_or_else(|_| String::from_utf8_lossy(&body).into_owned().into());
    (parts.status, body, parts.extensions.get().cloned())
}

/// Asserts that a request is refused, with a code and in both languages; returns the code.
async fn refused(server: &Server, token: &str, method: &str, path: &str, body: &str) -> String {
    let (status, told, refused) = answer(server, token, method, path, body).await;
    assert!(!status.is_success(), "{method} {path} {body}: {told}");
    let refused = refused.unwrap_or_else(|| panic!("{method} {path} is told to no page: {told}"));
    let is_told = |told: &Value, text: &str, message: &Message| {
        assert_eq!((told[text].as_str(), told["code"].as_str()), (Some(message.as_str()), message.code()), "{told}");
    };
    let chinese = chinese();
    is_told(&told, "message", refused.message());
    assert_chinese(&chinese, refused.message());
    for (at, (field, reason)) in refused.fields().enumerate() {
        let told = &told["problems"][at];
        assert_eq!(told["field"], field);
        is_told(told, "reason", reason);
        assert_chinese(&chinese, reason);
    }
    told["code"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_route_refuses_with_a_code_and_in_both_languages() {
    let server = Server::start().await;
    let (admin, stranger) = (server.token("admin").await, server.token("stranger").await);
    for route in ROUTES {
        let method = route.method;
        let path = route.path.replace("{app}", "none").replace("{job}", "none").replace("{period}", "never");
        if route.role.is_some() {
            assert_eq!(refused(&server, "unknown", method, &path, "").await, "token-refused", "{method} {path}");
            assert_eq!(refused(&server, &stranger, method, &path, "").await, "cloud-role-needed", "{method} {path}");
        }
        // What an administrator is refused depends on the route: some lists are empty then.
        for body in ["", "no json", "{}", "[]", "no/name"] {
            let (status, told, _) = answer(&server, &admin, method, &path, body).await;
            if !status.is_success() {
                let code = refused(&server, &admin, method, &path, body).await;
                assert!(!code.is_empty(), "{method} {path} {body}: {told}");
            }
        }
    }
    server.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_mistake_has_a_code_of_its_own() {
    let server = Server::start().await;
    let admin = server.token("admin").await;
    let done = (StatusCode::OK, json!(true));
    assert_eq!(server.call(&admin, "POST", "/api/app", &server.app("app", "true")).await, done);
    let mut daemon: Value = serde_json::from_str(&job("daemon", "app")).unwrap();
    let more = json!({ "jobExecutionType": "DAEMON", "cron": "0 0 3 * * ?", "instances": 0 });
    daemon.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    for job in [job("idle", "app"), job("off", "app"), daemon.to_string()] {
        assert_eq!(server.call(&admin, "POST", "/api/job/register", &job).await, done);
    }
    assert_eq!(server.call(&admin, "POST", "/api/job/off/disable", "").await, done);
    let is_followed = async {
        while refused(&server, &admin, "GET", "/api/job/idle/log", "").await == "no-such-job-known" {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), is_followed).await.expect("the scheduler starts the job");
    let executions = |query: &str| format!("/api/job/events/executions?{query}");
    let states = "/api/job/events/statusTraces?state=TASK_FLYING".to_owned();
    for (method, path, body, code) in [
        ("POST", "/api/app".to_owned(), server.app("app", "true"), "cloud-app-exists"),
        ("POST", "/api/app".to_owned(), "no json".to_owned(), "cloud-body-no-json"),
        ("GET", "/api/app/none".to_owned(), String::new(), "cloud-no-such-app"),
        ("DELETE", "/api/app/none".to_owned(), String::new(), "cloud-app-not-registered"),
        ("PUT", "/api/app?running=now".to_owned(), "{}".to_owned(), "cloud-running-of-change"),
        ("DELETE", "/api/app/app?running=finish".to_owned(), String::new(), "cloud-running-of-stop"),
        ("POST", "/api/job/register".to_owned(), job("idle", "app"), "cloud-job-exists"),
        ("POST", "/api/job/register".to_owned(), job("new", "none"), "cloud-app-not-registered"),
        ("PUT", "/api/job/update".to_owned(), job("none", "app"), "cloud-job-not-registered"),
        ("POST", "/api/job/trigger".to_owned(), "none".to_owned(), "cloud-no-such-job"),
        ("POST", "/api/job/trigger".to_owned(), "off".to_owned(), "cloud-job-is-disabled"),
        ("GET", "/api/job/idle/log".to_owned(), String::new(), "cloud-item-not-run"),
        ("GET", "/api/job/idle/log?item=x".to_owned(), String::new(), "cloud-log-item-number"),
        ("GET", "/api/job/idle/log?process=0".to_owned(), String::new(), "cloud-log-of-transient"),
        ("GET", "/api/job/daemon/log?item=0".to_owned(), String::new(), "cloud-log-of-daemon"),
        ("GET", "/api/job/daemon/log?process=x".to_owned(), String::new(), "cloud-log-process-number"),
        ("GET", "/api/job/daemon/log".to_owned(), String::new(), "cloud-no-log-of-process"),
        ("GET", "/api/job/idle/log?launch=x".to_owned(), String::new(), "cloud-no-such-launch"),
        ("GET", "/api/job/idle/log?launch=off/scheduled@5".to_owned(), String::new(), "cloud-launch-of-another-job"),
        ("GET", "/api/job/idle/log?launch=idle/scheduled@5".to_owned(), String::new(), "cloud-no-log-of-item"),
        ("GET", executions(""), String::new(), "cloud-not-traced"),
        ("GET", executions("isSuccess=maybe"), String::new(), "cloud-no-flag"),
        ("GET", executions("startTime=soon"), String::new(), "cloud-no-time"),
        ("GET", states, String::new(), "cloud-none-of"),
        ("GET", "/api/job/statistics/tasks/results/never".to_owned(), String::new(), "cloud-no-such-span"),
        ("GET", "/api/operate/sandbox".to_owned(), String::new(), "cloud-app-name-missing"),
        ("PATCH", "/api/app".to_owned(), String::new(), "cloud-wrong-method"),
        ("POST", "/api/app".to_owned(), "x".repeat(300 * 1_024), "cloud-body-too-long"),
        ("GET", "/api/app/%FF".to_owned(), String::new(), "cloud-unreadable-request"),
        ("POST", "/api/login".to_owned(), "{}".to_owned(), "cloud-login-body"),
        ("POST", "/api/login".to_owned(), r#"{"username":"admin","password":"guessed"}"#.to_owned(), "login-refused"),
    ] {
        assert_eq!(refused(&server, &admin, method, &path, &body).await, code, "{method} {path}");
    }
    server.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_no_route_refuses_has_a_code_where_its_cause_is_known() {
    let server = Server::start().await;
    let request = Request::builder().method("POST").uri("/api/app").header("host", "127.0.0.1");
    let request = request.header("sec-fetch-site", "cross-site").body(Body::empty()).unwrap();
    let response = server.router.clone().oneshot(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::FORBIDDEN);
    let refused: Refused = response.extensions().get().cloned().unwrap();
    assert_eq!(refused.message().code(), Some("cloud-foreign-origin"));
    assert_chinese(&chinese(), refused.message());
    // The console answers for an address that neither has, in the words of this API.
    let (missing, told, _) = answer(&server, "", "GET", "/api/none", "").await;
    let expected = texts::no_such_address();
    assert_eq!(
        (missing, told),
        (StatusCode::NOT_FOUND, json!({ "message": expected.as_str(), "code": expected.code() }))
    );
    let alone = in_own_form(StatusCode::NOT_FOUND.into_response()).await;
    let refused: Refused = alone.extensions().get().cloned().unwrap();
    assert_eq!(refused.message(), &expected);
    assert_chinese(&chinese(), &expected);
    let other = in_own_form((StatusCode::NOT_IMPLEMENTED, "not built").into_response()).await;
    let refused: Refused = other.extensions().get().cloned().unwrap();
    assert_eq!((refused.message().code(), refused.message().as_str()), (None, "not built"));
    server.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_field_that_is_wrong_is_told_in_both_languages() {
    let server = Server::start().await;
    let admin = server.token("admin").await;
    assert_eq!(server.call(&admin, "POST", "/api/app", &server.app("app", "true")).await.0, StatusCode::OK);
    let url = |url: &str| json!({ "appName": "a", "bootstrapScript": "x", "appURL": url });
    for app in [
        json!({}),
        json!([]),
        json!({ "appName": "a/b", "appURL": 5, "bootstrapScript": ["x"], "cpuCount": "many", "memoryMB": -1, "env": { "1A": "x",
                "ELASTICJOB_A": "x", "A": "a\u{0}b", "B": [] }, "slurm": { "qos": "a b", "timeLimitMinutes": "0", "none": "x" },
                "appurl": "x", "other": 1, "appCacheEnable": "perhaps", "eventTraceSamplingCount": -1 }),
        json!({ "appName": "a", "appURL": "file:///a", "bootstrapScript": "x", "env": 1, "slurm": "x" }),
        url("file://***@a"),
        url("file:a"),
        url("https://["),
        url("http://example.com/a"),
        url("ftp://example.com/a"),
        url("https://example.com/a#sha256=0"),
    ] {
        assert_eq!(refused(&server, &admin, "POST", "/api/app", &app.to_string()).await, "cloud-fields-wrong", "{app}");
    }
    let of = |more: Value| {
        let mut fields: Value = serde_json::from_str(&job("new", "app")).unwrap();
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        fields
    };
    for job in [
        json!({}),
        of(json!({ "jobName": "config" })),
        of(
            json!({ "jobName": "a/b", "jobExecutionType": "OTHER", "shardingTotalCount": 0, "cpuCount": 0, "instances": 3 }),
        ),
        of(json!({ "jobExecutionType": "DAEMON", "dependsOn": ["a"] })),
        of(json!({ "cron": "0 0 3 * * ?", "dependsOn": ["a"] })),
        of(json!({ "cron": "never", "timeZone": "Nowhere", "shardingItemParameters": "x" })),
        of(json!({ "dependsOn": [5, {}, { "job": 5 }, { "job": "a", "other": 1 }] })),
        of(json!({ "dependsOn": 5, "props": { "script.timeout.milliseconds": "soon" } })),
        of(json!({ "dependsOn": "new" })),
        of(json!({ "cpuCount": 100_000, "memoryMB": 1e12, "queueName": "q", "itemsPerProcess": 2 })),
    ] {
        let code = refused(&server, &admin, "POST", "/api/job/register", &job.to_string()).await;
        assert_eq!(code, "cloud-fields-wrong", "{job}");
    }
    assert_eq!(refused(&server, &admin, "PUT", "/api/job/update", "{}").await, "cloud-fields-wrong");
    server.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_of_a_job_neither_disables_nor_enables_it_and_an_answer_says_what_it_is_now() {
    let server = Server::start().await;
    let admin = server.token("admin").await;
    let done = (StatusCode::OK, json!(true));
    assert_eq!(server.call(&admin, "POST", "/api/app", &server.app("app", "true")).await, done);
    assert_eq!(server.call(&admin, "POST", "/api/job/register", &job("one", "app")).await, done);
    let change = |disabled: Value| json!({ "jobName": "one", "disabled": disabled }).to_string();
    for (switch, is_disabled) in [("enable", false), ("disable", true), ("enable", false)] {
        assert_eq!(server.call(&admin, "POST", &format!("/api/job/one/{switch}"), "").await, done);
        let (_, shown) = server.call(&admin, "GET", "/api/job/jobs/one", "").await;
        assert_eq!(shown["disabled"], is_disabled);
        assert_eq!(server.call(&admin, "GET", "/api/job/jobs", "").await.1, json!([shown]));
        // What was answered is sent back as a whole, or with this field alone.
        for same in [shown.to_string(), change(json!(is_disabled))] {
            assert_eq!(server.call(&admin, "PUT", "/api/job/update", &same).await, done, "{same}");
        }
        let other = change(json!(!is_disabled));
        assert_eq!(refused(&server, &admin, "PUT", "/api/job/update", &other).await, "cloud-fields-wrong");
        let (status, told) = server.call(&admin, "PUT", "/api/job/update", &other).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{told}");
        let problem = &told["problems"][0];
        assert_eq!((&problem["field"], &problem["code"]), (&json!("disabled"), &json!("cloud-disabled-is-switched")));
        assert_eq!(server.call(&admin, "GET", "/api/job/one/disable", "").await.1, is_disabled);
        // No value is the default.
        let reset = server.call(&admin, "PUT", "/api/job/update", &change(Value::Null)).await.0;
        assert_eq!(reset.is_success(), !is_disabled);
    }
    server.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chinese_page_says_a_refusal_in_chinese() {
    let server = Server::start().await;
    let admin = super::pages_tests::cookie(&server, "admin").await;
    let page = async |language: &str, path: &str, form: Option<&str>| {
        let cookie = format!("{admin}; elasticjob_language={language}");
        let request = Request::builder().method(if form.is_some() { "POST" } else { "GET" }).uri(path);
        let request = request.header("host", "127.0.0.1").header("cookie", cookie);
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let request = request.body(Body::from(form.unwrap_or_default().to_owned())).unwrap();
        let response = server.router.clone().oneshot(request).await.unwrap();
        String::from_utf8_lossy(&to_bytes(response.into_body(), 1 << 20).await.unwrap()).into_owned()
    };
    let form = Some("appName=a&cpuCount=many&appURL=ftp://a");
    let (english, chinese) =
        (page("en", "/r/default/cloud/new-app", form).await, page("zh-CN", "/r/default/cloud/new-app", form).await);
    assert!(english.contains("is the text &#34;many&#34;: give a number from 0"), "{english}");
    for part in ["不应为文本“many”；应为：不小于 0 的数", "“ftp://a”的形式未知", "缺失：请给出，例如“bin/start.sh”"]
    {
        assert!(chinese.contains(part), "{part}: {chinese}");
    }
    let missing = page("zh-CN", "/r/default/cloud/apps/none", None).await;
    assert!(missing.contains("没有应用“none”") && !missing.contains("there is no app"), "{missing}");
    server.scheduler.shutdown().await;
}
