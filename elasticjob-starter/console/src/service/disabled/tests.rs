//! Who disabled something, on every page and in every answer that shows it.

use std::time::Duration;

use axum::http::header::ACCEPT_LANGUAGE;
use elasticjob::config::JobSettings;
use elasticjob::operations::{Operations, Target};
use elasticjob::registry::memory::MemoryRegistry;
use serde_json::{Value, json};

use crate::Console;
use crate::testing::{call, console_of, cookie_of, json as with_json, request, start_job};

const API: &str = "/api/v1/registries/default";

struct Reader<'c> {
    console: &'c Console,
    cookie: String,
}

impl Reader<'_> {
    async fn page(&self, path: &str, language: &str) -> String {
        let mut page = request("GET", path, Some(&self.cookie));
        page.headers_mut().insert(ACCEPT_LANGUAGE, language.parse().expect("a value"));
        call(self.console, page).await.body
    }

    async fn told(&self, path: &str) -> Value {
        let answer = self.page(&format!("{API}{path}"), "en").await;
        serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer}"))
    }

    async fn disable(&self, path: &str, reason: &str) {
        let body = json!({"enabled": false, "reason": reason});
        let done = call(self.console, with_json("PUT", &format!("{API}{path}"), &self.cookie, &body)).await;
        assert_eq!(done.status, 200, "{path}: {}", done.body);
    }
}

#[tokio::test]
async fn every_view_that_shows_something_disabled_says_who_did_it_and_why() {
    let memory = MemoryRegistry::new();
    let jobs = ["off", "part"];
    let _off = start_job(&memory, jobs[0], &JobSettings::default()).await;
    let _part = start_job(&memory, jobs[1], &JobSettings::default()).await;
    let console = console_of(&memory);
    let reader = Reader { console: &console, cookie: cookie_of(&console, "operator").await };
    reader.disable("/jobs/off/state", "the disk is full").await;
    reader.disable("/jobs/part/items/0/state", "wrong data").await;
    // They are recorded through a queue.
    console.app().registries["default"].close_kept(Duration::from_secs(10)).await;
    let server = reader.told("/servers").await[0]["server"].as_str().expect("an address").to_owned();
    let (whole, item) = ("by operator: the disk is full", "by operator: wrong data");
    for (path, parts) in [
        ("/r/default".to_owned(), vec![whole, item]),
        ("/r/default/jobs".to_owned(), vec![whole, item]),
        ("/r/default/jobs/off".to_owned(), vec![whole]),
        ("/r/default/jobs/part".to_owned(), vec![item]),
        (format!("/r/default/servers/{server}"), vec![whole]),
    ] {
        let page = reader.page(&path, "en").await;
        for part in parts {
            assert!(page.contains(part), "{path} does not say {part}: {page}");
        }
    }
    let chinese = reader.page("/r/default/jobs", "zh").await;
    assert!(chinese.contains("由 operator 禁用：the disk is full"), "{chinese}");

    let (off, part) = (json!({"actor": "operator", "reason": "the disk is full"}), "wrong data");
    let list = reader.told("/jobs").await;
    assert_eq!((&list["jobs"][0]["disabledBy"], &list["jobs"][1]["disabledBy"]["reason"]), (&off, &part.into()));
    assert_eq!(reader.told("/overview").await["jobs"]["disabled"][0]["disabledBy"], off);
    assert_eq!(reader.told("/jobs/off").await["servers"][0]["disabledBy"], off);
    let items = reader.told("/jobs/part/items").await;
    assert_eq!((&items[0]["disabledBy"]["reason"], &items[1]["disabledBy"]), (&part.into(), &Value::Null));
    assert_eq!(reader.told("/jobs/part/items/0").await["disabledBy"]["reason"], part);
    assert_eq!(reader.told(&format!("/servers/{server}")).await[0]["disabledBy"], off);
}

#[tokio::test]
async fn what_another_program_disabled_is_shown_as_not_recorded() {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "off", &JobSettings::default()).await;
    let job = elasticjob::ident::JobName::new("off").expect("a name");
    let operations = Operations::new(std::sync::Arc::new(memory.connect()));
    operations.disable_servers(&Target::Job(job)).await.expect("it is disabled");
    let console = console_of(&memory);
    let reader = Reader { console: &console, cookie: cookie_of(&console, "viewer").await };
    for path in ["/r/default", "/r/default/jobs", "/r/default/jobs/off"] {
        let page = reader.page(path, "en").await;
        assert!(page.contains("by whom is not recorded"), "{path}: {page}");
    }
    assert_eq!(reader.told("/jobs").await["jobs"][0]["disabledBy"], Value::Null);
}
