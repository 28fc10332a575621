//! Every action of the API is in the decision log, with who did it and why.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::ConnectInfo;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use elasticjob::trace::{JobEvent, Tracing, TracingConfiguration, TracingStorage, WriteError};
use tokio::runtime::Handle;

use super::refused::code;
use super::*;
use crate::Registry;
use crate::testing::with_users;

/// Job, operator, reason, action and outcome of each decision, and from where it was asked for.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<Recorded>>>);

#[derive(Clone)]
struct Recorded {
    job: String,
    said: [String; 4],
    from: [String; 3],
}

impl TracingStorage for Log {
    fn type_name(&self) -> &str {
        "LOG"
    }

    async fn write(&self, events: &[JobEvent]) -> Result<(), WriteError> {
        let decisions = events.iter().filter_map(|event| match event {
            JobEvent::Decision(decision) => {
                let word = |name: &str| decision.detail.get(name).and_then(Value::as_str);
                let text = |name: &str| word(name).unwrap_or_default().to_owned();
                Some(Recorded {
                    job: decision.job_name.to_string(),
                    said: [text("actor"), decision.reason.clone(), text("action"), text("outcome")],
                    from: ["surface", "address", "request"].map(text),
                })
            }
            _ => None,
        });
        self.0.lock().expect("nobody panics").extend(decisions);
        Ok(())
    }
}

/// A console of a registry center, the log that its actions are recorded in, and what writes there.
fn recording(memory: &MemoryRegistry) -> (Log, Tracing, Console) {
    let log = Log::default();
    let tracing = Tracing::start(TracingConfiguration::new(log.clone()), &Handle::current());
    let registry = Registry::new("default", Arc::new(memory.connect())).record(tracing.clone());
    (log, tracing, Console::new(with_users(), [registry]).expect("the options are right"))
}

#[tokio::test]
async fn every_action_changes_the_registry_and_is_recorded_with_actor_and_reason() {
    let memory = MemoryRegistry::new();
    let job = start_job(&memory, "settle", &JobSettings::default()).await;
    let (log, tracing, console) = recording(&memory);
    let cookie = cookie_of(&console, "admin").await;
    let caller = Caller { console, cookie };
    let path = format!("{JOBS}/settle");
    let server = parsed(&caller.get(&path).await)["servers"][0]["server"].as_str().expect("a server").to_owned();
    let off = value!({"enabled": false, "reason": "off"});
    let on = value!({"enabled": true, "reason": "on"});
    let servers = format!("/api/v1/registries/default/servers/{server}");
    let status = async |caller: &Caller| parsed(&caller.get(&path).await)["servers"][0]["status"].clone();
    let mut expected = Vec::new();
    for to in [format!("{path}/state"), format!("{servers}/state"), format!("{path}/servers/{server}/state")] {
        for (body, action, reason, state) in
            [(&off, "disable-servers", "off", "DISABLED"), (&on, "enable-servers", "on", "ENABLED")]
        {
            let answer = caller.send("PUT", &to, body.clone()).await;
            assert_eq!(answer.status, StatusCode::OK, "{to}: {}", answer.body);
            assert_eq!(status(&caller).await, state, "{to}");
            expected.push(["admin", reason, action, "done"]);
        }
    }
    let mut change = json(
        "PATCH",
        &format!("{path}/configuration?reason=more"),
        &caller.cookie,
        &value!({"sharding-total-count": 0}),
    );
    change.headers_mut().insert(IF_MATCH, caller.get(&format!("{path}/configuration")).await.headers[ETAG].clone());
    assert_eq!(problem(&call(&caller.console, change).await).0, 422);
    expected.push(["admin", "more", "update-configuration", "refused"]);
    let rerun = format!("{path}/fires/2026-01-01T00:00:01Z/reruns");
    assert_eq!(problem(&caller.send("POST", &rerun, value!({"reason": "late file"})).await), code(404, "no-such-fire"));
    expected.push(["admin", "late file", "rerun", "refused"]);
    let answer = caller.send("POST", &format!("{path}/shutdowns"), value!({"reason": "bye"})).await;
    assert_eq!(answer.status, StatusCode::ACCEPTED, "{}", answer.body);
    expected.push(["admin", "bye", "shut-down", "done"]);
    assert_eq!(parsed(&caller.get(&path).await)["instances"], value!([]));
    let mut left = job.handle().status();
    left.wait_for(|status| status.activity == elasticjob::runtime::Activity::Stopped).await.expect("it stops");
    let answer = caller.send("DELETE", &format!("{path}?reason=old"), value!({})).await;
    assert_eq!(answer.status, StatusCode::NO_CONTENT, "{}", answer.body);
    expected.push(["admin", "old", "remove-job", "done"]);
    assert_eq!(problem(&caller.get(&path).await).0, 404);
    tracing.close(Duration::from_secs(20)).await;
    let log = log.0.lock().expect("nobody panics").clone();
    assert_eq!(log.iter().map(|one| one.said.clone()).collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn what_is_refused_or_changes_nothing_is_recorded_with_where_it_came_from() {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "settle", &JobSettings::default()).await;
    let (log, tracing, console) = recording(&memory);
    let cookie = cookie_of(&console, "admin").await;
    let server = parsed(&call(&console, request("GET", &format!("{JOBS}/settle"), Some(&cookie))).await)["servers"][0]
        ["server"]
        .as_str()
        .expect("a server")
        .to_owned();
    let ask = async |mut asked: axum::http::Request<axum::body::Body>, id: &'static str| {
        asked.headers_mut().insert("x-request-id", HeaderValue::from_static(id));
        asked.extensions_mut().insert(ConnectInfo(SocketAddr::from(([192, 0, 2, 7], 5_000))));
        let answer = call(&console, asked).await;
        assert_eq!(answer.headers["x-request-id"], id);
        answer.status.as_u16()
    };
    let configuration = format!("{JOBS}/settle/configuration");
    let stale = |query: &str| {
        let change = value!({"sharding-total-count": 3});
        let mut stale = json("PATCH", &format!("{configuration}{query}"), &cookie, &change);
        stale.headers_mut().insert(IF_MATCH, HeaderValue::from_static("\"99\""));
        stale
    };
    assert_eq!(ask(stale("?reason=r"), "stale").await, 412);
    assert_eq!(ask(stale("?dryRun=true"), "only-looked").await, 412);
    let on = value!({"enabled": true, "reason": "r"});
    let of_server = |server: &str| format!("/api/v1/registries/default/servers/{server}/state");
    assert_eq!(ask(json("PUT", &of_server(&server), &cookie, &on), "needless").await, 200);
    assert_eq!(ask(json("PUT", &of_server("10.9.9.9"), &cookie, &on), "nowhere").await, 404);
    let masked = |query: &str, etag: &HeaderValue| {
        let change = value!({"props": {"password": "x******"}});
        let mut masked = json("PATCH", &format!("{configuration}{query}"), &cookie, &change);
        masked.headers_mut().insert(IF_MATCH, etag.clone());
        masked
    };
    let stored = call(&console, request("GET", &configuration, Some(&cookie))).await.headers[ETAG].clone();
    assert_eq!(ask(masked("?reason=r", &stored), "masked").await, 422);
    assert_eq!(ask(masked("?dryRun=true", &stored), "only-looked").await, 422);
    let form = |path: &str, body: &str| {
        let mut form = request("POST", path, Some(&cookie));
        form.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
        *form.body_mut() = body.to_owned().into();
        form
    };
    let page = "/r/default/jobs/settle";
    assert_eq!(ask(form(&format!("{page}/configuration/edit"), "version=99&action=save&reason=r"), "form").await, 412);
    let version = stored.to_str().expect("a text").trim_matches('"');
    for (fields, id, status) in [
        ("action=save&cron=0+0+0+1+1+%3F&sharding-total-count=2", "not-previewed", 409),
        ("action=save&sharding-total-count=many", "no-number", 422),
        ("action=save&sharding-total-count=0", "wrong", 422),
        ("action=preview&sharding-total-count=0", "only-looked", 422),
    ] {
        let body = format!("version={version}&reason=r&{fields}");
        assert_eq!(ask(form(&format!("{page}/configuration/edit"), &body), id).await, status, "{id}");
    }
    assert_eq!(ask(form(page, "action=enable&reason=r"), "button").await, 303);
    let back =
        |query: &str| json("POST", &format!("{configuration}/versions/99/restorations{query}"), &cookie, &value!({}));
    assert_eq!(ask(back("?reason=r"), "put-back").await, 404);
    assert_eq!(ask(back("?dryRun=true"), "only-looked").await, 404);
    let many = value!({"action": "enable", "jobs": ["settle", "none", "nor-this"], "reason": "r"});
    assert_eq!(ask(json("POST", "/api/v1/registries/default/operations", &cookie, &many), "many").await, 200);
    assert_eq!(ask(form("/r/default/jobs", "action=enable&job=none&job=nor-this&reason=r"), "ticked").await, 303);
    tracing.close(Duration::from_secs(20)).await;
    let log = log.0.lock().expect("nobody panics").clone();
    let told = log.iter().map(|one| {
        let ([actor, reason, action, outcome], [surface, address, request]) = (&one.said, &one.from);
        assert_eq!((actor.as_str(), reason.as_str(), address.as_str()), ("admin", "r", "192.0.2.7"));
        [&one.job, action, outcome, surface, request].map(String::as_str)
    });
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            ["settle", "update-configuration", "refused", "rest", "stale"],
            ["settle", "enable-servers", "unchanged", "rest", "needless"],
            ["*", "enable-servers", "refused", "rest", "nowhere"],
            ["settle", "update-configuration", "refused", "rest", "masked"],
            ["settle", "update-configuration", "refused", "page", "form"],
            ["settle", "update-configuration", "refused", "page", "not-previewed"],
            ["settle", "update-configuration", "refused", "page", "no-number"],
            ["settle", "update-configuration", "refused", "page", "wrong"],
            ["settle", "enable-servers", "unchanged", "page", "button"],
            ["settle", "update-configuration", "refused", "rest", "put-back"],
            ["*", "enable-servers", "refused", "rest", "many"],
            ["settle", "enable-servers", "unchanged", "rest", "many"],
            ["*", "enable-servers", "refused", "page", "ticked"],
        ]
    );
}
