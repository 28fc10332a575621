use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::http::header::{CONTENT_TYPE, IF_MATCH};
use axum::http::{HeaderValue, StatusCode};
use elasticjob::config::JobSettings;
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::trace::{JobEvent, Tracing, TracingConfiguration, TracingStorage, WriteError};
use serde_json::json;
use tokio::runtime::Handle;

use super::*;
use crate::router::{Declared, declared};
use crate::testing::{Answer, call, cookie_of, form, request, start_job, with_users};
use crate::{Console, ConsoleOptions, Registry};

/// The actions without a reason. Each new action belongs here or into [`BOUND`].
const FREE: [&str; 5] = ["acknowledge-alarm", "enable-item", "enable-servers", "rerun", "trigger"];

/// The actions that need one.
const BOUND: [&str; 7] =
    ["cancel", "disable-item", "disable-servers", "remove-job", "remove-servers", "shut-down", "update-configuration"];

fn console_of(memory: &MemoryRegistry, require_reason: bool) -> Console {
    let registry = Registry::new("default", Arc::new(memory.connect()));
    Console::new(ConsoleOptions { require_reason, ..with_users() }, [registry]).expect("the options are right")
}

/// The routes of a registry center that change something, but those of carried jobs, whose API takes no reasons.
fn changing(console: &Console) -> Vec<Declared> {
    let mut routes = declared(console.app().clone());
    routes.retain(|it| it.method != "GET" && it.path.contains("{registry}") && !it.path.contains("/cloud"));
    assert!(routes.len() > 25, "{routes:?}");
    routes
}

fn path_of(route: &Declared, job: &str, server: &str) -> String {
    let path = route.path.replace("{registry}", "default").replace("{job}", job).replace("{server}", server);
    let path = path.replace("{item}", "0").replace("{version}", "1").replace("{fire}", "2026-01-01T00:00:00Z");
    path.replace(['{', '}'], "")
}

/// Calls a route of the API.
async fn ask(console: &Console, cookie: &str, route: &Declared, path: &str, body: &str) -> Answer {
    let mut request = request(route.method, path, Some(cookie));
    request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    request.headers_mut().insert(IF_MATCH, HeaderValue::from_static("*"));
    *request.body_mut() = body.to_owned().into();
    call(console, request).await
}

/// The actions that are recorded without a reason.
#[derive(Clone, Default)]
struct WithoutReason(Arc<Mutex<BTreeSet<String>>>);

impl TracingStorage for WithoutReason {
    fn type_name(&self) -> &str {
        "LOG"
    }

    async fn write(&self, events: &[JobEvent]) -> Result<(), WriteError> {
        for event in events {
            if let JobEvent::Decision(action) = event
                && action.reason.is_empty()
            {
                let name = action.detail["action"].as_str().expect("an action of an operator");
                self.0.lock().expect("nobody panics").insert(name.to_owned());
            }
        }
        Ok(())
    }
}

/// Whether nothing is left to act on after this route.
fn is_end(route: &Declared) -> bool {
    route.method == "DELETE" || ["shutdown", "shutdowns", "removal"].iter().any(|end| route.path.ends_with(end))
}

/// Calls each route in each way that its handler may know, without a reason. Returns the actions that are recorded.
async fn recorded_without_reasons(require_reason: bool) -> BTreeSet<String> {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "settle", &JobSettings::default()).await;
    let log = WithoutReason::default();
    let tracing = Tracing::start(TracingConfiguration::new(log.clone()), &Handle::current());
    let registry = Registry::new("default", Arc::new(memory.connect())).record(tracing.clone());
    let options = ConsoleOptions { require_reason, ..with_users() };
    let console = Console::new(options, [registry]).expect("the options are right");
    let admin = cookie_of(&console, "admin").await;
    let instances = call(&console, request("GET", "/api/v1/registries/default/instances", Some(&admin))).await.body;
    let instances: serde_json::Value = serde_json::from_str(&instances).expect("JSON");
    let server = instances[0]["server"].as_str().expect("an address").to_owned();
    let bodies = [
        json!({}),
        json!({ "cron": "0 0 0 2 1 ?" }),
        json!({ "enabled": false }),
        json!({ "enabled": true }),
        json!({ "action": "disable", "jobs": ["settle"] }),
        json!({ "action": "enable", "jobs": ["settle"] }),
        json!({ "action": "trigger", "jobs": ["settle"] }),
    ];
    let mut routes = changing(&console);
    routes.sort_by_key(is_end);
    for route in routes {
        let path = path_of(&route, "settle", &server);
        if is_api(&path) {
            for body in &bodies {
                ask(&console, &admin, &route, &path, &body.to_string()).await;
            }
            continue;
        }
        for action in ["", "trigger", "enable", "disable", "cancel", "rerun", "preview", "save"] {
            let fields = [("action", action), ("job", "settle"), ("item", "0"), ("version", "7"), ("reason", " ")];
            call(&console, form(&path, &admin, &fields)).await;
            let of_server = fields.into_iter().chain([("server", "10.9.9.9")]).collect::<Vec<_>>();
            call(&console, form(&path, &admin, &of_server)).await;
        }
    }
    tracing.close(Duration::from_secs(20)).await;
    let names = log.0.lock().expect("nobody panics");
    names.clone()
}

#[tokio::test]
async fn no_route_does_without_a_reason_what_needs_one() {
    let all: BTreeSet<String> = FREE.iter().chain(&BOUND).map(|name| (*name).to_owned()).collect();
    let done = recorded_without_reasons(false).await;
    assert!(done.is_subset(&all), "an action that is not decided on: {done:?}");
    for name in BOUND {
        assert!(done.contains(name), "the walk does not reach {name}: {done:?}");
    }
    let done = recorded_without_reasons(true).await;
    assert!(done.iter().all(|name| FREE.contains(&name.as_str())), "{done:?}");
    assert!(done.contains("trigger") && done.contains("enable-servers"), "what is free stays free: {done:?}");
}

/// The fields with which a route needs a reason.
fn needy(rule: ReasonRule) -> Vec<(&'static str, &'static str)> {
    match rule {
        ReasonRule::Free | ReasonRule::InQuery | ReasonRule::InQueryUnlessDry | ReasonRule::InBody => Vec::new(),
        ReasonRule::InBodyWhere(field, values) => values.iter().map(|value| (field, *value)).collect(),
    }
}

#[tokio::test]
async fn a_route_with_a_rule_says_where_the_reason_is_missing_and_takes_the_request_with_it() {
    let memory = MemoryRegistry::new();
    let console = console_of(&memory, true);
    let admin = cookie_of(&console, "admin").await;
    let mut seen = 0;
    for route in changing(&console).into_iter().filter(|route| route.reason != ReasonRule::Free) {
        let path = path_of(&route, "none", "10.9.9.9");
        let cases = needy(route.reason);
        let cases = if cases.is_empty() { vec![("item", "0")] } else { cases };
        for (field, value) in cases {
            seen += 1;
            if !is_api(&path) {
                let asked = call(&console, form(&path, &admin, &[(field, value), ("job", "a\nb")])).await;
                assert_eq!(asked.status, StatusCode::UNPROCESSABLE_ENTITY, "{path} {field}: {}", asked.body);
                let again = format!("<form class=\"fields\" method=\"post\" action=\"{path}\">");
                let kept = [
                    again.as_str(),
                    "name=\"reason\" maxlength=\"200\" required",
                    "role=\"alert\"",
                    &format!("<input type=\"hidden\" name=\"{field}\" value=\"{value}\">"),
                    "<input type=\"hidden\" name=\"job\" value=\"a\nb\">",
                ];
                for part in kept {
                    assert!(asked.body.contains(part), "{path} has no {part}: {}", asked.body);
                }
                let told = call(&console, form(&path, &admin, &[(field, value), ("reason", "why")])).await;
                assert!(!told.body.contains("id=\"no-reason\""), "{path}: {}", told.body);
                continue;
            }
            let value: serde_json::Value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
            let (without, with) = match route.reason.is_in_query() {
                true => (json!({}), json!({})),
                false => (json!({ field: value, "reason": " " }), json!({ field: value, "reason": "why" })),
            };
            let refused = ask(&console, &admin, &route, &path, &without.to_string()).await;
            assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{route:?}: {}", refused.body);
            let problem: serde_json::Value = serde_json::from_str(&refused.body).expect("JSON");
            assert_eq!(problem["code"], "reason-required", "{problem}");
            let place = match route.reason.is_in_query() {
                true => ("parameter", "reason"),
                false => ("pointer", "/reason"),
            };
            assert_eq!(problem["problems"][0][place.0], place.1, "{problem}");
            let query = if route.reason.is_in_query() { "?reason=why" } else { "" };
            let told = ask(&console, &admin, &route, &format!("{path}{query}"), &with.to_string()).await;
            assert!(!told.body.contains("reason-required"), "{route:?}: {}", told.body);
        }
    }
    assert!(seen > 20, "{seen}");
}

#[test]
fn a_reason_begins_where_a_reader_sees_something() {
    for (text, reason) in [
        ("", ""),
        ("\u{200b} \u{2060}\u{feff}", ""),
        ("\u{200b} a fix\u{200b} \n", "a fix\u{200b}"),
        (" 原因 ", "原因"),
    ] {
        assert_eq!(given(text), reason, "{text:?}");
    }
}

#[tokio::test]
async fn no_shape_of_a_body_gets_around_a_reason_and_a_dry_run_needs_none() {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "settle", &JobSettings::default()).await;
    let console = console_of(&memory, true);
    let admin = cookie_of(&console, "admin").await;
    let of = "/api/v1/registries/default/jobs/settle";
    let configuration = format!("{of}/configuration");
    let route = |method: &str, end: &str| {
        let found = changing(&console).into_iter().find(|it| it.method == method && it.path.ends_with(end));
        found.unwrap_or_else(|| panic!("there is no {method} {end}"))
    };
    let state = route("PUT", "/jobs/{job}/state");
    let (bulk, all) = (route("POST", "/operations"), "/api/v1/registries/default/operations".to_owned());
    for (route, path, body, status) in [
        (bulk, all.clone(), r#"{"action": {"disable": null}, "jobs": ["settle"]}"#, 422),
        (bulk, all.clone(), r#"{"action": {"disable": null}, "jobs": ["settle"], "reason": "why"}"#, 200),
        (bulk, all.clone(), r#"{"action": null, "jobs": ["settle"]}"#, 422),
        (bulk, all.clone(), r#"{"action": "disable", "jobs": ["settle"], "reason": "\u200b\u2060\ufeff"}"#, 422),
        (bulk, all, r#"{"action": "enable", "jobs": ["settle"]}"#, 200),
        (state, format!("{of}/state"), r#"{"enabled": null}"#, 422),
        (state, format!("{of}/state"), r#"[false, ""]"#, 400),
        (state, format!("{of}/state"), r#"{"enabled": false, "reason": "why", "reason": ""}"#, 422),
        (state, format!("{of}/state"), r#"{"enabled": false, "reason": "", "reason": "why"}"#, 400),
        (state, format!("{of}/state"), r#"{"enabled": false, "reas\u006fn": ""}"#, 422),
        (state, format!("{of}/state"), r#"{"enabled": true}"#, 200),
        (route("POST", "/jobs/{job}/shutdowns"), format!("{of}/shutdowns"), r#"[""]"#, 400),
        (route("POST", "/jobs/{job}/shutdowns"), format!("{of}/shutdowns"), "", 422),
        (route("DELETE", "/jobs/{job}"), format!("{of}?reason=%20"), "no JSON", 422),
        (route("DELETE", "/jobs/{job}"), format!("{of}?reason=&reason=why"), "", 422),
        (route("DELETE", "/jobs/{job}"), format!("{of}?reason=why&reason="), "", 400),
        (route("DELETE", "/jobs/{job}"), format!("{of}?dryRun=true"), "", 422),
        (route("DELETE", "/jobs/{job}"), format!("{of}?reason=%E2%80%8B"), "", 422),
        (route("PATCH", "/configuration"), configuration.clone(), r#"{"cron": "0 0 0 2 1 ?"}"#, 422),
        (route("PATCH", "/configuration"), format!("{configuration}?dryRun=true"), r#"{"cron": "0 0 0 2 1 ?"}"#, 200),
        (route("PATCH", "/configuration"), format!("{configuration}?reason=why"), r#"{"cron": "0 0 0 2 1 ?"}"#, 200),
    ] {
        let answer = ask(&console, &admin, &route, &path, body).await;
        assert_eq!(answer.status, status, "{path} {body}: {}", answer.body);
    }
}

#[tokio::test]
async fn a_page_says_which_of_its_buttons_need_a_reason() {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "settle", &JobSettings::default()).await;
    for is_asked in [false, true] {
        let console = console_of(&memory, is_asked);
        let admin = cookie_of(&console, "admin").await;
        for (path, label) in [
            ("/r/default/jobs", "Reason (required to disable)"),
            ("/r/default/jobs/settle", "Reason (required to disable)"),
            ("/r/default/jobs/settle/configuration/edit", "Reason (required)"),
        ] {
            let page = call(&console, request("GET", path, Some(&admin))).await.body;
            let said = [label, "name=\"reason\"", " required>", " formnovalidate>"].map(|part| page.contains(part));
            assert_eq!(said, [is_asked, true, is_asked, is_asked], "{path}: {page}");
        }
        let me = call(&console, request("GET", "/api/v1/me", Some(&admin))).await.body;
        assert!(me.contains(&format!("\"requireReason\":{is_asked}")), "{me}");
    }
}
