//! The API on the embedded registry, with jobs that run.

mod parts;
mod recorded;
mod records;
mod refused;
mod servers;

use std::collections::BTreeSet;

use axum::http::StatusCode;
use axum::http::header::{ETAG, IF_MATCH};
use elasticjob::api::{ItemHandler, ItemWork};
use elasticjob::config::JobSettings;
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::registry::{CreateMode, RegistryCenter, Transaction};
use serde_json::{Value, json as value};

use super::Problem;
use super::openapi::document;
use crate::Console;
use crate::access::{LONGEST_REASON, Permission};
use crate::router::declared;
use crate::testing::{Answer, call, console_of, cookie_of, job_settings, json, request, start_job, start_job_with};

const JOBS: &str = "/api/v1/registries/default/jobs";

struct Caller {
    console: Console,
    cookie: String,
}

impl Caller {
    async fn admin(memory: &MemoryRegistry) -> Self {
        let console = console_of(memory);
        let cookie = cookie_of(&console, "admin").await;
        Self { console, cookie }
    }

    async fn get(&self, path: &str) -> Answer {
        call(&self.console, request("GET", path, Some(&self.cookie))).await
    }

    async fn send(&self, method: &str, path: &str, body: Value) -> Answer {
        call(&self.console, json(method, path, &self.cookie, &body)).await
    }
}

fn parsed(answer: &Answer) -> Value {
    serde_json::from_str(&answer.body).unwrap_or_else(|error| panic!("{error}: {}", answer.body))
}

/// Status and code of a problem.
fn problem(answer: &Answer) -> (u16, String) {
    assert_eq!(answer.headers["content-type"], "application/problem+json", "{}", answer.body);
    (answer.status.as_u16(), parsed(answer)["code"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn the_document_describes_every_route_of_the_api_and_nothing_else() {
    let console = console_of(&MemoryRegistry::new());
    let document = document(&declared(console.app().clone()));
    let described: BTreeSet<(String, String)> = document["paths"]
        .as_object()
        .expect("paths")
        .iter()
        .flat_map(|(path, methods)| {
            let methods = methods.as_object().expect("methods").keys();
            methods.map(|method| (method.to_uppercase(), path.clone())).collect::<Vec<_>>()
        })
        .collect();
    let routes = declared(console.app().clone()).into_iter().filter(|route| super::is_api(route.path));
    let routes = routes.filter(|route| route.permission != Permission::Public);
    let routes: BTreeSet<(String, String)> =
        routes.map(|route| (route.method.to_owned(), route.path.to_owned())).collect();
    assert!(routes.len() > 20);
    assert_eq!(described, routes);
    let mut ids = BTreeSet::new();
    for (method, path) in &described {
        let operation = &document["paths"][path][method.to_lowercase()];
        let id = operation["operationId"].as_str().expect("it has a name");
        assert!(ids.insert(id), "{id} is the name of two operations");
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let (name, place) = (parameter["name"].as_str().expect("a name"), &parameter["in"]);
            let is_of_path = path.contains(&format!("{{{name}}}"));
            assert_eq!(place == "path", is_of_path, "{method} {path}: {name} is in {place}");
        }
        for name in path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')) {
            let parameters = operation["parameters"].as_array().expect("parameters");
            let is_that = |it: &Value| it["in"] == "path" && it["name"] == name && it["required"] == true;
            assert_eq!(parameters.iter().filter(|it| is_that(it)).count(), 1, "{method} {path}: {name}");
        }
        assert!(operation["x-permission"].is_string(), "{method} {path}");
        assert!(operation["responses"]["401"].is_object(), "{method} {path}");
        assert_eq!(operation["security"], value!([{ "token": [] }, { "session": [] }]), "{method} {path}");
    }
    let schemes = &document["components"]["securitySchemes"];
    assert_eq!((&schemes["token"]["scheme"], &schemes["session"]["in"]), (&value!("bearer"), &value!("cookie")));
    are_there(&document, &document);
    is_committed(&document);
}

#[test]
fn each_place_of_a_reason_says_how_long_it_may_be() {
    let document = document(&declared(console_of(&MemoryRegistry::new()).app().clone()));
    let longest = value!(LONGEST_REASON);
    let mut places = BTreeSet::new();
    for operation in
        document["paths"].as_object().expect("paths").values().flat_map(|of| of.as_object().expect("methods").values())
    {
        let of_query = operation["parameters"].as_array().into_iter().flatten().find(|it| it["name"] == "reason");
        let body = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].as_str();
        let schema = body.and_then(|body| body.rsplit('/').next()).map(|name| &document["components"]["schemas"][name]);
        let of_body = schema.and_then(|schema| schema["properties"].get("reason"));
        let of_both = of_query.map(|it| &it["schema"]).into_iter().chain(of_body);
        let all: Vec<&Value> = of_both.collect();
        assert!(!operation["x-reason"].is_string() || !all.is_empty(), "{operation}");
        for place in all {
            assert_eq!(place["maxLength"], longest, "{operation}");
            places.insert(operation["operationId"].to_string());
        }
    }
    assert!(places.len() > 15, "{places:?}");
}

/// A schema is known by the name of its type alone: of two types with one name the document would have one.
#[test]
fn no_two_types_give_a_schema_one_name() {
    // The schema of the settings has no type.
    let mut names = BTreeSet::from(["JobSettings".to_owned()]);
    let mut folders = vec![std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src"))];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the sources are there") {
            let path = entry.expect("it is there").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let source = std::fs::read_to_string(&path).expect("a text");
            for after in source.split("ToSchema)]\n").skip(1) {
                let head = after.lines().find_map(|line| line.split_once("struct ").or(line.split_once("enum ")));
                let (_, name) = head.filter(|(before, _)| !before.starts_with(['/', ' '])).expect("a type follows");
                let name: String = name.chars().take_while(|c| c.is_alphanumeric()).collect();
                assert!(names.insert(name.clone()), "{}: another type is named {name}", path.display());
            }
        }
    }
    assert!(names.contains("ChangeView") && names.len() > 50, "{names:?}");
}

/// Every schema that a part of the document refers to is in the document.
fn are_there(part: &Value, document: &Value) {
    match part {
        Value::Object(fields) => fields.iter().for_each(|(name, field)| match (name.as_str(), field) {
            ("$ref", Value::String(to)) => {
                assert!(document.pointer(to.trim_start_matches('#')).is_some(), "{to} is not there");
            }
            (_, field) => are_there(field, document),
        }),
        Value::Array(parts) => parts.iter().for_each(|part| are_there(part, document)),
        _ => {}
    }
}

/// Compares the document with its copy for readers, or writes that copy.
fn is_committed(document: &Value) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/console-openapi.json");
    let text = serde_json::to_string_pretty(document).expect("it is JSON") + "\n";
    if std::env::var_os("ELASTICJOB_WRITE_DOCS").is_some() {
        std::fs::write(path, &text).expect("the copy is written");
    }
    let copy = std::fs::read_to_string(path).unwrap_or_default();
    assert!(copy == text, "docs/console-openapi.json differs: run this test with ELASTICJOB_WRITE_DOCS=1");
}

#[tokio::test]
async fn a_job_is_shown_with_its_items_and_the_reasons_why_they_do_not_run() {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "报表 <b>%2F", &JobSettings::default()).await;
    let caller = Caller::admin(&memory).await;
    let list = parsed(&caller.get(JOBS).await);
    assert_eq!(list["total"], 1);
    assert_eq!(list["jobs"][0]["job"], "报表 <b>%2F");
    let path = format!("{JOBS}/{}", crate::pages::segment("报表 <b>%2F"));
    let job = parsed(&caller.get(&path).await);
    assert_eq!((&job["cron"], &job["timeZone"]), (&value!("0 0 0 1 1 ?"), &value!("UTC")), "{job}");
    assert!(job["nextFire"].as_str().is_some_and(|at| at.ends_with("-01-01T00:00:00.000Z")), "{job}");
    assert_eq!(job["instances"].as_array().map(Vec::len), Some(1));
    // Items are made with the first fire.
    caller.send("POST", &format!("{path}/triggers"), value!({"reason": "first run"})).await;
    let mut items = Value::Null;
    for _ in 0..200 {
        items = parsed(&caller.get(&format!("{path}/items")).await);
        if items.as_array().is_some_and(|items| items.len() == 2 && items[1]["last"]["state"] == "SUCCEEDED") {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert_eq!(items[1]["last"]["manual"], true, "{items}");
    let disabled = caller.send("PUT", &format!("{path}/items/1/state"), value!({"enabled": false})).await;
    assert_eq!(parsed(&disabled)["changed"][0]["item"], 1, "{}", disabled.body);
    let item = parsed(&caller.get(&format!("{path}/items/1")).await);
    let is_time = |key: &str| item[key].as_str().is_some_and(|at| at.ends_with('Z'));
    assert!(is_time("ownedSince") && is_time("disabledSince"), "{item}");
    assert_eq!(item["misfiredSince"], Value::Null, "{item}");
    let findings = parsed(&caller.get(&format!("{path}/findings?item=1")).await);
    let found = findings.as_array().expect("a list").iter().find(|finding| finding["code"] == "item-disabled");
    let found = found.unwrap_or_else(|| panic!("{findings}"));
    assert_eq!(found["obstacle"], true);
    assert_eq!(found["remedy"]["code"], "enable-item");
    // The request that helps can be sent as it is.
    let helps = &found["remedy"]["request"];
    let (method, to) = (helps["method"].as_str().unwrap_or_default(), helps["path"].as_str().unwrap_or_default());
    let enabled = caller.send(method, to, helps["body"].clone()).await;
    assert_eq!(parsed(&enabled)["changed"][0]["item"], 1, "{}", enabled.body);
    assert!(found["since"].as_str().is_some_and(|since| since.ends_with('Z')), "{found}");
    assert_eq!(problem(&caller.get(&format!("{path}/items/7")).await), (404, "no-such-item".to_owned()));
}

#[tokio::test]
async fn a_server_runs_one_of_its_jobs_or_all_of_them_and_other_servers_do_not() {
    let memory = MemoryRegistry::new();
    let settings = JobSettings::default();
    let _jobs = [start_job(&memory, "settle", &settings).await, start_job(&memory, "report", &settings).await];
    let elsewhere = "10.9.9.9@-@7";
    let mut nodes = Transaction::new();
    nodes.create("/settle/servers/10.9.9.9", "ENABLED", CreateMode::Persistent);
    nodes.create(format!("/settle/instances/{elsewhere}"), "", CreateMode::Persistent);
    memory.connect().commit(nodes).await.expect("they are written");
    let caller = Caller::admin(&memory).await;
    let instances = parsed(&caller.get(&format!("{JOBS}/report/instances")).await);
    let server = instances[0]["server"].as_str().expect("the address of this host").to_owned();
    let changed = |answer: &Answer| {
        assert_eq!(answer.status, StatusCode::ACCEPTED, "{}", answer.body);
        let mut jobs: Vec<String> = Vec::new();
        for one in parsed(answer)["changed"].as_array().expect("a list") {
            assert_ne!(one["instance"], elsewhere, "{one}");
            jobs.push(one["job"].as_str().expect("a name").to_owned());
        }
        jobs.sort();
        jobs
    };
    let one =
        caller.send("POST", &format!("{JOBS}/settle/servers/{server}/triggers"), value!({"reason": "late"})).await;
    assert_eq!(changed(&one), ["settle"]);
    let all = format!("/api/v1/registries/default/servers/{server}/triggers");
    let all = caller.send("POST", &all, value!({})).await;
    // What the server was asked for a moment ago may wait still.
    assert!(changed(&all).contains(&"report".to_owned()), "{}", all.body);
    let none = caller.send("POST", "/api/v1/registries/default/servers/10.0.0.250/triggers", value!({})).await;
    assert_eq!(problem(&none), (409, "no-enabled-instance".to_owned()));
}

#[tokio::test]
async fn what_runs_is_cancelled_with_the_name_of_the_caller_and_what_does_not_run_is_a_conflict() {
    let memory = MemoryRegistry::new();
    let handler = ItemHandler::new(|context| {
        ItemWork::Async(Box::pin(async move {
            context.cancelled().await;
            std::future::pending().await
        }))
    });
    let _job = start_job_with(&memory, "settle", &JobSettings::default(), handler).await;
    let caller = Caller::admin(&memory).await;
    let path = format!("{JOBS}/settle");
    caller.send("POST", &format!("{path}/triggers"), value!({})).await;
    let until = async |item: usize, state: &str| {
        for _ in 0..1_000 {
            let items = parsed(&caller.get(&format!("{path}/items")).await);
            if items[item]["last"]["state"] == state {
                return items[item]["last"]["error"].clone();
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        panic!("item {item} is not {state}");
    };
    until(1, "RUNNING").await;
    let asked = caller.send("POST", &format!("{path}/items/1/cancellations"), value!({"reason": "wrong file"})).await;
    assert_eq!((asked.status.as_u16(), &parsed(&asked)["changed"][0]["item"]), (202, &value!(1)), "{}", asked.body);
    assert_eq!(until(1, "FAILED").await, "cancelled by admin: wrong file");
    let again = caller.send("POST", &format!("{path}/items/1/cancellations"), value!({})).await;
    assert_eq!(problem(&again), (409, "nothing-runs".to_owned()));
    let rest = caller.send("POST", &format!("{path}/cancellations"), value!({})).await;
    assert_eq!(parsed(&rest)["changed"], value!([{"job": "settle", "item": 0}]), "{}", rest.body);
    assert_eq!(until(0, "FAILED").await, "cancelled by admin");
}

#[tokio::test]
async fn a_run_knows_the_trace_of_the_request_that_triggered_it() {
    const CALLER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let memory = MemoryRegistry::new();
    let (sender, mut runs) = tokio::sync::mpsc::unbounded_channel();
    let handler = ItemHandler::new(move |context| {
        let sender = sender.clone();
        ItemWork::Async(Box::pin(async move {
            let _ = sender.send(context.fire().trace_parent().map(|caller| caller.to_string()));
            Ok(())
        }))
    });
    let _job = start_job_with(&memory, "settle", &JobSettings::default(), handler).await;
    let caller = Caller::admin(&memory).await;
    let path = format!("{JOBS}/settle/triggers");
    for (sent, known) in [(CALLER, Some(CALLER)), ("00-0-0-01", None)] {
        let mut request = json("POST", &path, &caller.cookie, &value!({}));
        request.headers_mut().insert("traceparent", sent.parse().expect("a value"));
        let answer = call(&caller.console, request).await;
        assert_eq!(answer.status.as_u16(), 202, "{}", answer.body);
        for _ in 0..2 {
            assert_eq!(runs.recv().await, Some(known.map(str::to_owned)), "{sent}");
        }
    }
}

#[tokio::test]
async fn a_past_fire_is_run_again_once_for_its_key_and_what_is_no_fire_is_not() {
    let memory = MemoryRegistry::new();
    let (sender, mut runs) = tokio::sync::mpsc::unbounded_channel();
    let handler = ItemHandler::new(move |context| {
        let sender = sender.clone();
        ItemWork::Async(Box::pin(async move {
            let _ = sender.send((context.scheduled_at().timestamp(), context.rerun().is_some()));
            Ok(())
        }))
    });
    let _job = start_job_with(&memory, "settle", &JobSettings::default(), handler).await;
    let caller = Caller::admin(&memory).await;
    let fires = format!("{JOBS}/settle/fires");
    let path = format!("{fires}/2026-01-01T00:00:00Z/reruns");
    let send = || {
        let mut request = json("POST", &path, &caller.cookie, &value!({"reason": "the file came late"}));
        request.headers_mut().insert("idempotency-key", "k1".parse().expect("a value"));
        call(&caller.console, request)
    };
    let (first, again) = (send().await, send().await);
    assert_eq!((first.status.as_u16(), &first.body), (202, &again.body));
    let done = parsed(&first);
    assert_eq!((&done["changed"][0]["job"], &done["follow"]), (&value!("settle"), &value!([])), "{done}");
    for _ in 0..2 {
        assert_eq!(runs.recv().await, Some((1_767_225_600, true)));
    }
    for (fire, expected) in [
        ("2026-01-01T00:00:01Z", (404, "no-such-fire")),
        ("2100-01-01T00:00:00Z", (404, "no-such-fire")),
        ("began-2026-01-01T00:00:00Z", (400, "bad-request")),
        ("yesterday", (400, "bad-request")),
    ] {
        let answer = caller.send("POST", &format!("{fires}/{fire}/reruns"), value!({})).await;
        assert_eq!(problem(&answer), (expected.0, expected.1.to_owned()), "{}", answer.body);
    }
    assert!(runs.try_recv().is_err(), "each item once");
}

#[tokio::test]
async fn a_configuration_is_changed_by_who_has_read_it_alone() {
    let memory = MemoryRegistry::new();
    let props = [("db.password".to_owned(), "hunter2".to_owned()), ("region".to_owned(), "north".to_owned())];
    let settings = job_settings(|settings| settings.props = Some(props.into()));
    let _job = start_job(&memory, "settle", &settings).await;
    let caller = Caller::admin(&memory).await;
    let path = format!("{JOBS}/settle/configuration");
    let read = caller.get(&path).await;
    let etag = read.headers[ETAG].clone();
    let shown = parsed(&read);
    assert!(!read.body.contains("hunter2"), "{}", read.body);
    let patch = |etag: Option<&axum::http::HeaderValue>, query: &str, change: Value| {
        let mut request = json("PATCH", &format!("{path}{query}"), &caller.cookie, &change);
        etag.map(|etag| request.headers_mut().insert(IF_MATCH, etag.clone()));
        call(&caller.console, request)
    };
    assert_eq!(problem(&patch(None, "", value!({})).await), (428, "no-version".to_owned()));
    let wrong = patch(Some(&etag), "", value!({"cron": "0 0 25 * * ?", "sharding-total-count": 0})).await;
    assert_eq!(problem(&wrong), (422, "invalid-configuration".to_owned()));
    let problems = parsed(&wrong)["problems"].as_array().cloned().unwrap_or_default();
    let pointers: BTreeSet<&str> = problems.iter().filter_map(|one| one["pointer"].as_str()).collect();
    assert_eq!(pointers, BTreeSet::from(["/cron", "/sharding-total-count"]), "all mistakes at once");
    let unknown = patch(Some(&etag), "", value!({"corn": "x"})).await;
    assert_eq!(problem(&unknown).0, 400, "{}", unknown.body);
    assert!(unknown.body.contains("corn"), "{}", unknown.body);

    let change = value!({"cron": "0 0 3 * * ?", "props": {"region": "south"}});
    let dry = parsed(&patch(Some(&etag), "?dryRun=true", change.clone()).await);
    assert_eq!(dry["firesAfter"].as_array().map(Vec::len), Some(5), "{dry}");
    assert_eq!(caller.get(&path).await.headers[ETAG], etag, "nothing was written");
    // All that was shown comes back, with the change: masked values stay what they are.
    let mut all = shown["settings"].as_object().expect("settings").clone();
    all.insert("cron".to_owned(), value!("0 0 3 * * ?"));
    let mut request = json("PUT", &format!("{path}?reason=later"), &caller.cookie, &Value::Object(all));
    request.headers_mut().insert(IF_MATCH, etag.clone());
    let done = call(&caller.console, request).await;
    assert_eq!(done.status, StatusCode::OK, "{}", done.body);
    assert_eq!(parsed(&done)["changes"], value!(["cron: '0 0 0 1 1 ?' -> '0 0 3 * * ?'"]));
    let now = caller.get(&path).await;
    assert_eq!(now.headers[ETAG], done.headers[ETAG]);
    assert_eq!(parsed(&now)["settings"]["props"], shown["settings"]["props"]);
    assert_eq!(problem(&patch(Some(&etag), "", change).await), (412, "changed-meanwhile".to_owned()));
}

#[tokio::test]
async fn what_cannot_be_done_is_a_problem_with_its_code() {
    let memory = MemoryRegistry::new();
    let job = start_job(&memory, "settle", &JobSettings::default()).await;
    let caller = Caller::admin(&memory).await;
    let send = |method: &'static str, path: String, body: Value| {
        let caller = &caller;
        async move { problem(&caller.send(method, &path, body).await) }
    };
    let code = |status: u16, code: &str| (status, code.to_owned());
    assert_eq!(send("POST", format!("{JOBS}/none/triggers"), value!({})).await, code(404, "no-such-job"));
    assert_eq!(send("DELETE", format!("{JOBS}/settle"), value!({})).await, code(409, "instances-online"));
    assert_eq!(send("PUT", format!("{JOBS}/settle/state"), value!({"enable": true})).await, code(400, "bad-request"));
    let long = "x".repeat(201);
    assert_eq!(
        send("POST", format!("{JOBS}/settle/triggers"), value!({"reason": long})).await,
        code(400, "bad-request")
    );
    assert_eq!(problem(&caller.get(&format!("{JOBS}?colour=red")).await), code(400, "bad-request"));
    assert_eq!(problem(&caller.get("/api/v1/registries/other/jobs").await), code(404, "no-such-registry"));
    let wrong = caller.send("POST", "/api/v1/schedules/previews", value!({"cron": "0 0 25 * * ?"})).await;
    assert_eq!(problem(&wrong), code(422, "wrong-schedule"));
    let fires =
        caller.send("POST", "/api/v1/schedules/previews", value!({"cron": "0 0 3 * * ?", "timeZone": "UTC"})).await;
    assert_eq!(parsed(&fires)["fires"].as_array().map(Vec::len), Some(5), "{}", fires.body);
    let disabled = caller.send("PUT", &format!("{JOBS}/settle/state"), value!({"enabled": false})).await;
    assert_eq!(disabled.status, StatusCode::OK);
    assert_eq!(send("POST", format!("{JOBS}/settle/triggers"), value!({})).await, code(409, "no-enabled-instance"));
    drop(job);
}

#[tokio::test]
async fn a_bulk_operation_tells_how_each_job_ended() {
    let memory = MemoryRegistry::new();
    let _one = start_job(&memory, "one", &JobSettings::default()).await;
    let caller = Caller::admin(&memory).await;
    let body = value!({"action": "disable", "jobs": ["one", "none", "a/b"], "reason": "kernel update"});
    let results = parsed(&caller.send("POST", "/api/v1/registries/default/operations", body).await);
    assert_eq!(results[0]["done"]["changed"].as_array().map(Vec::len), Some(1), "{results}");
    assert_eq!(results[1]["problem"]["code"], "no-such-job");
    assert_eq!(results[2]["problem"]["code"], "bad-request");
}

#[tokio::test]
async fn one_version_of_a_configuration_is_read_by_its_id() {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "settle", &JobSettings::default()).await;
    let caller = Caller::admin(&memory).await;
    let path = format!("{JOBS}/settle/configuration/versions");
    let all = parsed(&caller.get(&path).await);
    let id = all[0]["id"].as_i64().expect("the version is kept");
    assert_eq!(parsed(&caller.get(&format!("{path}/{id}")).await), all[0]);
    assert_eq!(all[0]["settings"]["cron"], "0 0 0 1 1 ?");
    let missing = caller.get(&format!("{path}/{}", id + 1)).await;
    assert_eq!(problem(&missing), (404, "no-such-version".to_owned()));
}

#[test]
fn the_document_says_who_may_acknowledge_an_alarm() {
    let console = console_of(&MemoryRegistry::new());
    let document = document(&declared(console.app().clone()));
    let permission = |path: &str, method: &str| document["paths"][path][method]["x-permission"].clone();
    let alarm = permission("/api/v1/registries/{registry}/alarms/{alarm}/acknowledgement", "put");
    assert_eq!(alarm, "operator of the job of the alarm, or of all jobs where it is about the registry center");
    assert_eq!(permission("/api/v1/registries/{registry}/operations", "post"), "operator of each job in the body");
}
