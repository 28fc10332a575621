//! No page in Chinese has an English sentence, but for what others said: that stands in quotes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use axum::http::header::{ACCEPT_LANGUAGE, ETAG, HeaderValue, IF_MATCH};
use elasticjob::config::JobSettings;
use elasticjob::ident::JobName;
use elasticjob::operations::{Operations, Target};
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::registry::zookeeper::ConnectError;
use elasticjob::registry::{CreateMode, RegistryCenter, Transaction};
use elasticjob::trace::rdb::RdbTraceReader;
use elasticjob::trace::{AnyTraceReader, DecisionKind, JobDecisionEvent, JobEvent, ReadError};
use tokio::sync::watch;

use crate::router::declared;
use crate::testing::traced::{Folder, decision, failed, run};
use crate::testing::unread::Unread;
use crate::testing::{call, cookie_of, form, json, request, start_job, with_users};
use crate::{Console, Registry};

/// What is not in the language of the reader: code, names, and what programs wrote.
const FOREIGN: [&str; 5] = ["code", "pre", "script", "style", "textarea"];

/// Attributes with a text for readers.
const TEXTS: [&str; 3] = ["title=\"", "aria-label=\"", "placeholder=\""];

/// So many English words after each other are a sentence.
const SENTENCE: usize = 3;

/// What others said in this test: users, databases, and programs whose text is stored.
const SAID: [&str; 7] = [
    "ECONNREFUSED",
    "the reason of another program",
    "the disk was full at night",
    "the code said that it is wrong",
    "invalid type: string &#34;many&#34;, expected u32",
    "line 2, column 1: while parsing a node, did not find expected node content",
    // The program of an instance notes this in the registry center as it is.
    "job-sharding-strategy-type: there is no sharding strategy &#39;OF_ANOTHER_PROGRAM&#39; in this program; there are \
     AVG_ALLOCATION (built in), ODEVITY (built in), ROUND_ROBIN (built in), SINGLE_SHARDING_BALANCE (built in), WHOLE (built in)",
];

/// The texts of a page that a reader sees or hears.
fn texts(page: &str) -> Vec<String> {
    let (mut texts, mut rest) = (Vec::new(), page);
    while let Some((text, after)) = rest.split_once('<') {
        texts.push(text.to_owned());
        let (tag, after) = after.split_once('>').unwrap_or((after, ""));
        texts.extend(TEXTS.iter().filter_map(|name| tag.split(name).nth(1)?.split('"').next()).map(str::to_owned));
        let name = tag.split_whitespace().next().unwrap_or_default();
        // What is marked as English is read as such: the document of the API has no other texts.
        rest = match FOREIGN.contains(&name) || tag.ends_with(" lang=\"en\"") {
            true => after.split_once(&format!("</{name}>")).map_or("", |(_, after)| after),
            false => after,
        };
    }
    texts
}

/// A text without what others said, as far as that stands in quotes or by itself.
fn without_said(text: &str) -> String {
    if SAID.contains(&text.trim()) {
        return String::new();
    }
    SAID.iter().fold(text.to_owned(), |text, said| text.replace(&format!("“{said}”"), "“”"))
}

/// The first English sentence of a text.
fn english(text: &str) -> Option<String> {
    let text = &without_said(text).replace(['“', '”'], " ");
    let is_word = |word: &&str| word.len() > 1 && word.chars().all(|c| c.is_ascii_lowercase());
    let words: Vec<&str> = text.split_whitespace().map(|word| word.trim_matches([',', '.', ':', ';'])).collect();
    let found = words.windows(SENTENCE).find(|words| words.iter().all(is_word))?;
    Some(format!("{} in: {}", found.join(" "), text.trim()))
}

#[test]
fn a_sentence_in_english_is_found_and_a_name_or_code_is_not() {
    let found = |page: &str| texts(page).iter().filter_map(|text| english(text)).count();
    assert_eq!(found("<p>无法读取：the table is missing</p>"), 1);
    assert_eq!(found("<p>traces.db cannot be read: ECONNREFUSED</p>"), 1);
    assert_eq!(found("<a title=\"what is shown here\">作业</a>"), 1);
    assert_eq!(found("<p>作业 <span lang=\"en\">what is shown here</span> settle billing</p>"), 0);
    assert_eq!(found("<p>作业 <code>cannot be read at all</code> settle billing</p>"), 0);
    assert_eq!(found("<p>无法读取：“the table is missing”</p>"), 1, "it is ours, in quotes or not");
    assert_eq!(found("<p>无法读取：“the reason of another program”</p>"), 0);
    assert_eq!(found("<p>无法读取：the reason of another program</p>"), 1, "it is not in quotes");
    assert_eq!(found("<td>the reason of another program</td>"), 0);
    assert_eq!(found("<p>“a” 无法读取：the table is never “found”</p>"), 1);
    assert_eq!(found("<pre>the job was not found</pre><p>由 REST API 写入</p>"), 0);
}

/// The databases of traces: none, which keeps actions in memory; those that cannot be read; and one with records of all kinds.
async fn databases(empty: &Folder, full: &Folder) -> Vec<Option<AnyTraceReader>> {
    let away = ReadError::Unavailable { at: "postgres://db/traces".into(), why: "ECONNREFUSED".into() };
    let since = chrono::Utc::now();
    let not_yet = ReadError::NotReached { at: "postgres://db/traces".into(), since, why: "ECONNREFUSED".into() };
    let busy = ReadError::TooManyReaders { at: "“”".into(), connections: 4, waited: Duration::from_secs(10) };
    std::fs::write(empty.0.join("traces.db"), "").expect("it is written");
    let now = chrono::Utc::now().timestamp_millis();
    let failed = failed(run("well", 0, Some(now - 60_000), now - 60_000, Some(now - 59_000)), SAID[3]);
    let decisions = DecisionKind::ALL.iter().filter(|kind| **kind != DecisionKind::Operator).map(|kind| {
        let JobEvent::Decision(event) = decision("well", *kind, now - 60_000, Some(now - 60_000), Some(now)) else {
            unreachable!("it is a decision")
        };
        let detail = serde_json::json!({ "why": SAID[1], "process": "1", "ends": 3, "attempt": 1, "place": "node-1" });
        let detail = detail.as_object().expect("an object").clone();
        JobEvent::Decision(JobDecisionEvent { reason: SAID[1].to_owned(), detail, ..event })
    });
    full.write(decisions.chain([JobEvent::Execution(failed)])).await;
    let mut databases = vec![None];
    for unread in [away, not_yet, busy] {
        databases.push(Some(AnyTraceReader::new(Unread(unread))));
    }
    for folder in [empty, full] {
        let reader = RdbTraceReader::connect(&folder.source(), None).await.expect("it is there");
        databases.push(Some(AnyTraceReader::new(reader)));
    }
    databases
}

/// Does what the audit records: some of it is refused, some changes nothing.
async fn operate(console: &Console, admin: &str, server: &str) {
    let reason = |body: serde_json::Value| {
        let mut body = body;
        body["reason"] = SAID[2].into();
        body
    };
    let enabled = |enabled: bool| reason(serde_json::json!({ "enabled": enabled }));
    let of = "/api/v1/registries/default";
    for (method, path, body) in [
        ("PUT", format!("{of}/servers/10.9.9.9/state"), enabled(false)),
        ("PUT", format!("{of}/servers/{server}/state"), enabled(true)),
        ("PUT", format!("{of}/jobs/part/items/1/state"), enabled(false)),
        ("PUT", format!("{of}/jobs/part/items/1/state"), enabled(true)),
        ("POST", format!("{of}/jobs/gone/triggers"), reason(serde_json::json!({}))),
        ("POST", format!("{of}/jobs/missing/triggers"), reason(serde_json::json!({}))),
        ("POST", format!("{of}/jobs/well/items/0/cancellations"), reason(serde_json::json!({}))),
    ] {
        let answer = call(console, json(method, &path, admin, &body)).await;
        assert_ne!(answer.status, StatusCode::BAD_REQUEST, "{path}: {}", answer.body);
    }
    // Two jobs at once, each of which is refused for another cause.
    let many = reason(serde_json::json!({ "action": "trigger", "jobs": ["gone", "missing"] }));
    let answer = call(console, json("POST", &format!("{of}/operations"), admin, &many)).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    let refused = change_in_vain(console, admin, &format!("{of}/jobs/well/configuration")).await;
    let is_recorded = async {
        loop {
            let audit = call(console, request("GET", &format!("{of}/audit?limit=100"), Some(admin))).await.body;
            let updates = audit.matches("\"update-configuration\"").count();
            if updates == refused && audit.contains("job gone: ") {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), is_recorded).await.expect("all of it is recorded");
}

/// Changes of a configuration that the console refuses before they come to the operations. Returns how many there are.
async fn change_in_vain(console: &Console, admin: &str, path: &str) -> usize {
    let stored = call(console, request("GET", path, Some(admin))).await.headers[ETAG].clone();
    let patch = |version: HeaderValue, change: serde_json::Value| {
        let mut patch = json("PATCH", path, admin, &change);
        patch.headers_mut().insert(IF_MATCH, version);
        patch
    };
    let version = stored.to_str().expect("a text").trim_matches('"').to_owned();
    let save = |fields: &[(&str, &str)]| {
        let fields = [("version", version.as_str()), ("action", "save")].into_iter().chain(fields.iter().copied());
        form("/r/default/jobs/well/configuration/edit", admin, &fields.collect::<Vec<_>>())
    };
    let requests = [
        patch(HeaderValue::from_static("\"99\""), serde_json::json!({ "cron": "0 0 0 2 1 ?" })),
        patch(stored.clone(), serde_json::json!({ "sharding-total-count": "many" })),
        patch(stored.clone(), serde_json::json!({ "props": { "password": "x******" } })),
        save(&[("sharding-total-count", "many"), ("failover", "perhaps"), ("props", "nothing")]),
        save(&[("sharding-total-count", "2"), ("cron", "0 0 24 * * ?")]),
        save(&[("sharding-total-count", "2"), ("cron", "0 0 0 1 1 ?")]),
        form("/r/default/jobs/well/configuration/edit", admin, &[("version", "99"), ("action", "save")]),
    ];
    let count = requests.len();
    for request in requests {
        let answer = call(console, request).await;
        assert!(answer.status.is_client_error(), "{}: {}", answer.status, answer.body);
    }
    count
}

/// The pages of a console, by their patterns.
fn pages(console: &Console) -> Vec<&'static str> {
    let is_page = |path: &&str| {
        let begins = ["/api/", "/assets/", "/healthz", "/readyz", "/metrics", "/login/oidc"];
        // Files are English.
        let is_file = path.ends_with("/configurations");
        !begins.iter().any(|begin| path.starts_with(begin)) && !path.ends_with("/events") && !is_file
    };
    let routes = declared(console.app().clone()).into_iter().filter(|route| route.method == "GET");
    routes.map(|route| route.path).filter(is_page).collect()
}

/// The jobs whose pages are read.
const JOBS: [&str; 11] =
    ["well", "off", "part", "gone", "own", "no-yaml", "no-items", "no-script", "no-flag", "no-list", "missing"];

/// Gives a job a strategy that its program does not have, and waits until its instance has noted that.
async fn refuse(memory: &MemoryRegistry, operations: &Operations, job: &JobName) {
    let (registry, path) = (memory.connect(), format!("/{job}/config"));
    let config = registry.get(&path).await.expect("it is read").expect("it is there");
    let config = format!("{}jobShardingStrategyType: OF_ANOTHER_PROGRAM\n", config.data.text().expect("it is text"));
    let mut change = Transaction::new();
    change.set(path, config, None);
    registry.commit(change).await.expect("it is written");
    let noted = async {
        while operations.snapshot(job).await.expect("it is read").refusals.is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), noted).await.expect("it is noted");
}

/// A registry center that was not reached so far, as its namespace is not there.
fn not_reached(name: &str, center: Arc<dyn RegistryCenter>) -> Registry {
    let why = ConnectError::NoNamespace { servers: "10.0.0.9:2181".to_owned(), namespace: "shop".to_owned() };
    Registry::new(name, center).away(watch::Sender::new(Some(why.message())).subscribe())
}

#[tokio::test]
async fn a_registry_center_that_is_away_says_why_in_chinese() {
    let (open, closed) = (Arc::new(MemoryRegistry::new().connect()), Arc::new(MemoryRegistry::new().connect()));
    closed.close().await;
    let registries =
        [Registry::new("open", open), Registry::new("closed", closed.clone()), not_reached("away", closed)];
    let console = Console::new(with_users(), registries).expect("the options are right");
    let admin = cookie_of(&console, "admin").await;
    let of_namespace = "10.0.0.9:2181 上的 ZooKeeper 没有命名空间 shop";
    for (path, told) in [
        ("/r/closed/jobs", "注册中心没有答复：注册中心的连接已关闭".to_owned()),
        ("/r/away/jobs", format!("注册中心至今未能连接，正在反复重新连接：{of_namespace}")),
        ("/r/open/comparison?with=away", format!("注册中心至今未能连接，正在反复重新连接：{of_namespace}")),
        ("/settings", format!("正在反复重新连接： {of_namespace}")),
    ] {
        let mut asked = request("GET", path, Some(&admin));
        asked.headers_mut().insert(ACCEPT_LANGUAGE, "zh-CN".parse().expect("a value"));
        let page = call(&console, asked).await.body;
        assert!(page.contains(&told), "{path}: {page}");
    }
    let problem = call(&console, request("GET", "/api/v1/registries/away/jobs", Some(&admin))).await.body;
    assert!(problem.contains("the registry center gave no answer: the registry center is closed"), "{problem}");
}

#[tokio::test]
async fn no_page_in_chinese_has_an_english_sentence() {
    let memory = MemoryRegistry::new();
    let settings = JobSettings::default();
    let mut jobs = vec![start_job(&memory, "well", &settings).await];
    jobs.push(start_job(&memory, "off", &settings).await);
    jobs.push(start_job(&memory, "own", &settings).await);
    let operations = Operations::new(Arc::new(memory.connect()));
    let name = |name: &str| JobName::new(name).expect("a name");
    operations.disable_servers(&Target::Job(name("off"))).await.expect("it is disabled");
    let mut nodes = Transaction::new();
    for (path, data) in [
        ("/part", ""),
        ("/part/config", "cron: 0 0 0 1 1 ?\nshardingTotalCount: 2\n"),
        ("/part/sharding", ""),
        ("/part/sharding/0", ""),
        ("/part/sharding/0/disabled", ""),
        ("/gone", ""),
        ("/gone/config", "cron: 0 0 0 1 1 ?\nshardingTotalCount: 1\n"),
        ("/gone/sharding", ""),
        ("/gone/sharding/0", ""),
        ("/gone/sharding/0/instance", "10.0.0.9@-@9"),
        ("/no-yaml", ""),
        ("/no-yaml/config", "cron: ["),
        ("/no-items", ""),
        ("/no-items/config", "shardingTotalCount: 0\ncron: 0 0 25 * * ?\njobErrorHandlerType: EMAIL\n"),
        ("/no-script", "SCRIPT"),
        ("/no-script/config", "shardingTotalCount: 1\nprops:\n  script.timeout.milliseconds: 10s\n"),
        ("/no-flag", ""),
        ("/no-flag/config", "shardingTotalCount: 1\nfailover: perhaps\n"),
        ("/no-list", ""),
        ("/no-list/config", "shardingTotalCount: 1\njobListenerTypes: one\n"),
    ] {
        nodes.create(path, data, CreateMode::Persistent);
    }
    memory.connect().commit(nodes).await.expect("they are written");
    refuse(&memory, &operations, &name("own")).await;
    let servers = operations.servers().await.expect("they are read");
    let address = servers.first().expect("the jobs have one").server.clone();
    let mut found = BTreeMap::new();
    let (empty, full) = (Folder::new("chinese-empty"), Folder::new("chinese-full"));
    for traces in databases(&empty, &full).await {
        let is_in_memory = traces.is_none();
        let registry = Registry::new("default", Arc::new(memory.connect()));
        let registry = match traces {
            Some(traces) => registry.traces(traces),
            None => registry,
        };
        // One that was not reached so far.
        let away = not_reached("away", Arc::new(memory.connect()));
        let console = Console::new(with_users(), [registry, away]).expect("the options are right");
        let admin = cookie_of(&console, "admin").await;
        if is_in_memory {
            operate(&console, &admin, &address).await;
        }
        for pattern in pages(&console) {
            for job in JOBS {
                let values = [("{registry}", "default"), ("{job}", job), ("{server}", address.as_str())];
                let path = values.into_iter().fold(pattern.to_owned(), |path, (name, value)| path.replace(name, value));
                let path = path.replace("{fire}", "2026-01-01T00:00:00Z").replace("{run}", "run-1");
                let path = path.replace("{setting}", "cron").replace("{app}", "app");
                if found.contains_key(&path) || path.contains('{') || (job != "well" && !pattern.contains("{job}")) {
                    continue;
                }
                let mut asked = request("GET", &path, Some(&admin));
                asked.headers_mut().insert(ACCEPT_LANGUAGE, "zh-CN".parse().expect("a value"));
                let page = call(&console, asked).await.body;
                let sentences: Vec<String> = texts(&page).iter().filter_map(|text| english(text)).collect();
                if !sentences.is_empty() {
                    found.insert(path, sentences);
                }
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}
