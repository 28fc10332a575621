use std::sync::Arc;

use elasticjob::api::{ItemHandler, ItemWork};
use elasticjob::config::JobSettings;
use elasticjob::ident::JobName;
use elasticjob::operations::{Operations, Target};
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::registry::{CreateMode, RegistryCenter, Transaction};

use elasticjob::runtime::ShutdownMode;

use crate::testing::{call, console_of, cookie_of, job_settings, request, start_job, start_job_with, with_users};
use crate::{Console, Registry};

fn target(job: &str) -> Target {
    Target::Job(JobName::new(job).expect("a name"))
}

#[tokio::test]
async fn the_overview_tells_what_needs_a_look_with_the_button_that_helps() {
    let memory = MemoryRegistry::new();
    let _well = start_job(&memory, "well", &JobSettings::default()).await;
    let _off = start_job(&memory, "off", &JobSettings::default()).await;
    let mut gone = start_job(&memory, "gone", &JobSettings::default()).await;
    gone.shutdown(ShutdownMode::Graceful).await;
    let operations = Operations::new(Arc::new(memory.connect()));
    operations.disable_servers(&target("off")).await.expect("it is disabled");
    let console = console_of(&memory);
    let cookie = cookie_of(&console, "operator").await;
    let page = call(&console, request("GET", "/r/default", Some(&cookie))).await.body;
    for part in [
        r#"<section id="disabled">"#,
        r#"<section id="crashed">"#,
        r#"aria-label="Enable: off""#,
        "No instance is online",
        r##"href="#crashed""##,
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains(r#"<section id="failing">"#), "{page}");
    let off = page.split(r#"<section id="disabled">"#).nth(1).unwrap_or_default();
    let since = off.split("</th>").nth(6).and_then(|row| row.split("</td>").next());
    assert!(since.is_some_and(|since| since.contains("<time")), "since when it is disabled: {off}");
    let overview = call(&console, request("GET", "/api/v1/registries/default/overview", Some(&cookie))).await.body;
    let overview: serde_json::Value = serde_json::from_str(&overview).expect("it is JSON");
    let concerns = &overview["concerns"];
    assert_eq!((&overview["total"], &concerns["crashed"], &concerns["disabled"]), (&3.into(), &1.into(), &1.into()));
    assert_eq!(overview["jobs"]["disabled"][0]["job"], "off");
    assert_eq!(overview["lostSince"], serde_json::Value::Null);
    let viewer = cookie_of(&console, "viewer").await;
    let page = call(&console, request("GET", "/r/default", Some(&viewer))).await.body;
    assert!(!page.contains(r#"aria-label="Enable: off""#), "a viewer has no buttons");
}

#[tokio::test]
async fn a_failure_is_seen_first_and_has_its_time() {
    let memory = MemoryRegistry::new();
    let handler = ItemHandler::new(|_| ItemWork::Async(Box::pin(async { Err("no disk".into()) })));
    let settings = job_settings(|settings| settings.sharding_total_count = Some(1));
    let _job = start_job_with(&memory, "broken", &settings, handler).await;
    let registry = Registry::new("default", Arc::new(memory.connect()));
    let mut changes = registry.catalogue().changes();
    let console = Console::new(with_users(), [registry]).expect("the options are right");
    let cookie = cookie_of(&console, "viewer").await;
    Operations::new(Arc::new(memory.connect())).trigger(&target("broken")).await.expect("it is triggered");
    let page = loop {
        let page = call(&console, request("GET", "/r/default", Some(&cookie))).await.body;
        if page.contains(r#"<section id="failing">"#) {
            break page;
        }
        changes.changed().await.expect("it goes on");
    };
    let row = page.split(r#"<th scope="row">"#).nth(1).unwrap_or_default();
    assert!(page.contains("Last failure") && row.split("</td>").next().is_some_and(|it| it.contains("<time")), "{row}");
    assert!(row.contains("not known"), "it never succeeded: {row}");
    let why = call(&console, request("GET", "/r/default/jobs/broken/why", Some(&cookie))).await.body;
    assert!(why.contains(r#"<li class="failure">"#), "{why}");
}

#[tokio::test]
async fn a_run_that_began_late_shows_when_it_was_expected_and_how_late_it_is() {
    let memory = MemoryRegistry::new();
    let mut nodes = Transaction::new();
    let run = r#"{"through":1700000000000,"last":{"at":1700000000000,"instance":"a@-@1","attempt":"1-1","began":1700000045000,"state":"RUNNING"}}"#;
    for (path, data) in [
        ("/slow", ""),
        ("/slow/config", "shardingTotalCount: 1\ncron: 0 0 3 * * ?\ntimeZone: UTC\nmonitorExecution: true\n"),
        ("/slow/servers", ""),
        ("/slow/servers/a", "ENABLED"),
        ("/slow/instances", ""),
        ("/slow/instances/a@-@1", ""),
        ("/slow/sharding", ""),
        ("/slow/sharding/0", ""),
        ("/slow/sharding/0/instance", "a@-@1"),
        ("/slow/sharding/0/running", ""),
        ("/slow/sharding/0/fire", run),
    ] {
        let lives = path.ends_with("@-@1") || path.ends_with("/running");
        nodes.create(path, data, if lives { CreateMode::Ephemeral } else { CreateMode::Persistent });
    }
    let instance = memory.connect();
    instance.commit(nodes).await.expect("they are written");
    let console = console_of(&memory);
    let cookie = cookie_of(&console, "viewer").await;
    for (path, language, late) in [
        ("/r/default", "en", "Began 45.0 s late"),
        ("/r/default", "zh-CN", "晚 45.0 s 开始"),
        ("/r/default/jobs", "en", "Began 45.0 s late"),
        ("/r/default/jobs/slow", "en", "Began 45.0 s late"),
    ] {
        let mut page = request("GET", path, Some(&cookie));
        page.headers_mut().insert("accept-language", language.parse().expect("a value"));
        let page = call(&console, page).await.body;
        assert!(page.contains(late) && page.contains("2023-11-14T22:13:20"), "{path}: {page}");
    }
    let overview = call(&console, request("GET", "/api/v1/registries/default/jobs", Some(&cookie))).await.body;
    assert!(overview.contains("2023-11-14T22:14:05"), "the API has both times: {overview}");
}

#[tokio::test]
async fn pages_of_a_registry_center_at_rest_send_no_requests() {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "job", &JobSettings::default()).await;
    let center: Arc<dyn RegistryCenter> = Arc::new(memory.connect());
    let console =
        Console::new(with_users(), [Registry::new("default", center.clone())]).expect("the options are right");
    let cookie = cookie_of(&console, "viewer").await;
    let pages =
        ["", "/jobs", "/jobs/job", "/jobs/job/why", "/jobs/job/schedule", "/jobs/job/configuration", "/servers"];
    let mut requests = Vec::new();
    for _ in 0..3 {
        for page in pages {
            let answer = call(&console, request("GET", &format!("/r/default{page}"), Some(&cookie))).await;
            assert_eq!(answer.status, 200, "{page}");
        }
        requests.push(center.requests().requests);
    }
    assert_eq!(requests[0], requests[2], "{requests:?}");
}

#[tokio::test]
async fn a_lost_registry_center_shows_since_when_and_what_was_known() {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "job", &JobSettings::default()).await;
    let center: Arc<dyn RegistryCenter> = Arc::new(memory.connect());
    let registry = Registry::new("default", center.clone());
    let mut changes = registry.catalogue().changes();
    let console = Console::new(with_users(), [registry]).expect("the options are right");
    let cookie = cookie_of(&console, "viewer").await;
    let show = async || call(&console, request("GET", "/r/default/jobs", Some(&cookie))).await.body;
    let known = show().await;
    assert!(!known.contains("is lost since"), "{known}");
    let elasticjob::registry::SessionState::Connected { id, .. } = *center.session().borrow() else {
        panic!("it is connected")
    };
    memory.suspend(id);
    loop {
        let page = show().await;
        assert!(page.contains("/r/default/jobs/job"), "never an empty list: {page}");
        if page.contains("is lost since") {
            break;
        }
        changes.changed().await.expect("it goes on");
    }
}
