use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use elasticjob::fire::FireState;
use elasticjob::ident::JobName;
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::registry::{RegistryCenter, SessionId, SessionState};
use elasticjob::runtime::JobEnvironment;
use elasticjob::trace::rdb::{DataSource, RdbOptions, RdbTraceReader, RdbTracingStorage};
use elasticjob::trace::{AnyTraceReader, TracingConfiguration};
use elasticjob_console::{Console, ConsoleOptions, Grant, PasswordHash, Registry, Role, User};
use serde_json::{Value, json};
use tower::ServiceExt;

use super::routes::ROUTES;
use super::{Api, openapi_document};
use crate::carrier::{Carrier, job_token};
use crate::process::{ProcessCarrier, ProcessOptions};
use crate::scheduler::{Scheduler, SchedulerOptions};
use crate::scratch::Scratch;

pub(super) const PASSWORD: &str = "correct horse battery";

/// Its hash, which costs as little as one may: each test logs in.
const HASH: &str = "$argon2id$v=19$m=8,t=1,p=1$ysuDCNuBnDbYUT4xt8+buA$GCrf3qCLJH/136V17RDbvw1qfdt90L/yr1HmUX7nDjM";

/// A scheduler with its API and a user for each role, named after it; `billing` administers some jobs, and `stranger` may do nothing.
pub(super) struct Server {
    pub(super) router: Router,
    pub(super) scheduler: Arc<Scheduler>,
    scratch: Scratch,
    registry: MemoryRegistry,
    center: Arc<dyn RegistryCenter>,
}

/// The traces of a server.
#[derive(Default)]
struct Traces {
    /// What its scheduler traces to.
    written: Option<TracingConfiguration>,
    /// What its API reads.
    read: Option<AnyTraceReader>,
}

impl Server {
    /// Cuts the scheduler off from the registry center.
    pub(super) fn cut_off(&self) {
        self.registry.suspend(self.session());
    }

    /// Connects it again.
    pub(super) fn come_back(&self) {
        self.registry.resume(self.session());
    }

    fn session(&self) -> SessionId {
        match *self.center.session().borrow() {
            SessionState::Connected { id, .. } | SessionState::Suspended { id } => id,
            ref other => panic!("{other:?}"),
        }
    }

    pub(super) async fn start() -> Self {
        Self::with(|_| ()).await
    }

    /// The same, with other options of the console.
    pub(super) async fn with(change: impl FnOnce(&mut ConsoleOptions)) -> Self {
        Self::with_registry(change, |registry| registry).await
    }

    /// The same, with a registry center of the console that does more.
    pub(super) async fn with_registry(
        change: impl FnOnce(&mut ConsoleOptions),
        more: impl FnOnce(Registry) -> Registry,
    ) -> Self {
        let scratch = Scratch::new();
        let carrier = ProcessCarrier::new(ProcessOptions::new(scratch.path().join("work"), "tests")).unwrap();
        Self::made(scratch, Arc::new(carrier), Traces::default(), change, more).await
    }

    /// With this carrier, and a folder of its own.
    pub(super) async fn on(scratch: Scratch, carrier: Arc<dyn Carrier>) -> Self {
        Self::made(scratch, carrier, Traces::default(), |_| (), |registry| registry).await
    }

    /// With these traces.
    pub(super) async fn traced(traces: AnyTraceReader) -> Self {
        let scratch = Scratch::new();
        let carrier = ProcessCarrier::new(ProcessOptions::new(scratch.path().join("work"), "tests")).unwrap();
        let traces = Traces { written: None, read: Some(traces) };
        Self::made(scratch, Arc::new(carrier), traces, |_| (), |registry| registry).await
    }

    /// With a database that its scheduler traces to.
    pub(super) async fn tracing() -> Self {
        let scratch = Scratch::new();
        let carrier = ProcessCarrier::new(ProcessOptions::new(scratch.path().join("work"), "tests")).unwrap();
        let source = DataSource::new(&format!("sqlite:{}", scratch.path().join("traces.db").display())).unwrap();
        let storage = RdbTracingStorage::connect(&source, RdbOptions::default()).await.unwrap();
        let reader = RdbTraceReader::connect(&source, None).await.unwrap();
        let traces =
            Traces { written: Some(TracingConfiguration::new(storage)), read: Some(AnyTraceReader::new(reader)) };
        Self::made(scratch, Arc::new(carrier), traces, |_| (), |registry| registry).await
    }

    async fn made(
        scratch: Scratch,
        carrier: Arc<dyn Carrier>,
        traces: Traces,
        change: impl FnOnce(&mut ConsoleOptions),
        more: impl FnOnce(Registry) -> Registry,
    ) -> Self {
        let mut environment = JobEnvironment::builder().build().unwrap();
        if let Some(written) = traces.written {
            environment = environment.with_tracing(written);
        }
        let registry = MemoryRegistry::new();
        let center: Arc<dyn RegistryCenter> = Arc::new(registry.connect());
        let options = SchedulerOptions::new(environment, center.clone(), carrier);
        let scheduler = Arc::new(Scheduler::start(options).await.unwrap());
        let hash: PasswordHash = HASH.parse().unwrap();
        let mut options = ConsoleOptions::default();
        options.users = Role::ALL.map(|role| User::new(role.as_str(), hash.clone(), [Grant::everywhere(role)])).into();
        options.users.push(User::new("stranger", hash.clone(), []));
        options.users.push(User::new("billing", hash, [Grant::everywhere(Role::Admin).jobs("billing-*")]));
        change(&mut options);
        let console = Console::new(options, [more(Registry::new("default", center.clone()))]).unwrap();
        let traces = traces.read.map(Arc::new);
        let api = Api { scheduler: scheduler.clone(), access: console.access(), registry: "default".into(), traces };
        // The console's pages are on the same port.
        Self { router: console.with_cloud("default", api.router()).router(), scheduler, scratch, registry, center }
    }

    pub(super) async fn call(&self, token: &str, method: &str, path: &str, body: &str) -> (StatusCode, Value) {
        let request = Request::builder().method(method).uri(path).header("accessToken", token);
        // What curl sends without being told otherwise.
        let request = request.header("Content-Type", "application/x-www-form-urlencoded");
        let request = match token {
            "" => Request::builder().method(method).uri(path).body(Body::from(body.to_owned())),
            _ => request.body(Body::from(body.to_owned())),
        };
        let response = self.router.clone().oneshot(request.unwrap()).await.unwrap();
        let status = response.status();
        let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
        let text = String::from_utf8_lossy(&body).into_owned();
        (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    pub(super) async fn token(&self, user: &str) -> String {
        let login = json!({ "username": user, "password": PASSWORD }).to_string();
        let (status, answer) = self.call("", "POST", "/api/login", &login).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        answer["accessToken"].as_str().unwrap().to_owned()
    }

    pub(super) fn app(&self, name: &str, script: &str) -> String {
        let file = self.scratch.path().join(format!("{name}.sh"));
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        let url = format!("file://{}", file.display());
        json!({ "appName": name, "appURL": url, "cpuCount": 0.1, "memoryMB": 64.0, "bootstrapScript": format!("./{name}.sh"),
                "appCacheEnable": true, "eventTraceSamplingCount": 0 })
        .to_string()
    }
}

pub(super) fn job(name: &str, app: &str) -> String {
    json!({ "jobName": name, "appName": app, "jobExecutionType": "TRANSIENT", "shardingTotalCount": 2, "cpuCount": 0.1,
            "memoryMB": 64.0, "failover": true, "misfire": true, "gracePeriodSeconds": 0 })
    .to_string()
}

pub(super) async fn until<F: Future<Output = bool>>(what: &str, mut is: impl FnMut() -> F) {
    let waiting = async {
        while !is().await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    assert!(tokio::time::timeout(Duration::from_secs(60), waiting).await.is_ok(), "not within 60 s: {what}");
}

/// A program that runs until it is stopped, or its folder is removed with that of the test.
pub(super) const WHILE_IT_IS_THERE: &str = "while [ -e \"$0\" ]; do sleep 0.05; done";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_commands_of_the_manual_register_trigger_and_remove() {
    let server = Server::start().await;
    let admin = server.token("admin").await;
    let ok = (StatusCode::OK, json!(true));
    let app = server.app("my_app", &format!("echo \"item $ELASTICJOB_SHARDING_ITEM\"; {WHILE_IT_IS_THERE}"));
    assert_eq!(server.call(&admin, "POST", "/api/app", &app).await, ok);
    assert_eq!(server.call(&admin, "POST", "/api/app", &app).await.0, StatusCode::CONFLICT);
    // The example of the manual as it stands: a year is no `?`.
    let of_manual = r#"{"jobName":"my_job","appName":"my_app","jobExecutionType":"TRANSIENT","cron":"0/5 * * * * * ?",
        "shardingTotalCount":3,"cpuCount":0.1,"memoryMB":64.0}"#;
    let (status, why) = server.call(&admin, "POST", "/api/job/register", of_manual).await;
    assert_eq!((status, &why["problems"][0]["field"]), (StatusCode::BAD_REQUEST, &json!("cron")), "{why}");
    assert!(why["message"].as_str().is_some_and(|why| why.contains("year: '?'")), "{why}");
    assert_eq!(server.call(&admin, "POST", "/api/job/register", &job("my_job", "my_app")).await, ok);
    let (_, listed) = server.call(&admin, "GET", "/api/job/jobs", "").await;
    assert_eq!(listed[0]["jobName"], "my_job");
    assert_eq!(server.call(&admin, "POST", "/api/job/trigger", "my_job").await, ok);
    until("both items run", || async {
        let (_, running) = server.call(&admin, "GET", "/api/job/tasks/running", "").await;
        running.as_array().is_some_and(|tasks| tasks.len() == 2 && tasks.iter().all(|task| task["since"].is_i64()))
    })
    .await;
    until("its log", || async {
        server.call(&admin, "GET", "/api/job/my_job/log?item=1", "").await == (StatusCode::OK, json!("item 1\n"))
    })
    .await;
    let (_, sandbox) = server.call(&admin, "GET", "/api/operate/sandbox?appName=my_app", "").await;
    assert_eq!(sandbox.as_array().map(Vec::len), Some(1));
    let change = r#"{"appName":"my_app","appCacheEnable":false}"#;
    assert_eq!(server.call(&admin, "PUT", "/api/app", change).await, ok);
    let (_, app) = server.call(&admin, "GET", "/api/app/my_app", "").await;
    assert_eq!((&app["appCacheEnable"], &app["bootstrapScript"]), (&json!(false), &json!("./my_app.sh")));
    let nothing_runs = || async { server.call(&admin, "GET", "/api/job/tasks/running", "").await.1 == json!([]) };
    let change = r#"{"jobName":"my_job","description":"another one"}"#;
    assert_eq!(server.call(&admin, "PUT", "/api/job/update", change).await, ok);
    let change = r#"{"jobName":"my_job","description":"the last one"}"#;
    assert_eq!(server.call(&admin, "PUT", "/api/job/update?running=stop", change).await, ok);
    until("nothing runs", nothing_runs).await;
    assert_eq!(server.call(&admin, "POST", "/api/job/my_job/disable?running=stop", "").await, ok);
    until("nothing runs", nothing_runs).await;
    assert_eq!(server.call(&admin, "GET", "/api/job/my_job/disable", "").await, ok);
    assert_eq!(server.call(&admin, "POST", "/api/job/trigger", "my_job").await.0, StatusCode::CONFLICT);
    assert_eq!(server.call(&admin, "DELETE", "/api/job/my_job/disable", "").await, ok);
    assert_eq!(server.call(&admin, "DELETE", "/api/job/deregister", "my_job").await, ok);
    assert_eq!(server.call(&admin, "DELETE", "/api/job/my_job/deregister", "").await.0, StatusCode::NOT_FOUND);
    let (_, types) = server.call(&admin, "GET", "/api/job/statistics/jobs/executionType", "").await;
    assert_eq!(types, json!({ "transientJobCount": 0, "daemonJobCount": 0 }));
    assert_eq!(server.call(&admin, "DELETE", "/api/app/my_app", "").await, ok);
    server.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trigger_right_after_a_change_is_run() {
    let server = Server::start().await;
    let admin = server.token("admin").await;
    let ok = (StatusCode::OK, json!(true));
    let runs = server.scratch.path().join("runs");
    let app = server.app("my_app", &format!("echo run >>{}", runs.display()));
    assert_eq!(server.call(&admin, "POST", "/api/app", &app).await, ok);
    assert_eq!(server.call(&admin, "POST", "/api/job/register", &job("my_job", "my_app")).await, ok);
    let name = JobName::new("my_job").unwrap();
    for times in 1..=10 {
        let change = json!({ "jobName": "my_job", "description": times.to_string() }).to_string();
        assert_eq!(server.call(&admin, "PUT", "/api/job/update", &change).await, ok);
        assert_eq!(server.call(&admin, "POST", "/api/job/trigger", "my_job").await, ok);
        until("both items ran", || async {
            let job = server.scheduler.operations().snapshot(&name).await.unwrap();
            let has_ended = |state| state != FireState::Running;
            let ended = job.items.values().all(|item| item.record.last.as_ref().is_some_and(|it| has_ended(it.state)));
            ended && fs::read_to_string(&runs).is_ok_and(|runs| runs.lines().count() == 2 * times)
        })
        .await;
    }
    server.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_of_which_the_carrier_cannot_read_the_processes_hides_no_other_one() {
    let server = Server::start().await;
    let admin = server.token("admin").await;
    let ok = (StatusCode::OK, json!(true));
    let folder = |job: &str| {
        let token = job_token("tests", &JobName::new(job).unwrap());
        server.scratch.path().join("work").join("daemons").join(token)
    };
    // A file in the place of the folder of a job, and of that of a process.
    fs::create_dir_all(folder("one-process")).unwrap();
    fs::write(folder("broken"), "").unwrap();
    fs::write(folder("one-process").join("7"), "").unwrap();
    assert_eq!(server.call(&admin, "POST", "/api/app", &server.app("app", "exec sleep 600")).await, ok);
    for name in ["broken", "one-process", "well"] {
        let mut daemon: Value = serde_json::from_str(&job(name, "app")).unwrap();
        let more = json!({ "jobExecutionType": "DAEMON", "cron": "0 0 3 * * ?", "instances": 1 });
        daemon.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_eq!(server.call(&admin, "POST", "/api/job/register", &daemon.to_string()).await, ok);
    }
    until("the others run", || async {
        let (status, running) = server.call(&admin, "GET", "/api/job/tasks/running", "").await;
        assert_eq!(status, StatusCode::OK, "{running}");
        let jobs: Vec<&Value> = running.as_array().unwrap().iter().map(|it| &it["metaInfo"]["jobName"]).collect();
        jobs == ["one-process", "well"]
    })
    .await;
    let (_, ready) = server.call(&admin, "GET", "/api/job/tasks/ready", "").await;
    let says = |job: &str, why: &Value| {
        let path = folder(job).display().to_string();
        assert!(why.as_str().is_some_and(|why| why.contains(&path)), "{ready}");
    };
    let of = |job: &str| ready.as_array().unwrap().iter().find(|it| it["jobName"] == job).unwrap();
    says("broken", &of("broken")["why"]);
    says("one-process", &of("one-process")["items"][0]["why"]);
    server.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_reason_is_told_with_the_status_that_fits() {
    let server = Server::start().await;
    let admin = server.token("admin").await;
    let (status, answer) = server.call(&admin, "POST", "/api/app", "{}").await;
    assert_eq!((status, answer["problems"].as_array().map(Vec::len)), (StatusCode::BAD_REQUEST, Some(3)), "{answer}");
    for (method, path, body, status) in [
        ("POST", "/api/app", "not json", StatusCode::BAD_REQUEST),
        ("GET", "/api/app/none", "", StatusCode::NOT_FOUND),
        ("DELETE", "/api/app/none", "", StatusCode::NOT_FOUND),
        ("POST", "/api/app/none/disable", "", StatusCode::NOT_FOUND),
        ("POST", "/api/job/register", &job("j", "none"), StatusCode::NOT_FOUND),
        ("PUT", "/api/job/update", &job("j", "none"), StatusCode::NOT_FOUND),
        ("PUT", "/api/job/update?running=now", &job("j", "none"), StatusCode::BAD_REQUEST),
        ("POST", "/api/job/none/disable?running=finish", "", StatusCode::BAD_REQUEST),
        ("DELETE", "/api/app/none?running=finish", "", StatusCode::BAD_REQUEST),
        ("POST", "/api/job/trigger", "none", StatusCode::NOT_FOUND),
        ("POST", "/api/job/trigger", "a/b", StatusCode::BAD_REQUEST),
        ("GET", "/api/job/jobs/none", "", StatusCode::NOT_FOUND),
        ("GET", "/api/job/none/log", "", StatusCode::NOT_FOUND),
        ("GET", "/api/job/none/log?item=x", "", StatusCode::BAD_REQUEST),
        ("GET", "/api/job/events/executions", "", StatusCode::CONFLICT),
        ("GET", "/api/job/events/executions?isSuccess=maybe", "", StatusCode::BAD_REQUEST),
        ("GET", "/api/job/events/executions?startTime=soon", "", StatusCode::BAD_REQUEST),
        ("GET", "/api/job/statistics/tasks/results/never", "", StatusCode::NOT_FOUND),
        ("GET", "/api/operate/sandbox", "", StatusCode::BAD_REQUEST),
        ("GET", "/api/nope", "", StatusCode::NOT_FOUND),
        ("GET", "/api/app/none/nope", "", StatusCode::NOT_FOUND),
        ("POST", "/api/job/nope", "{}", StatusCode::NOT_FOUND),
        ("GET", "/api/job/register", "", StatusCode::METHOD_NOT_ALLOWED),
        ("PATCH", "/api/app/none", "{}", StatusCode::METHOD_NOT_ALLOWED),
        ("POST", "/api/login", "{}", StatusCode::BAD_REQUEST),
        ("POST", "/api/login", r#"{"username":"admin","password":"root"}"#, StatusCode::UNAUTHORIZED),
    ] {
        let (told, answer) = server.call(&admin, method, path, body).await;
        assert_eq!(told, status, "{method} {path}: {answer}");
        assert!(answer["message"].as_str().is_some_and(|message| message.len() > 10), "{method} {path}: {answer}");
    }
    // The API of the console is on the same port, and keeps the form of its own.
    let (status, answer) = server.call(&admin, "GET", "/api/v1/nope", "").await;
    assert_eq!((status, answer["code"].as_str()), (StatusCode::NOT_FOUND, Some("no-such-route")), "{answer}");
    server.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_route_lets_in_its_role_and_nobody_below() {
    let server = Server::start().await;
    let mut tokens = Vec::new();
    for role in Role::ALL {
        tokens.push((role, server.token(role.as_str()).await));
    }
    for route in ROUTES {
        let path = route.path.replace("{app}", "none").replace("{job}", "none").replace("{period}", "lastHour");
        let (status, _) = server.call("", route.method, &path, "").await;
        let Some(needed) = route.role else {
            assert!(![StatusCode::UNAUTHORIZED, StatusCode::NOT_FOUND].contains(&status), "{} {path}", route.method);
            continue;
        };
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{} {path} without a token", route.method);
        let unknown = server.call("ejt_unknown", route.method, &path, "").await.0;
        assert_eq!(unknown, StatusCode::UNAUTHORIZED, "{} {path} with a wrong token", route.method);
        for (role, token) in &tokens {
            // The role for the job that a body names is asked for when the body has been read.
            let body = if path == "/api/job/trigger" || path == "/api/job/deregister" { "none" } else { "{}" };
            let (status, answer) = server.call(token, route.method, &path, body).await;
            let is_kept_out = status == StatusCode::FORBIDDEN;
            assert_eq!(is_kept_out, *role < needed, "{} {path} as {role}: {status} {answer}", route.method);
        }
    }
    server.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_team_changes_and_sees_its_own_jobs_alone() {
    let server = Server::start().await;
    let (admin, team) = (server.token("admin").await, server.token("billing").await);
    assert_eq!(server.call(&admin, "POST", "/api/app", &server.app("a", "true")).await.0, StatusCode::OK);
    assert_eq!(server.call(&admin, "POST", "/api/job/register", &job("orders", "a")).await.0, StatusCode::OK);
    assert_eq!(server.call(&team, "POST", "/api/job/register", &job("billing-1", "a")).await.0, StatusCode::OK);
    for (method, path, body) in [
        ("POST", "/api/job/register", job("stock", "a")),
        ("POST", "/api/job/trigger", "orders".to_owned()),
        ("DELETE", "/api/job/deregister", "orders".to_owned()),
        ("DELETE", "/api/job/orders/deregister", String::new()),
        ("POST", "/api/job/orders/disable", String::new()),
        ("GET", "/api/job/jobs/orders", String::new()),
        ("DELETE", "/api/app/a", String::new()),
    ] {
        assert_eq!(server.call(&team, method, path, &body).await.0, StatusCode::FORBIDDEN, "{method} {path}");
    }
    let (_, jobs) = server.call(&team, "GET", "/api/job/jobs", "").await;
    let names: Vec<&Value> = jobs.as_array().into_iter().flatten().map(|job| &job["jobName"]).collect();
    assert_eq!(names, ["billing-1"]);
    server.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_team_sees_and_uses_no_app_of_another_one_that_has_secrets() {
    let server = Server::start().await;
    let (admin, team) = (server.token("admin").await, server.token("billing").await);
    let ok = (StatusCode::OK, json!(true));
    for name in ["orders", "billing-app", "shared", "plain"] {
        let mut app: Value = serde_json::from_str(&server.app(name, "true")).unwrap();
        if name != "plain" {
            app["env"] =
                json!({ "DB_PASSWORD": "s3cret", "DB_URL": "postgres://orders:s3cret@db/orders", "MODE": "fast" });
        }
        assert_eq!(server.call(&admin, "POST", "/api/app", &app.to_string()).await, ok);
    }
    assert_eq!(server.call(&admin, "POST", "/api/job/register", &job("orders", "orders")).await, ok);
    assert_eq!(server.call(&admin, "POST", "/api/job/register", &job("billing-old", "shared")).await, ok);
    assert_eq!(server.call(&admin, "POST", "/api/app/orders/disable", "").await, ok);
    // By REST it sees what its grant names, and what its jobs run.
    let names = |apps: Value| -> Vec<String> {
        apps.as_array().into_iter().flatten().map(|app| app["appName"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(server.call(&team, "GET", "/api/app/list", "").await.1), ["billing-app", "shared"]);
    assert_eq!(names(server.call(&admin, "GET", "/api/app/list", "").await.1).len(), 4);
    for path in ["/api/app/orders", "/api/app/orders/disable", "/api/operate/sandbox?appName=orders"] {
        assert_eq!(server.call(&team, "GET", path, "").await.0, StatusCode::FORBIDDEN, "{path}");
    }
    assert_eq!(server.call(&team, "GET", "/api/operate/disabled", "").await.1["apps"], json!([]));
    let (_, shown) = server.call(&team, "GET", "/api/app/shared", "").await;
    assert_eq!(shown["env"], json!({ "DB_PASSWORD": "***", "DB_URL": "postgres://***@db/orders", "MODE": "fast" }));
    // A job of its own could print the variables of the app.
    let script = json!({ "script.command.line": "env" });
    let mut theft: Value = serde_json::from_str(&job("billing-theft", "orders")).unwrap();
    theft["props"] = script;
    let (status, why) = server.call(&team, "POST", "/api/job/register", &theft.to_string()).await;
    assert_eq!(status, StatusCode::FORBIDDEN, "{why}");
    assert!(why["message"].as_str().is_some_and(|why| why.contains("orders") && why.contains("secrets")), "{why}");
    let moved = json!({ "jobName": "billing-old", "appName": "orders" }).to_string();
    assert_eq!(server.call(&team, "PUT", "/api/job/update", &moved).await.0, StatusCode::FORBIDDEN);
    for app in ["billing-app", "shared", "plain"] {
        let registered = server.call(&team, "POST", "/api/job/register", &job(&format!("billing-{app}"), app)).await;
        assert_eq!(registered, ok, "{app}");
    }
    server.scheduler.shutdown().await;
}

#[test]
fn the_description_that_is_committed_is_that_of_the_code() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cloud-openapi.json");
    let now = serde_json::to_string_pretty(&openapi_document()).unwrap() + "\n";
    if std::env::var_os("ELASTICJOB_WRITE_DOCS").is_some() {
        fs::write(path, &now).unwrap();
    }
    let there = fs::read_to_string(path).unwrap_or_default();
    let again = "ELASTICJOB_WRITE_DOCS=1 cargo test -p elasticjob-cloud --all-features --lib description";
    assert!(there == now, "docs/cloud-openapi.json is not what the code has; write it with `{again}`");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_credentials_of_an_address_are_masked_and_a_mask_that_comes_back_keeps_them() {
    let server = Server::start().await;
    let admin = server.token("admin").await;
    let url = "https://user:pass@apps.example.com/a.tar.gz?sig=s3cret";
    let app = json!({ "appName": "web", "appURL": url, "bootstrapScript": "./a.sh" }).to_string();
    assert_eq!(server.call(&admin, "POST", "/api/app", &app).await, (StatusCode::OK, json!(true)));
    let masked = json!("https://***@apps.example.com/a.tar.gz?***");
    assert_eq!(server.call(&admin, "GET", "/api/app/web", "").await.1["appURL"], masked);
    assert_eq!(server.call(&admin, "GET", "/api/app/list", "").await.1[0]["appURL"], masked);
    let change = json!({ "appName": "web", "appURL": masked, "appCacheEnable": false }).to_string();
    assert_eq!(server.call(&admin, "PUT", "/api/app", &change).await, (StatusCode::OK, json!(true)));
    let kept = server.scheduler.store().registrations().await.unwrap().apps["web"].clone();
    assert_eq!((kept.app_url.as_str(), kept.app_cache_enable), (url, false));
    let other = json!({ "appName": "web", "appURL": "https://***@apps.example.com/b.tar.gz" }).to_string();
    assert_eq!(server.call(&admin, "PUT", "/api/app", &other).await.0, StatusCode::BAD_REQUEST);
    server.scheduler.shutdown().await;
}
