//! No page in Chinese has an English sentence.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::http::header::ACCEPT_LANGUAGE;
use elasticjob::config::JobSettings;
use elasticjob::ident::JobName;
use elasticjob::operations::{Operations, Target};
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::registry::{CreateMode, RegistryCenter, Transaction};
use elasticjob::trace::{
    AnyTraceReader, DecisionFilter, DecisionRecord, ExecutionFilter, ExecutionRecord, Page, PageRequest, ReadError,
    StateFilter, StateRecord, TraceReader,
};
use tokio::sync::watch;

use crate::router::declared;
use crate::testing::{call, cookie_of, request, start_job, with_users};
use crate::{Console, Registry};

/// What is not in the language of the reader: code, names, and what programs wrote.
const FOREIGN: [&str; 5] = ["code", "pre", "script", "style", "textarea"];

/// Attributes with a text for readers.
const TEXTS: [&str; 3] = ["title=\"", "aria-label=\"", "placeholder=\""];

/// So many English words after each other are a sentence.
const SENTENCE: usize = 3;

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

/// A text without what it quotes: names, values, and what other programs said.
fn without_quotes(text: &str) -> String {
    let mut rest = text;
    let mut left = String::new();
    while let Some((before, after)) = rest.split_once('“')
        && let Some((_, after)) = after.split_once('”')
    {
        left.push_str(before);
        left.push('“');
        rest = after;
    }
    left + rest
}

/// The first English sentence of a text.
fn english(text: &str) -> Option<String> {
    let text = &without_quotes(text);
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
    assert_eq!(found("<p>无法读取：“the table is missing”</p>"), 0);
    assert_eq!(found("<p>“a” 无法读取：the table is never “found”</p>"), 1);
    assert_eq!(found("<pre>the job was not found</pre><p>由 REST API 写入</p>"), 0);
}

/// A database of traces that is away.
struct Away;

fn away<T>() -> Result<Page<T>, ReadError> {
    Err(ReadError::Unavailable { at: "postgres://db/traces".to_owned(), why: "ECONNREFUSED".to_owned() })
}

impl TraceReader for Away {
    async fn executions(&self, _: &ExecutionFilter, _: &PageRequest) -> Result<Page<ExecutionRecord>, ReadError> {
        away()
    }

    async fn states(&self, _: &StateFilter, _: &PageRequest) -> Result<Page<StateRecord>, ReadError> {
        away()
    }

    async fn decisions(&self, _: &DecisionFilter, _: &PageRequest) -> Result<Page<DecisionRecord>, ReadError> {
        away()
    }
}

/// The pages of a console, by their patterns.
fn pages(console: &Console) -> Vec<&'static str> {
    let is_page = |path: &&str| {
        let begins = ["/api/", "/assets/", "/healthz", "/readyz", "/metrics", "/login/oidc"];
        !begins.iter().any(|begin| path.starts_with(begin)) && !path.ends_with("/events")
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
    for traces in [None, Some(AnyTraceReader::new(Away))] {
        let registry = Registry::new("default", Arc::new(memory.connect()));
        let registry = match traces {
            Some(traces) => registry.traces(traces),
            None => registry,
        };
        // One that was not reached so far.
        let why = "127.0.0.1:1 was not reached: the connection was refused by the host".to_owned();
        let away = Registry::new("away", Arc::new(memory.connect())).away(watch::Sender::new(Some(why)).subscribe());
        let console = Console::new(with_users(), [registry, away]).expect("the options are right");
        let admin = cookie_of(&console, "admin").await;
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
