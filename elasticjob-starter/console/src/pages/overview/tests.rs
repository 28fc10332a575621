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
    let pages = [
        "",
        "/alarms",
        "/jobs",
        "/jobs/job",
        "/jobs/job/why",
        "/jobs/job/runs",
        "/jobs/job/schedule",
        "/jobs/job/configuration",
        "/jobs/job/configuration/history",
        "/jobs/job/graph",
        "/graph",
        "/timeline",
        "/servers",
        "/history/audit",
    ];
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

#[tokio::test]
async fn the_rest_of_a_concern_is_in_the_list_of_exactly_that_concern() {
    let memory = MemoryRegistry::new();
    let _well = start_job(&memory, "well", &JobSettings::default()).await;
    let mut nodes = Transaction::new();
    let mut node = |path: String, data: &str| {
        nodes.create(path, data, CreateMode::Persistent);
    };
    for number in 0..22 {
        node(format!("/gone-{number:02}"), "");
        node(format!("/gone-{number:02}/config"), "shardingTotalCount: 1\ncron: 0 0 0 1 1 ?\n");
        // An instance of the job runs it, and one of its items was disabled before: it has two concerns, the second is counted nowhere.
        node(format!("/off-{number:02}"), "");
        node(format!("/off-{number:02}/config"), "shardingTotalCount: 1\n");
        node(format!("/off-{number:02}/servers"), "");
        node(format!("/off-{number:02}/servers/192.0.2.1"), "DISABLED");
        node(format!("/off-{number:02}/instances"), "");
        node(format!("/off-{number:02}/instances/192.0.2.1@-@1"), "");
    }
    let instance = memory.connect();
    instance.commit(nodes).await.expect("they are written");
    let console = console_of(&memory);
    let cookie = cookie_of(&console, "viewer").await;
    let get = async |path: &str| call(&console, request("GET", path, Some(&cookie))).await;
    let overview = get("/r/default").await.body;
    for (concern, prefix) in [("crashed", "gone-"), ("disabled", "off-")] {
        let link = format!(r#"<a href="/r/default/jobs?concern={concern}">2 more</a>"#);
        assert!(overview.contains(&link), "{link}: {overview}");
        let page = get(&format!("/r/default/jobs?concern={concern}")).await.body;
        assert!(page.contains("22 jobs") && page.contains(&format!(r#"value="{concern}" selected"#)), "{page}");
        let list = get(&format!("/api/v1/registries/default/jobs?concern={concern}&limit=200")).await.body;
        let list: serde_json::Value = serde_json::from_str(&list).expect("it is JSON");
        let names: Vec<_> =
            list["jobs"].as_array().into_iter().flatten().filter_map(|job| job["job"].as_str()).collect();
        assert_eq!((names.len(), &list["total"]), (22, &22.into()), "{list}");
        assert!(names.iter().all(|name| name.starts_with(prefix)), "{names:?}");
        let next = get(&format!("/r/default/jobs?concern={concern}&limit=3")).await.body;
        assert!(next.contains(&format!("concern={concern}&#38;cursor={prefix}02")), "the next page keeps it: {next}");
    }
    for wrong in ["concern=tired", "running=maybe", "sort=size"] {
        let answer = get(&format!("/api/v1/registries/default/jobs?{wrong}")).await;
        assert!(answer.status == 400 && answer.body.contains("is one of"), "{wrong}: {}", answer.body);
    }
}

#[tokio::test]
async fn the_jobs_that_fire_after_the_first_ten_are_in_the_list_in_the_order_of_their_fires() {
    let memory = MemoryRegistry::new();
    let mut nodes = Transaction::new();
    for number in 0..12 {
        let (job, hour) = (format!("/tick-{number:02}"), 23 - number);
        for (path, data) in [
            ("", String::new()),
            ("/config", format!("shardingTotalCount: 1\ntimeZone: GMT\ncron: 0 0 {hour} 1 1 ?\n")),
            ("/servers", String::new()),
            ("/servers/192.0.2.1", "ENABLED".to_owned()),
            ("/instances", String::new()),
            ("/instances/192.0.2.1@-@1", String::new()),
        ] {
            let lives = path.ends_with("@-@1");
            let mode = if lives { CreateMode::Ephemeral } else { CreateMode::Persistent };
            nodes.create(format!("{job}{path}"), data, mode);
        }
    }
    nodes.create("/at-call", "", CreateMode::Persistent);
    nodes.create("/at-call/config", "shardingTotalCount: 1\n", CreateMode::Persistent);
    // Without an instance it does not fire, whatever its schedule says.
    nodes.create("/gone", "", CreateMode::Persistent);
    let gone = "shardingTotalCount: 1\ntimeZone: GMT\ncron: 0 0 0 1 1 ?\n";
    nodes.create("/gone/config", gone, CreateMode::Persistent);
    nodes.create("/gone/servers", "", CreateMode::Persistent);
    nodes.create("/gone/servers/192.0.2.1", "ENABLED", CreateMode::Persistent);
    let instance = memory.connect();
    instance.commit(nodes).await.expect("they are written");
    let console = console_of(&memory);
    let cookie = cookie_of(&console, "viewer").await;
    let get = async |path: &str| call(&console, request("GET", path, Some(&cookie))).await.body;
    let overview = get("/r/default").await;
    assert!(overview.contains(r#"<a href="/r/default/jobs?sort=next-fire">2 more</a>"#), "{overview}");
    let told = |text: String| serde_json::from_str::<serde_json::Value>(&text).expect("it is JSON");
    let overview = told(get("/api/v1/registries/default/overview").await);
    assert_eq!((overview["next"].as_array().map(Vec::len), &overview["moreNext"]), (Some(10), &2.into()), "{overview}");
    let (mut names, mut cursor) = (Vec::new(), String::new());
    for _ in 0..3 {
        let list = told(get(&format!("/api/v1/registries/default/jobs?sort=next-fire&limit=5&cursor={cursor}")).await);
        names.extend(list["jobs"].as_array().into_iter().flatten().map(|job| job["job"].to_string()));
        cursor = list["next"].as_str().unwrap_or_default().to_owned();
    }
    let expected = (0..12)
        .rev()
        .map(|number| format!("\"tick-{number:02}\""))
        .chain(["\"at-call\"", "\"gone\""].map(str::to_owned));
    assert_eq!((names, cursor), (expected.collect::<Vec<_>>(), String::new()));
    let page = get("/r/default/jobs?sort=next-fire&limit=5").await;
    assert!(
        page.contains(r#"<option value="next-fire" selected>"#) && page.contains("sort=next-fire&#38;cursor="),
        "{page}"
    );
}

#[tokio::test]
async fn since_when_no_instance_is_online_is_told_by_a_console_that_saw_the_last_one_go() {
    let memory = MemoryRegistry::new();
    let mut job = start_job(&memory, "gone", &JobSettings::default()).await;
    let early = console_of(&memory);
    let told = async |console: &Console| {
        let cookie = cookie_of(console, "viewer").await;
        let alarms = call(console, request("GET", "/api/v1/registries/default/alarms", Some(&cookie))).await.body;
        let alarms: serde_json::Value = serde_json::from_str(&alarms).expect("it is JSON");
        let pages = ["/r/default", "/r/default/jobs/gone", "/r/default/jobs/gone/why"];
        let mut says_unknown = Vec::new();
        for path in pages {
            let page = call(console, request("GET", path, Some(&cookie))).await.body;
            says_unknown.push(page.contains("Since when is not known"));
        }
        (alarms[0]["kind"].clone(), alarms[0]["since"].is_string(), says_unknown)
    };
    assert_eq!(told(&early).await.0, serde_json::Value::Null, "nothing is wrong");
    job.shutdown(ShutdownMode::Graceful).await;
    assert_eq!(told(&early).await, ("crashed".into(), true, vec![false; 3]));
    assert_eq!(told(&console_of(&memory)).await, ("crashed".into(), false, vec![true; 3]));
}
