use axum::http::StatusCode;
use axum::http::header::ACCEPT_LANGUAGE;
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::registry::{CreateMode, RegistryCenter, Transaction};
use elasticjob::trace::JobEvent;
use serde_json::{Value, json};

use super::*;
use crate::Console;
use crate::access::{Grant, Role};
use crate::testing::traced::{Folder, failed, run};
use crate::testing::{Answer, call, console_of, cookie_of, request};

const AT: i64 = 1_700_000_005_000;
const NEXT: i64 = AT + 5_000;

/// Writes nodes, each with its parents.
async fn write(memory: &MemoryRegistry, nodes: &[(String, String)]) {
    let registry = memory.connect();
    for (path, data) in nodes {
        let mut transaction = Transaction::new();
        for (end, _) in path.match_indices('/').skip(1) {
            if registry.get(&path[..end]).await.expect("it answers").is_none() {
                transaction.create(&path[..end], "", CreateMode::Persistent);
            }
        }
        transaction.create(path.as_str(), data.as_str(), CreateMode::Persistent);
        registry.commit(transaction).await.expect("it is written");
    }
}

fn job(name: &str, settings: &str) -> (String, String) {
    (format!("/{name}/config"), format!("shardingTotalCount: 2\nmonitorExecution: true\n{settings}"))
}

fn after(name: &str, jobs: &str) -> (String, String) {
    job(name, &format!("props:\n  elasticjob.depends-on: {jobs}\n"))
}

fn record(job: &str, item: u32, at: i64, state: &str) -> (String, String) {
    let ended = if state == "RUNNING" { String::new() } else { format!(r#","ended":{}"#, at + 2_500) };
    let last = format!(r#"{{"at":{at},"instance":"a@-@1","attempt":"1-1","began":{at}{ended},"state":"{state}"}}"#);
    (format!("/{job}/sharding/{item}/fire"), format!(r#"{{"through":{at},"last":{last}}}"#))
}

/// A chain whose first job failed, with a job that runs then, and another chain that has not run.
async fn chain(memory: &MemoryRegistry) {
    let decided = |skipped: &str| format!(r#"{{"through":{NEXT},"decided":[{{"at":{AT}}},{{"at":{NEXT}{skipped}}}]}}"#);
    let skipped = r#","skipped":{"job":"extract","when":"succeeded","end":"failed"}"#;
    let nodes = [
        job("extract", "cron: 0/5 * * * * ?\n"),
        record("extract", 0, NEXT, "SUCCEEDED"),
        record("extract", 1, NEXT, "FAILED"),
        after("load<b>", "extract"),
        ("/load<b>/dependencies".to_owned(), decided(skipped)),
        after("tell", "extract when failed"),
        ("/tell/dependencies".to_owned(), decided("")),
        record("tell", 0, NEXT, "RUNNING"),
        record("tell", 1, NEXT, "RUNNING"),
        after("other", "gone"),
    ];
    write(memory, &nodes).await;
}

async fn get(console: &Console, path: &str, language: &str) -> Answer {
    let cookie = cookie_of(console, "viewer").await;
    let mut request = request("GET", path, Some(&cookie));
    request.headers_mut().insert(ACCEPT_LANGUAGE, language.parse().expect("a value"));
    call(console, request).await
}

async fn api(console: &Console, path: &str) -> Value {
    let answer = get(console, &format!("/api/v1/registries/default{path}"), "en").await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    serde_json::from_str(&answer.body).expect("JSON")
}

/// The state of each job of a group.
fn states(group: &Value) -> Vec<(&str, &Value)> {
    let jobs = group["jobs"].as_array().expect("jobs");
    jobs.iter().map(|one| (one["job"].as_str().expect("a name"), &one["fire"]["state"])).collect()
}

#[tokio::test]
async fn the_page_draws_each_group_and_says_how_its_jobs_stand_in_both_languages() {
    let memory = MemoryRegistry::new();
    chain(&memory).await;
    let console = console_of(&memory);
    for (language, words) in [
        (
            "en",
            ["▶ Running 0/2", "✖ Failed 2/2", "■ Skipped", "does not exist yet", "Job extract failed, and this job"],
        ),
        ("zh", ["▶ 运行中 0/2", "✖ 失败 2/2", "■ 跳过", "尚不存在", "作业 extract 已失败，而本作业只在其成功后运行。"]),
    ] {
        let page = get(&console, "/r/default/graph", language).await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.body);
        // Fluent puts signs for the direction of writing around what it fills in.
        let text = page.body.replace(['\u{2068}', '\u{2069}'], "");
        for word in words {
            assert!(text.contains(word), "{word} is missing: {text}");
        }
        assert_eq!(text.matches("<svg class=\"picture own\"").count(), 2);
        assert!(text.contains("load&#60;b&#62;") && !text.contains("load<b>"), "{text}");
        assert!(text.contains("data-hx-sse:connect"), "it is kept up to date");
    }
}

#[tokio::test]
async fn items_that_follow_items_and_those_that_are_skipped_are_told_in_both_languages() {
    let memory = MemoryRegistry::new();
    let skipped = r#"[{"items":"1","job":"extract","when":"ended","end":"skipped"}]"#;
    let decided = format!(r#"{{"through":{AT},"decided":[{{"at":{AT},"skippedItems":{skipped}}}]}}"#);
    let nodes = [
        job("extract", "cron: 0/5 * * * * ?\n"),
        record("extract", 0, AT, "SUCCEEDED"),
        after("load", "extract when ended items same"),
        after("tidy", "extract items same"),
        ("/load/dependencies".to_owned(), decided),
        record("load", 0, AT, "SUCCEEDED"),
    ];
    write(&memory, &nodes).await;
    let console = console_of(&memory);
    for (language, words) in [
        (
            "en",
            [
                ">ended, item by item<",
                "extract, item by item",
                "Items 1 are not run: the item of extract with the same number was skipped, and this one runs when that one ended.",
            ],
        ),
        (
            "zh",
            [
                ">结束后，逐个分片项<",
                "extract（逐个分片项）",
                "分片项 1 不运行：作业 extract 的同号分片项已跳过，而本分片项只在其结束后运行。",
            ],
        ),
    ] {
        let page = get(&console, "/r/default/graph", language).await.body.replace(['\u{2068}', '\u{2069}'], "");
        for word in words {
            assert!(page.contains(word), "{word} is missing: {page}");
        }
    }
    let view = api(&console, "/graph").await;
    let edge = &view["groups"][0]["jobs"][1]["dependsOn"][0];
    assert_eq!((&edge["when"], &edge["items"]), (&json!("ended"), &json!("same")));
}

#[tokio::test]
async fn the_page_of_a_job_has_its_group_alone_and_any_fire_that_is_named() {
    let memory = MemoryRegistry::new();
    chain(&memory).await;
    let console = console_of(&memory);
    let page = get(&console, "/r/default/jobs/tell/graph", "en").await.body;
    assert!(
        page.contains("aria-current=\"page\">Graph</a>") && page.contains("extract") && !page.contains("gone"),
        "{page}"
    );
    let earlier = "/r/default/jobs/extract/graph?at=2023-11-14T22%3A13%3A25Z";
    assert!(page.contains(earlier), "{page}");
    let view = api(&console, "/jobs/tell/graph?at=2023-11-14T22:13:25Z").await;
    assert_eq!(view["groups"][0]["at"], "2023-11-14T22:13:25.000Z");
    // Items of `load` have not begun it, and those of `tell` ran for the next one since.
    let (past, due) = (json!("PAST"), json!("DUE"));
    assert_eq!(states(&view["groups"][0]), [("extract", &past), ("load<b>", &due), ("tell", &past)]);
    for (path, why) in [
        ("/r/default/graph?at=yesterday", "<code>at</code> is no time"),
        ("/api/v1/registries/default/graph?at=yesterday", "`at` is no time"),
    ] {
        let answer = get(&console, path, "en").await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{}", answer.body);
        assert!(answer.body.contains(why), "{}", answer.body);
    }
    assert_eq!(get(&console, "/r/default/jobs/none/graph", "en").await.status, StatusCode::NOT_FOUND);
    write(&memory, &[job("single", "cron: 0 0 3 * * ?\n")]).await;
    let single = get(&console, "/r/default/jobs/single/graph", "en").await.body;
    assert!(single.contains("The job runs after no other job") && single.contains("No fire yet"), "{single}");
    let none = console_of(&MemoryRegistry::new());
    assert!(get(&none, "/r/default/graph", "en").await.body.contains("No job runs after another one."));
}

#[tokio::test]
async fn an_operator_runs_a_fire_again_from_the_graph_and_the_page_says_so() {
    let memory = MemoryRegistry::new();
    chain(&memory).await;
    let again = r#"{"through":1700000010000,"triggered":7,"last":{"at":1700000020000,"manual":true,"rerun":{"of":1700000010000,"asked":1700000019000},"instance":"a@-@1","attempt":"1-1","began":1700000020001,"state":"RUNNING"}}"#;
    let registry = memory.connect();
    let mut begin = Transaction::new();
    begin.set("/extract/sharding/1/fire", again, None);
    registry.commit(begin).await.expect("it is written");
    let console = console_of(&memory);
    let page = get(&console, "/r/default/graph", "en").await.body;
    assert!(page.contains("run again") && !page.contains("value=\"rerun\""), "a viewer has no button: {page}");
    let view = api(&console, "/graph").await;
    let fire = &view["groups"][0]["jobs"][0]["fire"];
    assert_eq!((&fire["state"], &fire["rerunAt"]), (&json!("RUNNING"), &json!("2023-11-14T22:13:39.000Z")), "{fire}");
    let operator = cookie_of(&console, "operator").await;
    let page = call(&console, request("GET", "/r/default/graph", Some(&operator))).await.body;
    let form = "action=\"/r/default/jobs/extract/runs/2023%2D11%2D14T22%3A13%3A30Z\"";
    assert!(page.contains(form) && page.contains("value=\"rerun\""), "{page}");
    let of = |body: &str| {
        let mut request = request("POST", "/r/default/jobs/extract/runs/2023%2D11%2D14T22%3A13%3A30Z", Some(&operator));
        request.headers_mut().insert("content-type", "application/x-www-form-urlencoded".parse().expect("a value"));
        *request.body_mut() = body.to_owned().into();
        call(&console, request)
    };
    let refused = of("action=rerun&reason=late").await;
    assert_eq!(refused.status, StatusCode::SEE_OTHER, "{}", refused.body);
    assert_eq!(refused.headers["location"], "/r/default/jobs/extract");
}

#[tokio::test]
async fn what_the_registry_center_has_forgotten_comes_from_the_traces() {
    let (folder, memory) = (Folder::new("graph"), MemoryRegistry::new());
    chain(&memory).await;
    let runs = [
        run("extract", 0, Some(AT), AT + 10, Some(AT + 1_000)),
        run("extract", 1, Some(AT), AT + 12, Some(AT + 1_500)),
        failed(run("tell", 0, Some(AT), AT + 20, Some(AT + 900)), "the disk is full"),
    ];
    folder.write(runs.map(JobEvent::Execution)).await;
    let console = folder.console(&memory).await;
    let view = api(&console, "/jobs/extract/graph?at=2023-11-14T22:13:25Z").await;
    let group = &view["groups"][0];
    assert_eq!(states(group)[0], ("extract", &json!("SUCCEEDED")));
    assert_eq!(group["jobs"][0]["fire"]["endedAt"], "2023-11-14T22:13:26.500Z");
    let page = get(&console, "/r/default/jobs/extract/graph?at=2023-11-14T22:13:25Z", "en").await.body;
    assert!(page.contains("/r/default/jobs/extract/runs/2023-11-14T22:13:25Z"), "{page}");
}

#[tokio::test]
async fn a_job_that_the_reader_may_not_see_is_a_name_without_a_state() {
    let memory = MemoryRegistry::new();
    chain(&memory).await;
    let folder = Folder::new("graph-hidden");
    let grant = Grant::everywhere(Role::Viewer).jobs("tell");
    folder.write([]).await;
    let console = folder.console_with(&memory, grant).await;
    let view = api(&console, "/graph").await;
    assert_eq!(view["groups"].as_array().map(Vec::len), Some(1), "{view}");
    assert_eq!(states(&view["groups"][0]), [("extract", &Value::Null), ("tell", &json!("RUNNING"))]);
    assert_eq!(view["groups"][0]["jobs"][0]["visible"], false);
    let page = get(&console, "/r/default/graph", "en").await.body;
    // What follows the content loads the scripts.
    let content = page.split_once("</main>").expect("a page has content").0;
    assert!(
        content.contains("you may not see it") && !content.contains("load") && !page.contains("0/5 * * * * ?"),
        "{page}"
    );
    assert!(!page.contains("/jobs/extract"), "no link leads there: {page}");
    let forbidden = get(&console, "/r/default/jobs/extract/graph", "en").await;
    assert_eq!(forbidden.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn sixty_jobs_are_one_picture_and_jobs_in_a_cycle_are_named() {
    let memory = MemoryRegistry::new();
    let mut nodes = vec![job("job-00", "cron: 0 0 3 * * ?\n")];
    nodes.extend((1..60).map(|one| after(&format!("job-{one:02}"), &format!("job-{:02}", (one - 1) / 2))));
    nodes.extend([after("one", "other"), after("other", "one when ended")]);
    write(&memory, &nodes).await;
    let console = console_of(&memory);
    let page = get(&console, "/r/default/graph", "en").await;
    assert_eq!(page.status, StatusCode::OK);
    assert_eq!(page.body.matches("<rect class=\"node").count(), 62);
    assert!(page.body.contains("one → other → one") && page.body.contains("class=\"edge back\""), "{}", page.body);
    let view = api(&console, "/graph").await;
    assert_eq!(view["groups"][1]["cycles"], json!([["one", "other", "one"]]));
}

#[tokio::test]
async fn a_page_has_fifty_groups_and_says_so() {
    let memory = MemoryRegistry::new();
    let nodes: Vec<_> = (0..51).map(|one| after(&format!("b-{one}"), &format!("a-{one}"))).collect();
    write(&memory, &nodes).await;
    let page = get(&console_of(&memory), "/r/default/graph", "en").await.body;
    assert_eq!(page.matches("<svg class=\"picture own\"").count(), 50);
    assert!(page.replace(['\u{2068}', '\u{2069}'], "").contains("50 of 51 groups of jobs are shown."), "{page}");
}

#[test]
fn a_name_is_shortened_to_its_box() {
    assert_eq!(shortened("extract"), "extract");
    assert_eq!(shortened(&"x".repeat(25)), "x".repeat(25));
    assert_eq!(shortened(&"x".repeat(26)), format!("{}…", "x".repeat(24)));
    assert_eq!(shortened("每日对账汇总报表生成与归档作业"), "每日对账汇总报表生成与归…");
}
