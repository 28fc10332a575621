//! The console's pages of carried jobs, which call this API.

use axum::body::{Body, to_bytes};
use axum::http::header::{CONTENT_TYPE, COOKIE, IF_MATCH, LOCATION, SET_COOKIE};
use axum::http::{HeaderMap, Request, StatusCode};
use serde_json::{Value, json};
use tower::ServiceExt;

use super::tests::{PASSWORD, Server, WHILE_IT_IS_THERE, job, until};

struct Page {
    status: StatusCode,
    headers: HeaderMap,
    text: String,
}

/// Asks for a page, or sends a form.
async fn call(server: &Server, cookie: &str, path: &str, form: Option<&[(&str, &str)]>) -> Page {
    let encode = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    let body = form.map(|pairs| {
        pairs.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect::<Vec<_>>().join("&")
    });
    let request = Request::builder().method(if body.is_some() { "POST" } else { "GET" }).uri(path);
    let request = request.header("host", "127.0.0.1").header(COOKIE, cookie);
    let request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
    let request = request.body(Body::from(body.unwrap_or_default())).unwrap();
    let response = server.router.clone().oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let text = String::from_utf8_lossy(&to_bytes(body, 1 << 20).await.unwrap()).into_owned();
    Page { status: parts.status, headers: parts.headers, text }
}

pub(super) async fn cookie(server: &Server, user: &str) -> String {
    let page = call(server, "", "/login", Some(&[("name", user), ("password", PASSWORD)])).await;
    page.headers[SET_COOKIE].to_str().unwrap().split(';').next().unwrap().to_owned()
}

/// Sends a form, and fails unless it led to this page.
async fn done(server: &Server, cookie: &str, path: &str, form: &[(&str, &str)], leads_to: &str) {
    let page = call(server, cookie, path, Some(form)).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{path}: {}", page.text);
    // Addresses encode all that is neither a letter nor a digit.
    let to = page.headers[LOCATION].to_str().unwrap().replace("%5F", "_").replace("%2D", "-");
    assert_eq!(to, leads_to, "{path}");
    let said = page.headers[SET_COOKIE].to_str().unwrap();
    assert!(said.starts_with("elasticjob_said=+"), "{path}: {said}");
}

pub(super) async fn text(server: &Server, cookie: &str, path: &str) -> String {
    let page = call(server, cookie, path, None).await;
    assert_eq!(page.status, StatusCode::OK, "{path}: {}", page.text);
    page.text
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_register_change_trigger_and_remove_what_the_api_shows() {
    let server = Server::start().await;
    let (admin, token) = (cookie(&server, "admin").await, server.token("admin").await);
    let script: Value = serde_json::from_str(&server.app("my_app", "echo 'hello <b>'")).unwrap();
    let url = script["appURL"].as_str().unwrap();
    let app = [
        ("appName", "my_app"),
        ("appURL", url),
        ("bootstrapScript", "./my_app.sh"),
        ("cpuCount", "0.1"),
        ("memoryMB", "64"),
    ];
    done(&server, &admin, "/r/default/cloud/new-app", &app, "/r/default/cloud/apps/my_app").await;
    let job = [
        ("jobName", "my_job"),
        ("appName", "my_app"),
        ("jobExecutionType", "TRANSIENT"),
        ("shardingTotalCount", "1"),
        ("cpuCount", "0.1"),
        ("memoryMB", "64"),
        ("env", "DB_PASSWORD=s3cret\r\nMODE=fast"),
    ];
    done(&server, &admin, "/r/default/cloud/new-job", &job, "/r/default/cloud/jobs/my_job").await;
    for (path, says) in [
        ("/r/default/cloud", "Registered jobs by day"),
        ("/r/default/cloud/apps", "my_app.sh"),
        ("/r/default/cloud/apps/my_app", "my_job"),
        ("/r/default/cloud/jobs", "TRANSIENT"),
        ("/r/default/cloud/jobs/my_job", "MODE=fast"),
        ("/r/default/cloud/tasks", "Nothing runs"),
    ] {
        let text = text(&server, &admin, path).await;
        assert!(text.contains(says) && !text.contains("s3cret"), "{path} does not say {says}: {text}");
    }

    // A form changes what was changed in it, and a mask that comes back is the secret.
    let shown = text(&server, &admin, "/r/default/cloud/jobs/my_job/change").await;
    assert!(shown.contains("DB_PASSWORD=***"), "{shown}");
    let (_, base) = server.call(&token, "GET", "/api/job/jobs/my_job", "").await;
    let other = json!({ "jobName": "my_job", "description": "another operator was faster" }).to_string();
    server.call(&token, "PUT", "/api/job/update", &other).await;
    let mut fields = job.to_vec();
    fields[6] = ("env", "DB_PASSWORD=***\nMODE=slow");
    let base = base.to_string();
    fields.push(("base", &base));
    done(&server, &admin, "/r/default/cloud/jobs/my_job/change", &fields, "/r/default/cloud/jobs/my_job").await;
    let all = server.scheduler.store().registrations().await.unwrap();
    let kept = all.jobs.values().next().unwrap();
    assert_eq!((kept.env["DB_PASSWORD"].as_str(), kept.env["MODE"].as_str()), ("s3cret", "slow"));
    assert_eq!(kept.description.as_deref(), Some("another operator was faster"));

    let path = "/r/default/cloud/jobs/my_job";
    done(&server, &admin, path, &[("action", "trigger")], path).await;
    let log = format!("{path}/log?item=0");
    until("its log", || async { text(&server, &admin, &log).await.contains("hello &#60;b&#62;") }).await;
    done(&server, &admin, path, &[("action", "disable")], path).await;
    assert!(text(&server, &admin, path).await.contains("Disabled: it does not fire"));
    done(&server, &admin, path, &[("action", "enable")], path).await;
    let app = "/r/default/cloud/apps/my_app";
    done(&server, &admin, app, &[("action", "disable")], app).await;
    assert!(text(&server, &admin, path).await.contains("Its application is disabled"));
    done(&server, &admin, app, &[("action", "enable")], app).await;
    done(&server, &admin, "/r/default/cloud/tasks", &[], "/r/default/cloud/tasks").await;
    done(&server, &admin, &format!("{path}/removal"), &[], "/r/default/cloud/jobs").await;
    done(&server, &admin, &format!("{app}/removal"), &[], "/r/default/cloud/apps").await;
    let (_, apps) = server.call(&token, "GET", "/api/app/list", "").await;
    assert_eq!(apps, json!([]));
    server.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_form_that_is_refused_comes_again_with_what_is_wrong_at_each_field() {
    let server = Server::start().await;
    let admin = cookie(&server, "admin").await;
    let fields = [("appName", "my_app"), ("cpuCount", "many <i>"), ("env", "1A=x")];
    let page = call(&server, &admin, "/r/default/cloud/new-app", Some(&fields)).await;
    assert_eq!(page.status, StatusCode::BAD_REQUEST);
    for part in ["value=\"my_app\"", "is missing: give for example", "many &#60;i&#62;", "1A: "] {
        assert!(page.text.contains(part), "{part}: {}", page.text);
    }
    for (path, status) in [
        ("/r/default/cloud/apps/none", StatusCode::NOT_FOUND),
        ("/r/default/cloud/jobs/none", StatusCode::NOT_FOUND),
        ("/r/default/cloud/jobs/none/change", StatusCode::NOT_FOUND),
        ("/r/default/cloud/jobs/none/log", StatusCode::NOT_FOUND),
        ("/r/other/cloud/apps", StatusCode::NOT_FOUND),
    ] {
        assert_eq!(call(&server, &admin, path, None).await.status, status, "{path}");
    }
    server.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_role_sees_the_buttons_that_it_may_press_and_no_other_is_let_through() {
    let server = Server::start().await;
    let token = server.token("admin").await;
    assert_eq!(server.call(&token, "POST", "/api/app", &server.app("a", "true")).await.0, StatusCode::OK);
    assert_eq!(server.call(&token, "POST", "/api/job/register", &job("orders", "a")).await.0, StatusCode::OK);
    assert_eq!(server.call(&token, "POST", "/api/job/register", &job("billing-1", "a")).await.0, StatusCode::OK);
    let page = "/r/default/cloud/jobs/orders";
    for (user, buttons) in [("viewer", 0), ("operator", 2), ("editor", 2), ("admin", 3)] {
        let cookie = cookie(&server, user).await;
        let text = text(&server, &cookie, page).await;
        let main = text.split("<main").nth(1).unwrap();
        assert_eq!(main.matches("<button").count(), buttons, "{user}: {main}");
        let removal = call(&server, &cookie, "/r/default/cloud/apps/none/removal", Some(&[])).await;
        assert_eq!(removal.status == StatusCode::FORBIDDEN, user != "admin", "{user}");
        let new = call(&server, &cookie, "/r/default/cloud/new-app", None).await;
        assert_eq!(new.status == StatusCode::OK, user == "admin", "{user}");
    }
    // A team has the jobs of its pattern, and no application.
    let team = cookie(&server, "billing").await;
    let jobs = text(&server, &team, "/r/default/cloud/jobs").await;
    assert!(jobs.contains("billing-1") && !jobs.contains("orders"), "{jobs}");
    assert_eq!(call(&server, &team, page, None).await.status, StatusCode::FORBIDDEN);
    let fields = [
        ("jobName", "stock"),
        ("appName", "a"),
        ("jobExecutionType", "TRANSIENT"),
        ("shardingTotalCount", "1"),
        ("cpuCount", "0.1"),
        ("memoryMB", "64"),
    ];
    let refused = call(&server, &team, "/r/default/cloud/new-job", Some(&fields)).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN, "{}", refused.text);
    let own: Vec<_> = [("jobName", "billing-2")].into_iter().chain(fields.into_iter().skip(1)).collect();
    done(&server, &team, "/r/default/cloud/new-job", &own, "/r/default/cloud/jobs/billing-2").await;
    // A caller that is not known sees nothing, and no header of a client stands for a page.
    assert_eq!(call(&server, "", page, None).await.status, StatusCode::SEE_OTHER);
    server.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_why_names_what_an_item_waits_for_at_its_carrier() {
    let server = Server::start().await;
    let (admin, token) = (cookie(&server, "admin").await, server.token("admin").await);
    let done = (StatusCode::OK, json!(true));
    let busy = server.app("a", WHILE_IT_IS_THERE);
    assert_eq!(server.call(&token, "POST", "/api/app", &busy).await, done);
    // One of its two items has room, and the other one waits.
    let cpus = std::thread::available_parallelism().unwrap().get() as f64;
    let mut large: Value = serde_json::from_str(&job("large", "a")).unwrap();
    large["cpuCount"] = json!(cpus - 0.5);
    for job in [large.to_string(), job("small", "a")] {
        assert_eq!(server.call(&token, "POST", "/api/job/register", &job).await, done);
    }
    assert_eq!(server.call(&token, "POST", "/api/job/trigger", "large").await, done);
    let why = "/r/default/jobs/large/why";
    until("the page says so", || async { text(&server, &admin, why).await.contains("At its carrier: it needs") }).await;
    // Others wait for nothing, and the list has a job alone where one is named.
    let small = text(&server, &admin, "/r/default/jobs/small/why").await;
    assert!(!small.contains("At its carrier"), "{small}");
    let (_, ready) = server.call(&token, "GET", "/api/job/tasks/ready?jobName=large", "").await;
    assert_eq!((ready.as_array().map(Vec::len), &ready[0]["jobName"]), (Some(1), &json!("large")));
    let (_, ready) = server.call(&token, "GET", "/api/job/tasks/ready?jobName=small", "").await;
    assert_eq!(ready, json!([]));
    server.call(&token, "POST", "/api/job/large/disable", "").await;
    server.scheduler.shutdown().await;
}

/// Changes the configuration of the job `orders` by the API of the console. Returns the answer.
async fn patch(server: &Server, cookie: &str, query: &str, etag: &str, change: &Value) -> (StatusCode, Value) {
    let path = format!("/api/v1/registries/default/jobs/orders/configuration{query}");
    let request = Request::builder().method("PATCH").uri(path).header(COOKIE, cookie);
    let request = request.header(CONTENT_TYPE, "application/json").header(IF_MATCH, etag);
    let response = server.router.clone().oneshot(request.body(Body::from(change.to_string())).unwrap()).await.unwrap();
    let status = response.status();
    (status, serde_json::from_slice(&to_bytes(response.into_body(), 1 << 20).await.unwrap()).unwrap_or_default())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_registration_is_not_contradicted_by_the_configuration_in_the_registry_center() {
    let server = Server::start().await;
    let (admin, token) = (cookie(&server, "admin").await, server.token("admin").await);
    assert_eq!(server.call(&token, "POST", "/api/app", &server.app("a", "true")).await.0, StatusCode::OK);
    assert_eq!(server.call(&token, "POST", "/api/job/register", &job("orders", "a")).await.0, StatusCode::OK);
    let page = "/r/default/jobs/orders/configuration";
    until("the job is started", || async { call(&server, &admin, page, None).await.status == StatusCode::OK }).await;

    let change = json!({ "sharding-total-count": 5 });
    for query in ["", "?dryRun=true"] {
        let (status, problem) = patch(&server, &admin, query, "\"0\"", &change).await;
        assert_eq!((status, &problem["code"]), (StatusCode::CONFLICT, &json!("carried-job")), "{problem}");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains("'orders'") && detail.contains("`PUT /api/job/update`"), "{detail}");
    }
    let shown = text(&server, &admin, page).await;
    assert!(shown.contains("id=\"carried\"") && shown.contains("PUT /api/job/update"), "{shown}");
    assert!(!shown.contains("configuration/edit"), "{shown}");
    let edit = format!("{page}/edit");
    let form = call(&server, &admin, &edit, None).await;
    assert_eq!(form.status, StatusCode::CONFLICT);
    assert!(
        form.text.contains("change the registration instead, with <code>PUT /api/job/update</code>"),
        "{}",
        form.text
    );
    let chinese = call(&server, &format!("{admin}; elasticjob_language=zh-CN"), &edit, None).await.text;
    assert!(chinese.contains("请修改注册信息"), "{chinese}");
    let fields = [("version", "0"), ("cron", "0 0 3 * * ?"), ("sharding-total-count", "2"), ("action", "preview")];
    let sent = call(&server, &admin, &edit, Some(&fields)).await;
    assert_eq!(sent.status, StatusCode::CONFLICT, "{}", sent.text);
    assert!(sent.text.contains("it is a carried job"), "{}", sent.text);

    // The registration is the way to change it.
    let update = json!({ "jobName": "orders", "shardingTotalCount": 5 }).to_string();
    assert_eq!(server.call(&token, "PUT", "/api/job/update", &update).await.0, StatusCode::OK);
    let stored = "/api/v1/registries/default/jobs/orders/configuration";
    until("the configuration follows", || async {
        let answer: Value = serde_json::from_str(&text(&server, &admin, stored).await).unwrap();
        answer["settings"]["sharding-total-count"] == 5
    })
    .await;
    server.scheduler.shutdown().await;
}
