use std::sync::Arc;

use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::registry::{CreateMode, RegistryCenter, SessionState, Transaction};
use serde_json::{Value, json};

use crate::access::{Grant, Role, User};
use crate::testing::{call, cookie_of, hash, request, with_users};
use crate::{Console, Registry};

/// A registry center with the configurations of these jobs.
async fn center(jobs: &[(&str, &str)]) -> MemoryRegistry {
    center_of(&jobs.iter().map(|(job, configuration)| (*job, "", *configuration)).collect::<Vec<_>>()).await
}

/// A registry center with the code of these jobs and their configurations.
async fn center_of(jobs: &[(&str, &str, &str)]) -> MemoryRegistry {
    let memory = MemoryRegistry::new();
    let mut nodes = Transaction::new();
    for (job, code, configuration) in jobs {
        nodes.create(format!("/{job}"), *code, CreateMode::Persistent);
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

fn console_of_two(here: &MemoryRegistry, there: &MemoryRegistry) -> Console {
    let registries =
        [Registry::new("default", Arc::new(here.connect())), Registry::new("archive", Arc::new(there.connect()))];
    Console::new(with_users(), registries).expect("the options are right")
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
    let broken = &told["jobs"][1];
    assert_eq!((&broken["job"], &broken["state"]), (&json!("broken"), &json!("unusable")), "{told}");
    assert!(broken["problem"]["here"].is_string() && broken["problem"]["there"].is_null(), "{told}");
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
        "What is masked differs",
        "/r/archive/jobs/new/",
        "The configuration in default cannot be used",
        "/r/default/jobs/broken/",
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
    let console = console_of_two(&here, &there);
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

#[tokio::test]
async fn a_configuration_that_cannot_be_used_is_told_on_its_side() {
    let console = console_of_two(
        &center(&[("both", "cron: ["), ("settle", SAME)]).await,
        &center(&[("both", "cron: ["), ("settle", "cron: [")]).await,
    );
    let told = api(&console, "viewer", "").await;
    let problem = |number: usize| told["jobs"][number]["problem"].clone();
    assert!(problem(0)["here"].is_string() && problem(0)["there"].is_string(), "{told}");
    assert!(problem(1)["here"].is_null() && problem(1)["there"].is_string(), "{told}");
    let (_, page) = get(&console, "viewer", "/r/default/comparison").await;
    for text in [
        "Neither configuration can be used",
        "/r/default/jobs/both/configuration",
        "/r/archive/jobs/both/configuration",
        "The configuration in archive cannot be used",
        "/r/archive/jobs/settle/configuration",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(!page.contains("/r/default/jobs/settle/configuration"), "{page}");
}

#[tokio::test]
async fn the_code_of_a_job_and_what_java_alone_reads_are_compared_and_exported() {
    let with_extra = |value: &str| format!("{SAME}jobExtraConfigurations:\n- !!a.B\n  password: {value}\n");
    let (one, other) = (with_extra("hunter2"), with_extra("hunter3"));
    let here = [
        ("load", "SCRIPT", one.as_str()),
        ("own", "Pager", SAME),
        ("peer", "com.example.Peer", SAME),
        ("same", "SCRIPT", &one),
        ("x", "", SAME),
    ];
    let there = [
        ("load", "SCRIPT", other.as_str()),
        ("own", "pager", SAME),
        ("peer", "HTTP", SAME),
        ("same", "SCRIPT", &one),
        ("x", "", &one),
    ];
    let console = console_of_two(&center_of(&here).await, &center_of(&there).await);
    let told = api(&console, "viewer", "").await;
    let differences: Vec<_> = told["jobs"].as_array().expect("a list").iter().map(|job| &job["differences"]).collect();
    let difference =
        |setting: &str, here: Value, there: Value| json!({ "setting": setting, "here": here, "there": there });
    let expected = [
        json!([difference("jobExtraConfigurations", json!("***"), json!("***"))]),
        json!([difference("elastic-job-class or elastic-job-type", json!("Pager"), json!("pager"))]),
        json!([
            difference("elastic-job-class", json!("com.example.Peer"), json!(null)),
            difference("elastic-job-type", json!(null), json!("HTTP")),
        ]),
        json!([difference("jobExtraConfigurations", json!(null), json!("***"))]),
    ];
    assert_eq!(differences, expected.iter().collect::<Vec<_>>(), "{told}");
    assert_eq!(told["same"], 1, "{told}");
    let exported = get(&console, "viewer", "/r/default/configurations").await.1;
    for part in [
        "    \"own\":\n      # Or elastic-job-class: the registry center has one name for both. A program takes either for the other.\n      \
         elastic-job-type: \"Pager\"\n",
        "    \"load\":\n      elastic-job-type: \"SCRIPT\"\n      cron: \"0 0 0 1 1 ?\"\n",
        "      sharding-total-count: 2\n      # jobExtraConfigurations is left out: no settings of a program have it.\n    \"own\":\n",
        "    \"peer\":\n      elastic-job-class: \"com.example.Peer\"\n      cron: \"0 0 0 1 1 ?\"\n",
        "    \"x\":\n      cron: \"0 0 0 1 1 ?\"\n",
    ] {
        assert!(exported.contains(part), "{part}: {exported}");
    }
    assert!(!format!("{told}{exported}").contains("hunter"), "{told} {exported}");
}

#[tokio::test]
async fn a_registry_center_that_is_away_is_named_beside_the_form() {
    let (here, there) = (center(&[("settle", SAME)]).await, Arc::new(center(&[]).await.connect()));
    there.close().await;
    let registries = [Registry::new("default", Arc::new(here.connect())), Registry::new("archive", there)];
    let console = Console::new(with_users(), registries).expect("the options are right");
    let (status, problem) = get(&console, "viewer", "/api/v1/registries/default/comparison").await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{problem}");
    assert!(problem.contains("registry center 'archive': "), "{problem}");
    for (query, status) in [("?with=archive&q=a", 503), ("", 503), ("?with=none", 404)] {
        let (answered, page) = get(&console, "viewer", &format!("/r/default/comparison{query}")).await;
        assert_eq!(answered, status, "{page}");
        let named =
            if status == 503 { "registry center &#39;archive&#39;: " } else { "no registry center &#39;none&#39;" };
        for part in ["<h1>Compare registry centers</h1>", "<option value=\"archive\"", "role=\"alert\"", named] {
            assert!(page.contains(part), "{query} {part}: {page}");
        }
    }
}

#[tokio::test]
async fn a_comparison_and_an_export_say_since_when_they_are_not_current() {
    let memory = [center(&[("settle", SAME)]).await, center(&[("settle", SAME)]).await];
    let centers = [Arc::new(memory[0].connect()), Arc::new(memory[1].connect())];
    let registries = [Registry::new("default", centers[0].clone()), Registry::new("archive", centers[1].clone())];
    let console = Console::new(with_users(), registries).expect("the options are right");
    let told = api(&console, "viewer", "").await;
    assert_eq!([&told["lostSince"], &told["withLostSince"]], [&json!(null), &json!(null)], "{told}");
    for (number, name) in ["default", "archive"].into_iter().enumerate() {
        let SessionState::Connected { id, .. } = *centers[number].session().borrow() else { panic!("connected") };
        memory[number].suspend(id);
        let catalogue = console.app().registries[name].catalogue();
        let mut changes = catalogue.changes();
        while catalogue.lost_since().is_none() {
            changes.changed().await.expect("the registry center is there");
        }
    }
    let told = api(&console, "viewer", "").await;
    assert!(told["lostSince"].is_string() && told["withLostSince"].is_string(), "{told}");
    let (_, page) = get(&console, "viewer", "/r/default/comparison").await;
    for text in ["The registry center is lost since", "The registry center archive is lost since"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    let exported = get(&console, "viewer", "/r/default/configurations").await.1;
    assert!(exported.contains("\n# The registry center is lost since 20"), "{exported}");
}

#[tokio::test]
async fn a_list_without_jobs_leads_to_the_comparison_too() {
    let console = two().await;
    let (_, page) = get(&console, "viewer", "/r/default/jobs?q=nothing-like-that").await;
    assert!(
        page.contains("href=\"/r/default/comparison\"") && !page.contains("href=\"/r/default/configurations"),
        "{page}"
    );
}
