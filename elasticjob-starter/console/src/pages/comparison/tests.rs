use std::sync::Arc;

use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::registry::{CreateMode, RegistryCenter, Transaction};
use serde_json::{Value, json};

use crate::access::{Grant, Role, User};
use crate::testing::{call, cookie_of, hash, request, with_users};
use crate::{Console, Registry};

/// A registry center with the configurations of these jobs.
async fn center(jobs: &[(&str, &str)]) -> MemoryRegistry {
    let memory = MemoryRegistry::new();
    let mut nodes = Transaction::new();
    for (job, configuration) in jobs {
        nodes.create(format!("/{job}"), "", CreateMode::Persistent);
        nodes.create(format!("/{job}/config"), *configuration, CreateMode::Persistent);
    }
    memory.connect().commit(nodes).await.expect("they are written");
    memory
}

const SAME: &str = "cron: 0 0 0 1 1 ?\nshardingTotalCount: 2\n";

/// Two registry centers, and a user who sees a part of the second one.
async fn two() -> Console {
    let here = center(&[
        ("billing", "cron: 0 0 3 * * ?\nshardingTotalCount: 2\nprops:\n  email.password: hunter2\n  page: '1'\n"),
        ("broken", "cron: ["),
        ("gone", SAME),
        ("settle", SAME),
    ])
    .await;
    let there = center(&[
        ("billing", "cron: 0 0 4 * * ?\nshardingTotalCount: 2\nprops:\n  email.password: hunter3\n  size: '9'\n"),
        ("broken", SAME),
        ("new", SAME),
        ("settle", SAME),
    ])
    .await;
    let mut options = with_users();
    let grants = [
        Grant::everywhere(Role::Viewer).registries("default"),
        Grant::everywhere(Role::Viewer).registries("archive").jobs("new"),
    ];
    options.users.push(User::new("li", hash(), grants));
    let registries =
        [Registry::new("default", Arc::new(here.connect())), Registry::new("archive", Arc::new(there.connect()))];
    Console::new(options, registries).expect("the options are right")
}

async fn get(console: &Console, user: &str, path: &str) -> (StatusCode, String) {
    let cookie = cookie_of(console, user).await;
    let answer = call(console, request("GET", path, Some(&cookie))).await;
    (answer.status, answer.body)
}

async fn api(console: &Console, user: &str, query: &str) -> Value {
    let (status, body) = get(console, user, &format!("/api/v1/registries/default/comparison{query}")).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    serde_json::from_str(&body).expect("JSON")
}

#[tokio::test]
async fn jobs_that_differ_are_told_with_their_settings_and_without_secrets() {
    let console = two().await;
    let told = api(&console, "viewer", "?with=archive").await;
    let difference =
        |setting: &str, here: Value, there: Value| json!({ "setting": setting, "here": here, "there": there });
    let only = |job: &str, state: &str| json!({ "job": job, "state": state, "differences": [], "problem": null });
    let differences = [
        difference("cron", json!("0 0 3 * * ?"), json!("0 0 4 * * ?")),
        difference("props.email.password", json!("***"), json!("***")),
        difference("props.page", json!("1"), json!(null)),
        difference("props.size", json!(null), json!("9")),
    ];
    let billing = json!({ "job": "billing", "state": "differs", "differences": differences, "problem": null });
    assert_eq!(told["jobs"][0], billing, "{told}");
    assert_eq!((&told["jobs"][1]["job"], &told["jobs"][1]["state"]), (&json!("broken"), &json!("unusable")), "{told}");
    assert_eq!([&told["jobs"][2], &told["jobs"][3]], [&only("gone", "only-here"), &only("new", "only-there")]);
    assert_eq!((&told["with"], &told["same"], &told["total"]), (&json!("archive"), &json!(1), &json!(5)), "{told}");
    assert_eq!(api(&console, "viewer", "").await, told, "there is one other");
    let found = api(&console, "viewer", "?q=SETT").await;
    assert_eq!((&found["jobs"], &found["same"], &found["total"]), (&json!([]), &json!(1), &json!(1)));
    assert!(!told.to_string().contains("hunter"), "{told}");
    let (status, page) = get(&console, "viewer", "/r/default/comparison?with=archive").await;
    assert_eq!(status, StatusCode::OK);
    for text in [
        "props.page",
        "0 0 4 * * ?",
        "Only in archive",
        "Only in default",
        "The secrets differ",
        "/r/archive/jobs/new/",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(!page.contains("hunter"), "{page}");
}

#[tokio::test]
async fn a_reader_compares_what_the_reader_sees_in_each() {
    let console = two().await;
    let told = api(&console, "li", "?with=archive").await;
    let jobs: Vec<_> =
        told["jobs"].as_array().expect("a list").iter().map(|one| (&one["job"], &one["state"])).collect();
    let (here, there) = (json!("only-here"), json!("only-there"));
    let names = ["billing", "broken", "gone", "new", "settle"].map(|name| json!(name));
    let states = [&here, &here, &here, &there, &here];
    assert_eq!(jobs, names.iter().zip(states).collect::<Vec<_>>(), "{told}");
    for (query, status, code) in [("?with=default", 400, "bad-request"), ("?with=none", 404, "no-such-registry")] {
        let (answered, body) = get(&console, "li", &format!("/api/v1/registries/default/comparison{query}")).await;
        assert!(answered == status && body.contains(code), "{query}: {body}");
    }
    let alone = crate::testing::console(with_users());
    let (status, body) = get(&alone, "viewer", "/api/v1/registries/default/comparison").await;
    assert!(status == 400 && body.contains("no other registry center"), "{body}");
    let (status, page) = get(&alone, "viewer", "/r/default/comparison").await;
    assert!(status == StatusCode::OK && page.contains("no other registry center"), "{page}");
}

#[tokio::test]
async fn a_long_comparison_comes_in_parts() {
    let names: Vec<String> = (0..250).map(|number| format!("job-{number:03}")).collect();
    let jobs: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), SAME)).collect();
    let (here, there) = (center(&jobs).await, center(&jobs[..100]).await);
    let registries =
        [Registry::new("default", Arc::new(here.connect())), Registry::new("archive", Arc::new(there.connect()))];
    let console = Console::new(with_users(), registries).expect("the options are right");
    let first = api(&console, "viewer", "").await;
    let count = |part: &Value| part["jobs"].as_array().map_or(0, Vec::len);
    assert_eq!((count(&first), &first["same"], &first["next"]), (100, &json!(100), &json!("job-199")), "{first}");
    let second = api(&console, "viewer", "?cursor=job-199").await;
    assert_eq!((count(&second), &second["same"], &second["next"]), (50, &json!(0), &json!(null)), "{second}");
    let (_, page) = get(&console, "viewer", "/r/default/comparison").await;
    assert!(page.contains("rel=\"next\" href=\"?with=archive&#38;cursor=job-199\""), "{page}");
}

#[tokio::test]
async fn an_export_has_the_chosen_jobs_or_those_of_the_filter() {
    let console = two().await;
    let cookie = cookie_of(&console, "viewer").await;
    let of = "/api/v1/registries/default/configurations";
    let all = call(&console, request("GET", of, Some(&cookie))).await;
    assert_eq!(all.headers[CONTENT_TYPE], "application/yaml; charset=utf-8");
    assert_eq!(all.headers[CONTENT_DISPOSITION], "attachment; filename=\"default-jobs.yaml\"");
    let page = call(&console, request("GET", "/r/default/configurations", Some(&cookie))).await;
    assert_eq!((page.body, &page.headers[CONTENT_DISPOSITION]), (all.body.clone(), &all.headers[CONTENT_DISPOSITION]));
    for part in
        ["    \"billing\":\n", "    # \"broken\": ", "        # \"email.password\": \"***\"\n", "    \"settle\":\n"]
    {
        assert!(all.body.contains(part), "{part}: {}", all.body);
    }
    assert!(!all.body.contains("hunter"), "{}", all.body);
    let chosen = get(&console, "viewer", &format!("{of}?job=gone&reason=&job=settle")).await.1;
    let found = get(&console, "viewer", &format!("{of}?q=ill")).await.1;
    let names = |text: &str| ["billing", "broken", "gone", "settle"].map(|name| text.contains(&format!("\"{name}\":")));
    assert_eq!((names(&chosen), names(&found)), ([false, false, true, true], [true, false, false, false]));
    let (status, body) = get(&console, "viewer", &format!("{of}?job=settle&job=none")).await;
    assert!(status == StatusCode::NOT_FOUND && body.contains("no-such-job"), "{body}");
    let unseen = get(&console, "li", "/api/v1/registries/archive/configurations?job=settle").await;
    assert_eq!(unseen.0, StatusCode::NOT_FOUND, "a job that the caller may not see is none: {}", unseen.1);
    assert!(get(&console, "li", "/api/v1/registries/archive/configurations").await.1.contains("\"new\":"));
}
