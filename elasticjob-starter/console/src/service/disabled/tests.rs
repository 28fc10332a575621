//! The operator who disabled something, on every page and in every answer that shows it.

use std::sync::Arc;
use std::time::Duration;

use axum::http::header::ACCEPT_LANGUAGE;
use elasticjob::config::JobSettings;
use elasticjob::ident::JobName;
use elasticjob::operations::disabled::{PATIENCE, PAUSE};
use elasticjob::operations::{Operations, Target};
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::trace::AnyTraceReader;
use serde_json::{Value, json};

use crate::testing::stuck::Stuck;
use crate::testing::{call, console_of, cookie_of, json as with_json, request, start_job, with_users};
use crate::{Console, Registry};

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

    async fn disable(&self, path: &str, user: &str, reason: &str) {
        let (body, cookie) = (json!({"enabled": false, "reason": reason}), cookie_of(self.console, user).await);
        let done = call(self.console, with_json("PUT", &format!("{API}{path}"), &cookie, &body)).await;
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
    reader.disable("/jobs/off/state", "operator", "the disk is full").await;
    reader.disable("/jobs/part/items/0/state", "admin", "wrong data").await;
    // An action on the same job at the same time, which disabled another item.
    reader.disable("/jobs/part/items/1/state", "operator", "no data").await;
    // They are recorded through a queue.
    console.app().registries["default"].close_kept(Duration::from_secs(10)).await;
    let server = reader.told("/servers").await[0]["server"].as_str().expect("an address").to_owned();
    let (whole, item) = ("disabled by operator: the disk is full", "disabled by admin: wrong data");
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
    assert_eq!(items[0]["disabledBy"], json!({"actor": "admin", "reason": part}));
    assert_eq!(items[1]["disabledBy"], json!({"actor": "operator", "reason": "no data"}));
    assert_eq!(reader.told("/jobs/part/items/0").await["disabledBy"]["reason"], part);
    assert_eq!(reader.told(&format!("/servers/{server}")).await[0]["disabledBy"], off);
}

#[tokio::test]
async fn a_page_does_not_wait_for_records_that_do_not_come() {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "off", &JobSettings::default()).await;
    let job = JobName::new("off").expect("a name");
    let operations = Operations::new(Arc::new(memory.connect()));
    operations.disable_servers(&Target::Job(job)).await.expect("it is disabled");
    let registry = Registry::new("default", Arc::new(memory.connect())).traces(AnyTraceReader::new(Stuck));
    let console = Console::new(with_users(), [registry]).expect("the options are right");
    let reader = Reader { console: &console, cookie: cookie_of(&console, "viewer").await };
    assert!(reader.page("/r/default", "en").await.contains(">off<"), "the catalogue is read");
    tokio::time::pause();
    let begun = tokio::time::Instant::now();
    for _ in 0..10 {
        let page = reader.page("/r/default", "en").await;
        assert!(page.contains(">off<") && !page.contains("disabled by"), "{page}");
    }
    assert!(begun.elapsed() < 2 * PATIENCE, "{:?}", begun.elapsed());
    tokio::time::advance(PAUSE).await;
    let asked = tokio::time::Instant::now();
    reader.page("/r/default", "en").await;
    assert!(asked.elapsed() >= PATIENCE, "they are asked for again");
}
