//! The last changes on the overview and in the API.

use std::collections::BTreeSet;

use axum::http::header::ACCEPT_LANGUAGE;
use elasticjob::config::JobSettings;
use elasticjob::ident::JobName;
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::trace::{DecisionRecord, JobDecisionEvent};
use serde_json::{Value, json};

use super::*;
use crate::access::{Grant, PasswordHash};
use crate::testing::stuck::Stuck;
use crate::testing::traced::Folder;
use crate::testing::{PASSWORD, call, cookie_of, json as with_json, request, start_job, with_users};
use crate::{Console, Registry, Role, User};

fn record(job: &str, action: &str, at: i64) -> ActionRecord {
    let detail = json!({"actor": "zhang", "action": action, "outcome": "done"});
    ActionRecord(DecisionRecord::from(JobDecisionEvent {
        at: instant(at),
        detail: detail.as_object().expect("an object").clone(),
        ..JobDecisionEvent::new(JobName::new(job).expect("a name"), DecisionKind::Operator)
    }))
}

#[test]
fn a_configuration_that_a_recorded_action_wrote_is_one_change() {
    let actions = vec![record("a", "update-configuration", 100_000), record("b", "trigger", 90_000)];
    let written = [("a", 100_400), ("b", 90_100), ("c", 95_000)].map(|(job, at)| (job.to_owned(), at));
    let changes = merged(actions, written.into_iter());
    let told: Vec<_> = changes.iter().map(|it| (it.job.as_str(), it.at, it.action.is_some())).collect();
    assert_eq!(told, [("a", 100_000, true), ("c", 95_000, false), ("b", 90_100, false), ("b", 90_000, true)]);
    let many = (0..20).map(|number| (format!("job-{number}"), number));
    assert_eq!(merged(Vec::new(), many).first().map(|change| change.at), Some(19), "the last one first");
}

async fn get(console: &Console, user: &str, path: &str, language: &str) -> String {
    let mut asked = request("GET", path, Some(&cookie_of(console, user).await));
    asked.headers_mut().insert(ACCEPT_LANGUAGE, language.parse().expect("a value"));
    let answer = call(console, asked).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    answer.body
}

const API: &str = "/api/v1/registries/default";

#[tokio::test]
async fn the_overview_shows_what_was_changed_last_to_those_who_see_the_job() {
    let memory = MemoryRegistry::new();
    let _one = start_job(&memory, "billing-1", &JobSettings::default()).await;
    let _two = start_job(&memory, "orders", &JobSettings::default()).await;
    let hash = PasswordHash::of(PASSWORD).expect("it is long enough");
    let mut options = with_users();
    let narrow = Grant::everywhere(Role::Viewer).jobs("billing-*");
    options.users.push(User::new("billing", hash, [narrow]));
    let registry = Registry::new("default", Arc::new(memory.connect()));
    let console = Console::new(options, [registry]).expect("the options are right");
    let admin = cookie_of(&console, "admin").await;
    for (job, reason) in [("billing-1", "kernel update"), ("orders", "wrong file")] {
        let body = json!({"enabled": false, "reason": reason});
        let done = call(&console, with_json("PUT", &format!("{API}/jobs/{job}/items/0/state"), &admin, &body)).await;
        assert_eq!(done.status, 200, "{}", done.body);
        let again = call(&console, with_json("PUT", &format!("{API}/jobs/{job}/items/0/state"), &admin, &body)).await;
        assert_eq!(again.status, 200, "nothing had to be changed: {}", again.body);
    }
    console.app().registries["default"].close_kept(Duration::from_secs(10)).await;
    let told: Value =
        serde_json::from_str(&get(&console, "admin", &format!("{API}/overview"), "en").await).expect("JSON");
    assert_eq!(told["actionsRead"], true, "{told}");
    let list = told["changes"].as_array().expect("a list");
    let actions: Vec<_> = list.iter().filter(|one| !one["action"].is_null()).collect();
    assert_eq!(actions.len(), 2, "what changed nothing is no change: {told}");
    assert_eq!((&actions[0]["job"], &actions[0]["action"]["reason"]), (&"orders".into(), &"wrong file".into()));
    let configured = list.iter().filter(|one| one["action"].is_null()).filter_map(|one| one["job"].as_str());
    assert_eq!(configured.collect::<BTreeSet<_>>(), BTreeSet::from(["billing-1", "orders"]), "{told}");
    let page = get(&console, "admin", "/r/default", "en").await;
    for part in ["disable-item", "wrong file", "/r/default/history/audit?job=orders", "configuration written"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let page = get(&console, "billing", "/r/default", "zh").await;
    assert!(page.contains("kernel update") && page.contains("最近的变更"), "{page}");
    assert!(!page.contains("orders") && !page.contains("wrong file"), "{page}");
}

#[tokio::test]
async fn the_overview_shows_the_connections_with_since_when() {
    let folder = Folder::new("connections");
    folder.write([]).await;
    let memory = MemoryRegistry::new();
    let console = folder.console(&memory).await;
    let api = async || -> Value { serde_json::from_str(&get(&console, "viewer", API, "en").await).expect("JSON") };
    assert_eq!((&api().await["tracesAnswer"], &api().await["tracesSince"]), (&Value::Null, &Value::Null));
    get(&console, "viewer", "/r/default/history/executions", "en").await;
    let told = api().await;
    assert_eq!((&told["tracesAnswer"], told["tracesSince"].is_string()), (&true.into(), true), "{told}");
    let page = get(&console, "viewer", "/r/default", "en").await;
    let (_, page) = page.split_once("<section id=\"connections\">").expect("it is there");
    assert!(page.contains("CONNECTED") && page.contains("answers") && page.contains("since"), "{page}");
    assert!(page.contains("/r/default/history/executions") && !page.contains("/settings"), "{page}");
}

#[tokio::test]
async fn a_storage_that_does_not_answer_keeps_the_overview_a_second_and_is_told() {
    let memory = MemoryRegistry::new();
    let registry = Registry::new("default", Arc::new(memory.connect())).traces(AnyTraceReader::new(Stuck));
    let console = Console::new(with_users(), [registry]).expect("the options are right");
    let cookie = cookie_of(&console, "viewer").await;
    tokio::time::pause();
    let begun = tokio::time::Instant::now();
    let answer = call(&console, request("GET", "/r/default/history/executions", Some(&cookie))).await;
    assert_eq!(answer.status, 502);
    let before = begun.elapsed();
    let page = call(&console, request("GET", "/r/default", Some(&cookie))).await.body;
    assert!(page.contains("does not answer") && page.contains("could not be read a moment ago"), "{page}");
    assert!(begun.elapsed() - before <= PATIENCE + Duration::from_millis(100), "{:?}", begun.elapsed());
    let before = begun.elapsed();
    call(&console, request("GET", "/r/default", Some(&cookie))).await;
    assert!(begun.elapsed() - before < PATIENCE, "it is not asked again at once");
}
