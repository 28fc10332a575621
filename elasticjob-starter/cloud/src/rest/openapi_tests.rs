//! The description of the API against what its routes really answer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{Request, StatusCode};
use elasticjob::config::Message;
use elasticjob::trace::{
    AnyTraceReader, DecisionFilter, DecisionRecord, ExecutionFilter, ExecutionRecord, Page, PageRequest, ReadError,
    StateFilter, StateRecord, TraceReader,
};
use serde_json::{Value, json};
use tower::ServiceExt;

use super::events_tests::Asked;
use super::fails::{Fail, statuses};
use super::openapi_document;
use super::routes::{Body as Form, ROUTES, Route};
use super::tests::{Server, WHILE_IT_IS_THERE, job, until};
use crate::scheduler::tests::away::Away;
use crate::scratch::Scratch;

/// What is caused here. Others need a machine that fails, a registry center that answers wrongly, or callers that race or guess, and
/// are only held against the description where they are seen.
const CAUSED: [Fail; 6] = [Fail::Body, Fail::Parameter, Fail::Missing, Fail::State, Fail::Carrier, Fail::Traces];

/// What is wrong with a value by a schema of the document; nothing of one that fits. Every field has to be described.
fn misfits(schema: &Value, value: &Value, document: &Value, at: &str) -> Vec<String> {
    if let Some(name) = schema["$ref"].as_str() {
        let pointer = name.strip_prefix('#').unwrap();
        return misfits(document.pointer(pointer).unwrap(), value, document, at);
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        let fits = choices.iter().any(|choice| misfits(choice, value, document, at).is_empty());
        return if fits { Vec::new() } else { vec![format!("{at}: {value} is none of {choices:?}")] };
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        one => vec![one.as_str().unwrap()],
    };
    let is = |type_: &str| match type_ {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("{at}: there is no type {other}"),
    };
    if !types.into_iter().any(is) {
        return vec![format!("{at}: {value} is no {}", schema["type"])];
    }
    let mut wrong = Vec::new();
    if let Some(values) = schema["enum"].as_array().filter(|values| !values.contains(value)) {
        wrong.push(format!("{at}: {value} is none of {values:?}"));
    }
    if let Some(fields) = value.as_object() {
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        wrong.extend(required.filter(|name| !fields.contains_key(*name)).map(|name| format!("{at}.{name} is missing")));
        for (name, value) in fields {
            let of_field = [&schema["properties"][name], &schema["additionalProperties"]];
            match of_field.into_iter().find(|schema| schema.is_object()) {
                Some(schema) => wrong.extend(misfits(schema, value, document, &format!("{at}.{name}"))),
                None if schema["additionalProperties"] == true => {}
                None => wrong.push(format!("{at}.{name} is not described")),
            }
        }
    }
    for (number, value) in value.as_array().into_iter().flatten().enumerate() {
        wrong.extend(misfits(&schema["items"], value, document, &format!("{at}[{number}]")));
    }
    wrong
}

/// What was answered, by method and path of the route.
#[derive(Default)]
struct Seen(BTreeMap<(&'static str, &'static str), BTreeSet<u16>>);

impl Seen {
    /// Calls a route, and compares the answer with the description.
    async fn call(&mut self, server: &Server, route: &Route, token: &str, path: &str, body: &str) -> u16 {
        let mut request = Request::builder().method(route.method).uri(path);
        if !token.is_empty() {
            request = request.header("accessToken", token);
        }
        let answer = server.router.clone().oneshot(request.body(Body::from(body.to_owned())).unwrap()).await.unwrap();
        let (parts, body) = answer.into_parts();
        let status = parts.status.as_u16();
        let says_when = parts.headers.contains_key(RETRY_AFTER);
        assert!(says_when || status != 503, "{} {path}: it does not say when to ask again", route.method);
        let text = String::from_utf8(to_bytes(body, 1 << 20).await.unwrap().to_vec()).unwrap();
        let document = openapi_document();
        let about = format!("{} {path}: {status} {text}", route.method);
        let described = &document["paths"][route.path][route.method.to_lowercase()]["responses"][status.to_string()];
        let (media_type, content) =
            described["content"].as_object().unwrap_or_else(|| panic!("{about}")).iter().next().unwrap();
        let told = parts.headers[CONTENT_TYPE].to_str().unwrap();
        assert_eq!(told.split(';').next().unwrap(), media_type, "{about}");
        let value = if media_type == "application/json" { serde_json::from_str(&text).unwrap() } else { json!(text) };
        assert_eq!(misfits(&content["schema"], &value, &document, "answer"), Vec::<String>::new(), "{about}");
        self.0.entry((route.method, route.path)).or_default().insert(status);
        status
    }

    /// Calls every route with these names and bodies.
    async fn call_all(&mut self, server: &Server, token: &str, names: &Names<'_>) {
        self.call_some(server, token, names, |_| true).await;
    }

    /// Calls some of the routes.
    async fn call_some(&mut self, server: &Server, token: &str, names: &Names<'_>, wanted: fn(&Route) -> bool) {
        // What removes things comes last.
        let (last, first): (Vec<_>, Vec<_>) = ROUTES.iter().partition(|route| route.method == "DELETE");
        for route in first.into_iter().chain(last).filter(|route| wanted(route)) {
            self.call(server, route, token, &names.path(route), &names.body(server, route.body)).await;
        }
    }
}

/// What a call names.
#[derive(Clone, Copy)]
struct Names<'a> {
    app: &'a str,
    job: &'a str,
    period: &'a str,
    /// After the `?`.
    query: &'a str,
    /// The body, where it is not one that is right.
    body: Option<&'a str>,
}

impl Names<'_> {
    fn path(&self, route: &Route) -> String {
        let path = route.path.replace("{app}", self.app).replace("{job}", self.job).replace("{period}", self.period);
        if route.parameters.is_empty() { path } else { format!("{path}?{}", self.query) }
    }

    fn body(&self, server: &Server, form: Form) -> String {
        match (form, self.body) {
            (Form::None, _) => String::new(),
            (_, Some(body)) => body.to_owned(),
            (Form::Login, None) => json!({ "username": "admin", "password": super::tests::PASSWORD }).to_string(),
            (Form::App | Form::AppChange, None) => server.app(self.app, "echo done"),
            (Form::Job | Form::JobChange, None) => job(self.job, self.app),
            (Form::Name, None) => self.job.to_owned(),
        }
    }
}

/// The examples of `docs/cloud.md` and of the manual: a client that goes by the description sends them.
#[test]
fn a_change_needs_the_name_and_the_fields_that_change() {
    let document = openapi_document();
    let wrong = |path: &str, method: &str, body: &Value| {
        let body_of = &document["paths"][path][method]["requestBody"]["content"]["application/json"]["schema"];
        misfits(body_of, body, &document, "body")
    };
    let none = Vec::<String>::new();
    let app = json!({ "appName": "my_app", "appCacheEnable": false });
    assert_eq!(wrong("/api/app", "put", &app), none);
    assert_eq!(wrong("/api/app", "post", &app), ["body.appURL is missing", "body.bootstrapScript is missing"]);
    assert_eq!(wrong("/api/app", "put", &json!({ "image": null })), ["body.appName is missing"]);
    let job = json!({ "jobName": "load", "cron": null, "dependsOn": "extract" });
    assert_eq!(wrong("/api/job/update", "put", &job), none);
    assert_eq!(
        wrong("/api/job/update", "put", &json!({ "jobName": "load", "dependsOn": null, "failover": null })),
        none
    );
    assert_eq!(wrong("/api/job/update", "put", &json!({ "jobName": "load", "appName": null })).len(), 1);
    assert_eq!(wrong("/api/job/register", "post", &json!({ "jobName": "load", "appName": "a" })).len(), 4);
}

/// Traces that cannot be read.
struct Broken(ReadError);

impl TraceReader for Broken {
    async fn executions(&self, _: &ExecutionFilter, _: &PageRequest) -> Result<Page<ExecutionRecord>, ReadError> {
        Err(self.0.clone())
    }

    async fn states(&self, _: &StateFilter, _: &PageRequest) -> Result<Page<StateRecord>, ReadError> {
        Err(self.0.clone())
    }

    async fn decisions(&self, _: &DecisionFilter, _: &PageRequest) -> Result<Page<DecisionRecord>, ReadError> {
        unreachable!("no route reads decisions")
    }
}

/// Compares the rows of runs that were traced with their description: of one that ended well, one that failed, and one that goes on.
async fn rows_are_described(seen: &mut Seen) {
    let server = Server::tracing().await;
    let admin = server.token("admin").await;
    for (job, script) in [("good", "true"), ("bad", "echo wrong >&2; exit 3"), ("long", WHILE_IT_IS_THERE)] {
        server.call(&admin, "POST", "/api/app", &server.app(job, script)).await;
        server.call(&admin, "POST", "/api/job/register", &self::job(job, job)).await;
        until("it is triggered", async || {
            server.call(&admin, "POST", "/api/job/trigger", job).await.0 == StatusCode::OK
        })
        .await;
    }
    let rows = async |path: &str| match server.call(&admin, "GET", path, "").await.1 {
        Value::Array(rows) => rows,
        mut page => page["rows"].as_array_mut().map(std::mem::take).unwrap_or_default(),
    };
    let executions = "/api/job/events/executions?per_page=100";
    until("all kinds of runs are traced", async || {
        let rows = rows(executions).await;
        let has = |is: fn(&Value) -> bool| rows.iter().any(is);
        has(|row| row["isSuccess"] == true)
            && has(|row| row["failureCause"].is_string())
            && has(|row| row["completeTime"].is_null())
    })
    .await;
    let with_rows = [
        ("/api/job/events/executions", executions),
        ("/api/job/events/statusTraces", "/api/job/events/statusTraces?per_page=100"),
        ("/api/job/statistics/tasks/results", "/api/job/statistics/tasks/results"),
        ("/api/job/statistics/tasks/running", "/api/job/statistics/tasks/running"),
        ("/api/job/statistics/jobs/running", "/api/job/statistics/jobs/running"),
        ("/api/job/statistics/jobs/register", "/api/job/statistics/jobs/register"),
    ];
    for (route, path) in with_rows {
        let route = ROUTES.iter().find(|known| known.path == route).unwrap();
        assert_eq!(seen.call(&server, route, &admin, path, "").await, 200);
        assert_ne!(rows(path).await, Vec::<Value>::new(), "{path}: a list without a row shows nothing");
    }
    for path in ["/api/job/statistics/tasks/results/lastHour", "/api/job/statistics/jobs/executionType"] {
        let (_, counted) = server.call(&admin, "GET", path, "").await;
        assert!(
            ["successCount", "transientJobCount"].iter().any(|count| counted[count].as_u64() > Some(0)),
            "{counted}"
        );
    }
    server.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_answer_is_described_with_its_status_and_its_form() {
    let scratch = Scratch::new();
    let away = Arc::new(Away::in_folder(scratch.path().join("work")));
    let server = Server::on(scratch, away.clone()).await;
    let (admin, stranger) = (server.token("admin").await, server.token("stranger").await);
    let mut seen = Seen::default();
    let right = Names { app: "a", job: "j", period: "lastHour", query: "", body: None };
    // Callers who are not known, or may not; what is missing; then all goes well; and again, where it exists by now.
    seen.call_all(&server, "", &right).await;
    seen.call_all(&server, &stranger, &right).await;
    let query = "since=never&appName=none";
    let missing = Names { app: "none", job: "none", period: "never", query, body: None };
    seen.call_some(&server, &admin, &missing, |route| (route.method, route.path) != ("POST", "/api/app")).await;
    let registered = [("POST", "/api/app"), ("POST", "/api/job/register")];
    for _ in 0..2 {
        for route in ROUTES.iter().filter(|route| registered.contains(&(route.method, route.path))) {
            seen.call(&server, route, &admin, route.path, &right.body(&server, route.body)).await;
        }
    }
    let trigger = ROUTES.iter().find(|route| route.path == "/api/job/trigger").unwrap();
    until("it can be triggered", async || {
        let (status, _) = server.call(&admin, "POST", "/api/job/trigger", "j").await;
        status == StatusCode::OK
    })
    .await;
    let log = ROUTES.iter().find(|route| route.path.ends_with("/log")).unwrap();
    until("it has a log", async || server.call(&admin, "GET", "/api/job/j/log", "").await.0 == StatusCode::OK).await;
    seen.call(&server, log, &admin, "/api/job/j/log?item=0", "").await;
    seen.call(&server, log, &admin, "/api/job/j/log?item=x", "").await;
    seen.call(&server, trigger, &admin, "/api/job/trigger", "j").await;
    seen.call_all(&server, &admin, &Names { query: "running=stop&appName=a&since=online", ..right }).await;
    // Each removal of what is there, and a trigger of what is disabled.
    let removals: Vec<&Route> = ROUTES.iter().filter(|route| route.method == "DELETE").collect();
    for route in removals {
        server.call(&admin, "POST", "/api/app", &right.body(&server, Form::App)).await;
        server.call(&admin, "POST", "/api/job/register", &right.body(&server, Form::Job)).await;
        server.call(&admin, "POST", "/api/job/j/disable", "").await;
        seen.call(&server, trigger, &admin, trigger.path, "j").await;
        seen.call(&server, route, &admin, &right.path(route), &right.body(&server, route.body)).await;
    }
    seen.call(&server, trigger, &admin, trigger.path, "a/b").await;
    // What cannot be used: a parameter, a name, a body, and one that is too long.
    let wrong = "running=now&startTime=soon&since=never";
    seen.call_all(&server, &admin, &Names { app: "%FF", job: "%FF", period: "%FF", query: wrong, body: Some("{") })
        .await;
    let long = "x".repeat(300 * 1_024);
    seen.call_all(&server, &admin, &Names { query: wrong, body: Some(&long), ..right }).await;
    // The carrier does not answer; then the registry center.
    away.is_deaf.store(true, Ordering::SeqCst);
    server.call(&admin, "POST", "/api/app", &right.body(&server, Form::App)).await;
    server.call(&admin, "POST", "/api/job/register", &right.body(&server, Form::Job)).await;
    let query = "appName=a&launch=j/scheduled%401";
    seen.call_some(&server, &admin, &Names { query, ..right }, |route| route.method == "GET").await;
    server.call(&admin, "POST", "/api/app", &server.app("long", WHILE_IT_IS_THERE)).await;
    server.call(&admin, "POST", "/api/job/register", &job("long", "long")).await;
    until("it can be triggered", async || {
        server.call(&admin, "POST", "/api/job/trigger", "long").await.0 == StatusCode::OK
    })
    .await;
    until("an item is waited for", async || {
        let (status, _) = server.call(&admin, "POST", "/api/operate/reconcile/explicit", "").await;
        status == StatusCode::BAD_GATEWAY
    })
    .await;
    for route in ROUTES.iter().filter(|route| route.path.starts_with("/api/operate/reconcile/")) {
        seen.call(&server, route, &admin, route.path, "").await;
    }
    server.cut_off();
    seen.call_all(&server, &admin, &Names { query, ..right }).await;
    server.come_back();
    server.scheduler.shutdown().await;

    let at = Message::from("memory");
    let broken = ReadError::NoTable { at: at.clone(), table: "JOB_EXECUTION_LOG" };
    let busy = ReadError::TooManyReaders { at, connections: 4, waited: Duration::from_secs(10) };
    let [broken, busy] = [broken, busy].map(|error| AnyTraceReader::new(Broken(error)));
    for reader in [broken, busy, AnyTraceReader::new(Asked::default())] {
        let traced = Server::traced(reader).await;
        let admin = traced.token("admin").await;
        seen.call_all(&traced, &admin, &Names { query: "", ..right }).await;
        traced.scheduler.shutdown().await;
    }

    rows_are_described(&mut seen).await;

    // What is described happens.
    let mut not_seen = Vec::new();
    for route in ROUTES {
        let caused: Vec<Fail> = route.fails.iter().copied().filter(|fail| CAUSED.contains(fail)).collect();
        let described = statuses(&caused, route.role.is_some()).into_keys().chain([200]);
        let away = route.fails.contains(&Fail::Center).then_some(503);
        let of_route = &seen.0[&(route.method, route.path)];
        let missing = described.chain(away).filter(|status| !of_route.contains(status));
        not_seen.extend(missing.map(|status| format!("{} {}: {status}", route.method, route.path)));
    }
    assert_eq!(not_seen, Vec::<String>::new());
}
